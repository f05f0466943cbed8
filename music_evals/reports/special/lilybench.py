"""LilyBench's generation: how pieces were judged, and Table 2 against any references, with the figure of JS and FMD.

Source: arXiv 2606.08722, Table 2 and sections 4.1 and 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from inspect_ai.log import EvalLog

from music_evals.benchmarks import published
from music_evals.reports.declared import table_of
from music_evals.reports.figures import Point, labelled_points
from music_evals.reports.parts import Column, Note, Printed, Spec
from music_evals.reports.runs import Run
from music_evals.reports.tables import Figure, Report

SCORER: Final = "written_music"
ENCODER: Final = "csc-unipd/lilybert"
POOLING: Final = "first_token"
SAMPLING: Final[Mapping[str, float]] = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 3000}
"""As the paper embeds and samples."""

PAPER: Final[Mapping[str, tuple[str, str]]] = {"bmdataset-test": ("test", "test"), "mutopia": ("Mut.", "Mutopia")}
"""The paper's references → their names in its Table 2 and in the transcription."""

_FIGURES: Final = (("JS", "similarity_figures", "js", 2), ("FMD", "frechet_figures", "fmd", 3))
_ON_FIGURES: Final = (
    "Comp.: pieces that LilyPond compiles to a MIDI file. JS: similarity of three descriptors of the MIDI to the "
    "reference, 100 where they are alike. FMD: Fréchet Music Distance of embeddings of the text, 0 where they are "
    "alike. The paper reads the three together."
)
_ON_THE_PAPER: Final = (
    "The paper's compile rates are no shares of the 200 prompts that it says a cell has: 71.1% of them would be 142.2.",
    "Section 5 has JS (test) rise from zero-shot to few-shot for Phi-4 and Codestral-22B, where the table has it fall, "
    "and DeepSeek-Coder-V2-Lite second in FMD (test) zero-shot, where it is first; section 4.1 calls Codestral-22B's "
    "FMD in the ablation the worst, where it is the best of the regime.",
)


def header(log: EvalLog) -> EvalLog:
    """Return a header of generation with its last scores alone, and what tells how pieces were written and judged.

    Each scoring adds to a log, under a name with a number, and may judge in another way than the task did.
    """
    about = log.eval.metadata or {}
    if about.get("config") != "generation" or log.results is None:
        return log
    log = log.model_copy(deep=True)
    assert log.results is not None
    log.results.scores = [score for score in log.results.scores if score.name.startswith(SCORER)][-1:]
    for score in log.results.scores:
        score.name = SCORER
        asked = log.eval.task_args
        encoder = score.params.get("encoder", asked.get("encoder"))
        encoder = about.get("encoder") if encoder == asked.get("encoder") else encoder
        pooling = score.params.get("pooling", about.get("pooling"))
        places = [(metric.group, metric.name) for metric in score.metrics.values()]
        ends = {group: f"/{name}" for _, group, name, _ in _FIGURES}
        references = dict.fromkeys(
            name.removesuffix(ends[group]) for group, name in places if group in ends and name.endswith(ends[group])
        )
        log.eval.metadata = {
            **about,
            "encoder": encoder,
            "other_encoder": None if encoder is None or encoder.partition("@")[0] == ENCODER else encoder,
            "pooling": pooling,
            "other_pooling": None if encoder is None or pooling == POOLING else pooling,
            "references": list(references),
            "others": [*_other_sampling(log), *_other_judgement(about, score.params)],
        }
    return log


def generation(runs: Sequence[Run]) -> Report:
    """Make Table 2, and a table like it for every other set of references, each with its figure."""
    others = dict.fromkeys(
        others for run in runs if (others := tuple(name for name in run.facts["references"] if name not in PAPER))
    )
    names = {"lilybench_table2": tuple(PAPER)}
    names |= {f"lilybench_generation_{number}": references for number, references in enumerate(others, start=1)}
    tables, figures = [], {}
    for name, references in names.items():
        asked = _judged(runs, references)
        tables.append(table_of(_table(name, references, asked), asked, runs[0].part))
        if svg := _figure(asked, references):
            figures[name] = svg
    return Report(tables, figures=figures)


