"""Runs of LilyBench's understanding, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from inspect_ai.log import EvalLog

from music_evals.reports.runs import (
    Logged,
    by_condition,
    is_complete,
    latest,
    metrics_of,
    not_ended,
    notes_on_earlier,
    other_arguments,
)
from music_evals.reports.tables import Figure

HEADLINE: Final[Mapping[str, tuple[str, str]]] = {
    "bar_count": ("number_figures", "exact"),
    "bar_sequencing": ("order_figures", "tau"),
    "error_detection": ("error_figures", "macro_f1"),
}
"""Task → the group and name of the figure that Table 3 has of it, where that is not the accuracy of an index."""

INDEX: Final = ("index_figures", "accuracy")
SCORERS: Final = ("option_index", "measure_count", "measure_order", "wrong_measures")

_CONDITION: Final = ("protocol", "strategy", "max_score_tokens")
_DATA: Final = "dataset"  # the argument; where the same data lies does not matter, its label does


class Condition(NamedTuple):
    """What tasks that can stand in one column have in common.

    `complete` says that no row was left out or failed; `generated` that the data was made by this project's generator;
    `other` holds whatever else was asked for, as name=value.
    """

    model: str
    protocol: str
    strategy: str
    dataset: str
    generated: bool
    max_score_tokens: int | None
    complete: bool
    other: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, without the model; what is as by default is left out."""
        words = [f"{self.protocol} protocol", self.strategy, f"data {self.dataset}"]
        words += [f"scores up to {self.max_score_tokens} tokens"] if self.max_score_tokens is not None else []
        words += [] if self.complete else ["not all rows"]
        return ", ".join([*words, *self.other])

    @property
    def is_papers_procedure(self) -> bool:
        """Whether rows were made, asked and read as the paper has it, all of them."""
        return self.protocol == "paper" and self.strategy == "standalone" and self.complete and not self.generated

    @property
    def heading(self) -> str:
        """How a table names its column."""
        return f"{self.model}{'' if self.is_papers_procedure else ' †'} ({self})"

    @property
    def source(self) -> str:
        """How tables mark its row."""
        return "measured" if self.is_papers_procedure else "measured †"


class Run(Logged[Condition]):
    """A run of one of the understanding tasks."""

    __slots__ = ()

    @property
    def headline(self) -> Figure | None:
        """The figure that Table 3 has of the task."""
        return self.figure(*HEADLINE.get(self.task, INDEX))

    @property
    def group(self) -> str:
        """The group of the figures that every run of the task has."""
        return HEADLINE.get(self.task, INDEX)[0]

    @property
    def questions(self) -> int:
        """How many rows were asked."""
        return round(self.value(self.group, "questions") or 0)


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
        >>> why_not(EvalLog(eval=spec, status="error"))
        "it is not of LilyBench's understanding"
    """
    about = log.eval.metadata or {}
    if about.get("benchmark") != "lilybench" or "protocol" not in about:
        return "it is not of LilyBench's understanding"
    if reason := not_ended(log):
        return reason
    if log.results is None or all(score.name not in SCORERS for score in log.results.scores):
        return f"it has no figures of any of the scorers {', '.join(SCORERS)}"
    return ""


def read_runs(logs: Iterable[EvalLog]) -> list[Run]:
    """Take the runs from the headers of logs.

    Args:
        logs: logs of any tasks; those that `why_not` names a reason for are passed over.

    Returns:
        A run for every task and condition, by model; of several the latest, with the number of the earlier ones.

    Example:
        >>> read_runs([])
        []
    """
    return latest(_run(log) for log in logs if not why_not(log))


def conditions(runs: Iterable[Run]) -> dict[Condition, dict[str, Run]]:
    """Put the tasks of each condition together: condition → task → run."""
    return by_condition(runs, lambda run: run.task)


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
            "another strategy or not all rows, as the condition says."
        )
    if any(run.condition.is_papers_procedure for run in runs):
        notes.append("The rows of the paper protocol are made as the paper says; they are another draw than its own.")
    return [*notes, *notes_on_earlier(runs)]


def _run(log: EvalLog) -> Run:
    about, asked = log.eval.metadata or {}, log.eval.task_args
    scores = [score for score in (log.results.scores if log.results else []) if score.name in SCORERS]
    condition = Condition(
        model=log.eval.model,
        protocol=about["protocol"],
        strategy=about["strategy"],
        dataset=about["dataset_label"],
        generated=not about["is_lilybench"],
        max_score_tokens=asked.get("max_score_tokens"),
        complete=is_complete(log, scores) and not about["rows_left_out"],
        other=other_arguments(log.eval.task_args_passed, (*_CONDITION, _DATA)),
    )
    return Run(condition, about["config"], datetime.fromisoformat(log.eval.created), metrics_of(scores))
