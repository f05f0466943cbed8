"""Runs of LilyBench's generation, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import nan
from typing import Any, Final, NamedTuple

from inspect_ai.log import EvalLog, EvalScore

from music_evals.reports.runs import (
    Logged,
    is_complete,
    latest,
    metrics_of,
    not_ended,
    notes_on_earlier,
    other_arguments,
)
from music_evals.reports.tables import Figure, Footnotes

SCORER: Final = "written_music"
REGIMES: Final[Mapping[str, str]] = {"zero": "Zero-shot", "few": "Few-shot", "ablation": "Ablation"}
"""Parameter → as the paper's Table 2 calls it."""

ENCODER: Final = "csc-unipd/lilybert"
POOLING: Final = "first_token"
SAMPLING: Final[Mapping[str, float]] = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 3000}
"""As the paper embeds and samples."""

HEADLINE: Final[Mapping[str, str]] = {"similarity_figures": "js", "frechet_figures": "fmd"}
"""Group of figures against a reference → the one that gives the reason for all that are undefined."""

_KNOWN: Final = ("regime", "protocol", "attempts", "encoder", "pooling", "dataset", "reference", "pictures")


class Condition(NamedTuple):
    """What was asked of which model, and how what it wrote was judged.

    `references` are the names of the reference sets; `generated` says that the data was made by this project's
    generator, `complete` that no prompt was left out or failed; `other` holds other sampling than the paper's and
    whatever else was asked for, as name=value.
    """

    regime: str
    model: str
    protocol: str
    attempts: int
    encoder: str | None
    pooling: str
    references: tuple[str, ...]
    dataset: str
    generated: bool
    complete: bool
    other: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, without regime, model and references; what is as the paper has it is left out."""
        words = [f"{self.protocol} protocol", f"data {self.dataset}"]
        words += [f"{self.attempts} attempts"] if self.attempts != 1 else []
        words += [f"encoder {self.encoder}"] if self.encoder and not self._has_papers_encoder else []
        words += [f"pooling {self.pooling}"] if self.encoder and self.pooling != POOLING else []
        words += [] if self.complete else ["not all prompts"]
        return ", ".join([*words, *self.other])

    @property
    def is_papers_procedure(self) -> bool:
        """Whether pieces were asked for and judged as the paper has it, all of them."""
        as_published = self._replace(protocol="paper", attempts=1, generated=False, complete=True, other=())
        embedded_so = self._has_papers_encoder and self.pooling == POOLING
        return self == as_published and (self.encoder is None or embedded_so)

    @property
    def source(self) -> str:
        """How tables mark its row."""
        return "measured" if self.is_papers_procedure else "measured †"

    @property
    def _has_papers_encoder(self) -> bool:
        return (self.encoder or "").partition("@")[0] == ENCODER  # after it stand its revision and layer


class Run(Logged[Condition]):
    """What a log says of a cell of the paper's Table 2."""

    __slots__ = ()

    def shown(self, group: str, name: str, footnotes: Footnotes, decimals: int = 2, scale: float = 1.0) -> Figure:
        """Return a metric as a table shows it.

        Args:
            group: its group.
            name: its name.
            footnotes: of the table; what the log notes on the metric, or the reason for which it is undefined, is
                added to them.
            decimals: how many are shown.
            scale: what it is multiplied by, 100 for percent.

        Returns:
            The figure with its interval where there is one, and the marks of its footnotes.
        """
        figure = self.figure(group, name, decimals)
        if figure is None:
            return Figure(nan, mark=footnotes.mark(self._why_undefined(group, name)))
        low, high = (None if end is None else scale * end for end in (figure.low, figure.high))
        marks = "".join(footnotes.mark(note) for note in self._said(group, f"{name} note: "))
        return Figure(scale * figure.value, low, high, decimals, marks)

    @property
    def copied_from(self) -> list[str]:
        """Names of the sets of pieces that near-copies were looked for in."""
        end = "/near_copies"
        return [name.removesuffix(end) for _, name in self.metrics if name.endswith(end)]

    def _why_undefined(self, group: str, name: str) -> str:
        headline = f"{name.rpartition('/')[0]}/{HEADLINE.get(group, '')}"
        for of in (name, headline):
            if reasons := list(self._said(group, f"{of} undefined: ")):
                return "; ".join(reasons)
        if group == "frechet_figures" and self.condition.encoder is None:
            return "no encoder was given, and FMD needs its embeddings"
        return "the log gives no reason"

    def _said(self, group: str, start: str) -> Iterator[str]:
        return (name.removeprefix(start) for of, name in self.metrics if of == group and name.startswith(start))


