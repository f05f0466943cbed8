"""LilyBench's generation: how pieces were written and judged, and Table 2 against other references than the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from inspect_ai.log import EvalLog

from music_evals.reports.declared import table_of
from music_evals.reports.drawn import drawn
from music_evals.reports.parts import Spec
from music_evals.reports.runs import Run
from music_evals.reports.tables import Report

SCORER: Final = "written_music"
ENCODER: Final = "csc-unipd/lilybert"
POOLING: Final = "first_token"
SAMPLING: Final[Mapping[str, float]] = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 3000}
"""As the paper embeds and samples."""
PROMPTS: Final = (200, 1000)
"""How many prompts the paper says a cell has, and how many it was run with."""

PAPER: Final = ("bmdataset-test", "mutopia")
"""The paper's references."""

_AGAINST: Final = {"similarity_figures": "/js", "frechet_figures": "/fmd"}
"""Group of figures against a reference → how those names end that begin with the reference's."""


def header(log: EvalLog) -> EvalLog:
    """Return a header of generation with its last scores alone, and what tells how pieces were written and judged."""
    about = log.eval.metadata or {}
    if about.get("config") != "generation" or log.results is None:
        return log
    log = log.model_copy(deep=True)
    assert log.results is not None
    # Each scoring adds to a log, under a name with a number, and may judge in another way than the task did.
    log.results.scores = [score for score in log.results.scores if score.name.startswith(SCORER)][-1:]
    for score in log.results.scores:
        score.name = SCORER
        asked = log.eval.task_args
        encoder = score.params.get("encoder", asked.get("encoder"))
        encoder = about.get("encoder") if encoder == asked.get("encoder") else encoder
        pooling = score.params.get("pooling", about.get("pooling"))
        places = [(metric.group or "", metric.name) for metric in score.metrics.values()]
        pieces = next((one.value for one in score.metrics.values() if one.name == "pieces"), None)
        against = [(name, end) for group, name in places if (end := _AGAINST.get(group)) and name.endswith(end)]
        references = list(dict.fromkeys(name.removesuffix(end) for name, end in against))
        log.eval.metadata = {
            **about,
            "encoder": encoder,
            "other_encoder": None if encoder is None or encoder.partition("@")[0] == ENCODER else encoder,
            "pooling": pooling,
            "other_pooling": None if encoder is None or pooling == POOLING else pooling,
            "references": references,
            "pieces": None if pieces is None else int(pieces),
            # What was judged against none at all stands with the paper's.
            "on_papers_references": not references or not {*PAPER}.isdisjoint(references),
            "others": [*_other_run(log), *_other_judgement(about, score.params)],
        }
    return log


def other_references(spec: Spec, runs: Sequence[Run]) -> Report:
    """Make a table like Table 2, with its figure, for each set of references that are not the paper's."""
    sets = dict.fromkeys(found for run in runs if (found := tuple(_others(run))))
    tables, figures = [], {}
    for number, references in enumerate(sets, start=1):
        own = replace(
            spec,
            name=spec.name.replace("{number}", str(number)),
            title=spec.title.replace("{references}", " and ".join(references)),
            columns=[replace(one, each=references) if "*" in one.heading else one for one in spec.columns],
        )
        shown = [run for run in runs if set(_others(run)) & set(references)]
        table = table_of(runs[0].part, own, shown)
        tables.append(table)
        assert spec.figure is not None
        if svg := drawn(own, replace(spec.figure, columns=references), table, shown):
            figures[own.name] = svg
    return Report(tables, figures=figures)


def _others(run: Run) -> list[str]:
    return [name for name in run.facts["references"] if name not in PAPER]


def _other_run(log: EvalLog) -> Iterator[str]:
    asked = log.plan.config.model_dump(include=set(SAMPLING), exclude_none=True)
    yield from (f"{name}={asked[name]}" for name, printed in SAMPLING.items() if asked.get(name, printed) != printed)
    if log.eval.dataset.samples not in PROMPTS:
        yield f"{log.eval.dataset.samples} prompts"


def _other_judgement(about: Mapping[str, Any], judged: Mapping[str, Any]) -> Iterator[str]:
    """How pieces were judged, where they were scored again in another way than the task did."""
    if (protocol := judged.get("protocol", about["protocol"])) != about["protocol"]:
        yield f"judged by the {protocol} protocol"
    if (dataset := judged.get("dataset", about["dataset"]).partition("@")[0]) != about["dataset"].partition("@")[0]:
        yield f"references of {dataset}"
    if judged.get("attempt") is not None:
        yield f"attempt {judged['attempt']}"
