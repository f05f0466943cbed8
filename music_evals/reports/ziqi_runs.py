"""Runs of ZIQI-Eval, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Sequence
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

SCORER: Final = "lettered_choice"
PUBLISHED: Final = "published"
"""Label of the data that the paper's numbers are about."""

_CONDITION: Final = ("shots", "protocol", "language", "rotations", "deduplicate", "subset", "themes")
_DATA: Final = "dataset"  # the argument; where the same data lies does not matter, its label does


class Condition(NamedTuple):
    """What two runs have in common that can be compared, or that are the two parts of one row.

    `themes` is empty where all are asked; `complete` says that no question of the test was left out or failed;
    `other` holds whatever else was asked for, as name=value.
    """

    model: str
    shots: str
    protocol: str
    dataset: str
    language: str
    rotations: int
    deduplicate: bool
    subset: str | None
    themes: tuple[str, ...]
    complete: bool
    other: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, without the model; what is as by default is left out."""
        words = [f"{self.shots}-shot", f"{self.protocol} protocol", f"data {self.dataset}"]
        words += [f"language {self.language}"] if self.language != "zh" else []
        words += [f"{self.rotations} rotations"] if self.rotations != 1 else []
        words += ["without duplicates"] if self.deduplicate else []
        words += [f"{self.subset} subset"] if self.subset else []
        words += [f"only {', '.join(self.themes)}"] if self.themes else []
        words += [] if self.complete else ["not all questions"]
        return ", ".join([*words, *self.other])

    @property
    def is_papers_test(self) -> bool:
        """Whether these are the questions of the paper's test, all of them."""
        return self.dataset == PUBLISHED and self.complete and not (self.subset or self.themes or self.deduplicate)

    @property
    def source(self) -> str:
        """How tables mark the row."""
        return "measured" if self.is_papers_test else "measured †"


class Run(Logged[Condition]):
    """A run of one part, ``"comprehension"`` or ``"generation"``, which is its `task`."""

    __slots__ = ()


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
        'it is not of ZIQI-Eval'
    """
    if (log.eval.metadata or {}).get("benchmark") != "ziqi":
        return "it is not of ZIQI-Eval"
    if reason := not_ended(log):
        return reason
    if log.results is None or all(score.name != SCORER for score in log.results.scores):
        return f"it has no figures of the scorer {SCORER}"
    return ""


def read_runs(logs: Iterable[EvalLog]) -> list[Run]:
    """Take the runs of ZIQI-Eval from the headers of logs.

    Args:
        logs: logs of any tasks; those that `why_not` names a reason for are passed over.

    Returns:
        A run for every part and condition, by model; of several the latest, with the number of the earlier ones.

    Example:
        >>> read_runs([])
        []
    """
    return latest(_run(log) for log in logs if not why_not(log))


def conditions(runs: Iterable[Run]) -> dict[Condition, dict[str, Run]]:
    """Put the parts of each condition together: condition → part → run."""
    return by_condition(runs, lambda run: run.task)


def notes_on(runs: Sequence[Run]) -> list[str]:
    """Say what the measured rows of a table need to have said of them.

    Args:
        runs: the runs that it shows.

    Returns:
        The notes.

    Example:
        >>> notes_on([])
        []
    """
    notes = ["Measured figures are followed by their 95% interval, where there is one."] if runs else []
    if any(not run.condition.is_papers_test for run in runs):
        notes.append(
            "† Not the paper's test, and not to be compared with its figures: other data, a subset, duplicates left "
            "out or not all questions, as the condition says."
        )
    return [*notes, *notes_on_earlier(runs)]


def _run(log: EvalLog) -> Run:
    about, asked = log.eval.metadata or {}, log.eval.task_args
    scores = [score for score in (log.results.scores if log.results else []) if score.name == SCORER]
    passed = {name: value for name, value in log.eval.task_args_passed.items() if value is not False}
    themes = asked.get("themes") or ()
    condition = Condition(
        model=log.eval.model,
        shots=asked.get("shots", "zero"),
        protocol=asked.get("protocol", "paper"),
        dataset=about["dataset_label"],
        language=asked.get("language") or "zh",
        rotations=asked.get("rotations") or 1,
        deduplicate=bool(asked.get("deduplicate")),
        subset=asked.get("subset"),
        themes=tuple(sorted(themes.split(",") if isinstance(themes, str) else themes)),
        complete=is_complete(log, scores),
        other=other_arguments(passed, (*_CONDITION, _DATA)),
    )
    return Run(condition, about["config"], datetime.fromisoformat(log.eval.created), metrics_of(scores))