def why_not(log: EvalLog) -> str:
    """Say why a log cannot be used.

    Args:
        log: header of a log.

    Returns:
        The reason, or nothing where it can be used.

    Example:
        >>> from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
        >>> spec = EvalSpec(
        ...     created="2026-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
        ... )
        >>> why_not(EvalLog(eval=spec, status="success"))
        "it is not of LilyBench's generation"
    """
    about = log.eval.metadata or {}
    if (about.get("benchmark"), about.get("config")) != ("lilybench", "generation"):
        return "it is not of LilyBench's generation"
    if reason := not_ended(log):
        return reason
    return "" if _last_scores(log) else f"it has no figures of the scorer {SCORER}"


def read_runs(logs: Iterable[EvalLog]) -> list[Run]:
    """Take the runs from the headers of logs.

    Args:
        logs: logs of any tasks; those that `why_not` names a reason for are passed over.

    Returns:
        A run for every condition, by regime in the paper's order; of several the latest, with the number of the
        earlier ones. Of a log that was scored again the last scores count.

    Example:
        >>> read_runs([])
        []
    """
    runs = latest(_run(log) for log in logs if not why_not(log))
    return sorted(runs, key=lambda run: list(REGIMES).index(run.condition.regime))


def notes_on(runs: Sequence[Run]) -> list[str]:
    """Say what the measured figures of a table need to have said of them.

    Args:
        runs: the runs that it shows.

    Returns:
        The notes.

    Example:
        >>> notes_on([])
        []
    """
    notes = ["Measured figures are followed by their 95% interval, where there is one."] if runs else []
    if any(not run.condition.is_papers_procedure for run in runs):
        notes.append(
            "† Not the paper's procedure, and not to be compared with its figures: other data, the strict protocol, "
            "repairs, another encoder or pooling, other sampling or not all prompts, as the condition says."
        )
    if any(run.condition.is_papers_procedure for run in runs):
        notes.append(
            "The paper protocol draws prompts as the paper says; their wording, and the demonstrations of the "
            "ablation, are this project's own."
        )
    return [*notes, *notes_on_earlier(runs)]


def _run(log: EvalLog) -> Run:
    about, asked, scores = log.eval.metadata or {}, log.eval.task_args, _last_scores(log)
    metrics, judged = metrics_of(scores), scores[0].params
    encoder = judged.get("encoder", asked.get("encoder"))
    condition = Condition(
        regime=about["regime"],
        model=log.eval.model,
        protocol=about["protocol"],
        attempts=about["attempts"],
        encoder=about["encoder"] if encoder == asked.get("encoder") else encoder,
        pooling=judged.get("pooling", about["pooling"]),
        references=_references(metrics),
        dataset=about["dataset_label"],
        generated=not about["is_lilybench"],
        complete=is_complete(log, scores),
        other=(
            *_other_sampling(log),
            *_other_judgement(log, judged),
            *other_arguments(log.eval.task_args_passed, _KNOWN),
        ),
    )
    return Run(condition, f"generation, {REGIMES[condition.regime]}", datetime.fromisoformat(log.eval.created), metrics)


def _other_sampling(log: EvalLog) -> Iterator[str]:
    asked = log.plan.config.model_dump(include=set(SAMPLING), exclude_none=True)
    return (f"{name}={asked[name]}" for name, published in SAMPLING.items() if asked.get(name, published) != published)


def _other_judgement(log: EvalLog, judged: Mapping[str, Any]) -> Iterator[str]:
    """How pieces were judged, where they were scored again in another way than the task did."""
    about = log.eval.metadata or {}
    if (protocol := judged.get("protocol", about["protocol"])) != about["protocol"]:
        yield f"judged by the {protocol} protocol"
    if (dataset := judged.get("dataset", about["dataset"]).partition("@")[0]) != about["dataset"].partition("@")[0]:
        yield f"references of {dataset}"
    if judged.get("attempt") is not None:
        yield f"attempt {judged['attempt']}"


def _last_scores(log: EvalLog) -> list[EvalScore]:
    """The scores that count, as a list of one, or none; each scoring adds to the log, under a name with a number."""
    scores = log.results.scores if log.results else []
    return [score for score in scores if score.name.startswith(SCORER)][-1:]


def _references(metrics: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    ends = {group: f"/{name}" for group, name in HEADLINE.items()}
    found = [name.removesuffix(ends[group]) for group, name in metrics if group in ends and name.endswith(ends[group])]
    return tuple(dict.fromkeys(found))