def _table(name: str, references: Sequence[str], runs: Sequence[Run]) -> Spec:
    is_paper = tuple(references) == tuple(PAPER)
    notes = [_ON_FIGURES]
    if is_paper:
        notes = ["Paper: {source0}; test: BMdataset's test split, Mut.: Mutopia.", *notes, *_ON_THE_PAPER]
    else:
        notes.append("These references are not the paper's, and figures against them no match for its Table 2.")
    if not runs:
        notes.append("No run was judged against these references.")
    elif not is_paper and not any(_point(run, reference) for run, reference in product(runs, references)):
        notes.append("There is no figure of JS against FMD, because no run has both against one of these references.")
    if any(reference not in run.facts["references"] for run, reference in product(runs, references)):
        notes.append("A dash: not judged against this reference.")
    against = f"LilyBench generation against {' and '.join(references)}"
    return Spec(
        name=name,
        title="LilyBench Table 2: generation" if is_paper else against,
        labels={"Regime": "regime", "Model": "model", "Source": "source", "Condition": "condition"},
        group="Regime",
        published=[Printed(table="table2", labels={"Regime": "regime"})] if is_paper else [],
        columns=[
            Column(
                "Comp. (%)", metric="compile_figures/compile_rate", published="compile rate", decimals=1,
                undefined="the log gives no reason",
            ),
            *(
                Column(
                    f"{figure} ({PAPER[reference][0] if is_paper else reference})",
                    metric=f"{group}/{reference}/{metric}",
                    published=f"{figure} {PAPER[reference][1]}" if is_paper else "",
                    scale=1,
                    decimals=decimals,
                    undefined="the log gives no reason",
                    needs={"references": reference},
                )
                for (figure, group, metric, decimals), reference in product(_FIGURES, references)
            ),
        ],
        notes=[Note(text) for text in notes],
    )  # fmt: skip


def _figure(runs: Sequence[Run], references: Sequence[str]) -> str:
    """JS against FMD with compile rates, beside the published cells where the references are the paper's."""
    notes: list[str] = []
    panels: dict[str, list[Point]] = {reference: [] for reference in references}
    if tuple(references) == tuple(PAPER):
        rows = published("lilybench", "table2").rows
        models = dict.fromkeys(row.labels["model"] for row in rows)
        notes.append(f"Paper: {', '.join(f'{model[0]} {model}' for model in models)}")
        for reference, (_, column) in PAPER.items():
            panels[reference] = [
                Point(
                    row.labels["model"][0],
                    row.labels["regime"],
                    Figure(row.figures[f"FMD {column}"]),
                    Figure(row.figures[f"JS {column}"]),
                    row.figures["compile rate"],
                    measured=False,
                )
                for row in rows
            ]
    drawn = [run for run in runs if any(_point(run, reference) for reference in references)]
    for number, run in enumerate(drawn, start=1):
        notes.append(f"{number}: {run.model} ({run.source}; {run.condition})")
        for reference in references:
            if point := _point(run, reference, str(number)):
                panels[reference].append(point)
    notes += ["Bars: 95% intervals."] if drawn else []
    notes += ["†: not the paper's procedure."] if any("†" in note for note in notes) else []
    shown = {f"against {reference}": points for reference, points in panels.items() if points}
    if not shown:
        return ""
    labels = ("FMD, reversed: lower is better", "JS similarity: higher is better")
    return labelled_points("LilyBench generation: JS against FMD", shown, labels, "Compile rate (%)", notes)


def _point(run: Run, reference: str, label: str = "") -> Point | None:
    js, fmd = (run.figure(f"{group}/{reference}/{metric}") for _, group, metric, _ in _FIGURES)
    rate = run.value("compile_figures/compile_rate")
    if js is None or fmd is None or rate is None:
        return None
    return Point(label, run.words["regime"], fmd, js, 100 * rate, measured=True)


def _judged(runs: Sequence[Run], references: Sequence[str]) -> list[Run]:
    """The runs that have figures against a reference; those against none at all stand with the paper's."""
    return [
        run
        for run in runs
        if set(run.facts["references"]) & set(references)
        or (not run.facts["references"] and tuple(references) == tuple(PAPER))
    ]


def _other_sampling(log: EvalLog) -> Iterator[str]:
    asked = log.plan.config.model_dump(include=set(SAMPLING), exclude_none=True)
    return (f"{name}={asked[name]}" for name, printed in SAMPLING.items() if asked.get(name, printed) != printed)


def _other_judgement(about: Mapping[str, Any], judged: Mapping[str, Any]) -> Iterator[str]:
    """How pieces were judged, where they were scored again in another way than the task did."""
    if (protocol := judged.get("protocol", about["protocol"])) != about["protocol"]:
        yield f"judged by the {protocol} protocol"
    if (dataset := judged.get("dataset", about["dataset"]).partition("@")[0]) != about["dataset"].partition("@")[0]:
        yield f"references of {dataset}"
    if judged.get("attempt") is not None:
        yield f"attempt {judged['attempt']}"
