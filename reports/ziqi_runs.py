"""Runs of ZIQI-Eval, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan
from typing import Any, Final, NamedTuple

from inspect_ai.log import EvalLog

from music_evals.reports.tables import Figure

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


@dataclass(frozen=True, slots=True)
class Run:
    """What a log says.

    Args:
        condition: what was run.
        part: ``"comprehension"`` or ``"generation"``.
        created: when it was run.
        metrics: group and name → value.
        earlier: how many earlier runs of the same part and condition it replaces.
    """

    condition: Condition
    part: str
    created: datetime
    metrics: Mapping[tuple[str, str], float] = field(repr=False)
    earlier: int = 0

    def share(self, group: str, name: str) -> float | None:
        """Return a metric as logged, or None where it is absent or not a number."""
        value = self.metrics.get((group, name))
        return None if value is None or isnan(value) else value

    def percent(self, group: str, name: str) -> Figure | None:
        """Return a share in percent, with its interval where the log has one (``NAME_low``, ``NAME_high``)."""
        value, low, high = (self.share(group, name + end) for end in ("", "_low", "_high"))
        if value is None:
            return None
        if low is None or high is None:
            return Figure(100 * value)
        return Figure(100 * value, 100 * low, 100 * high)


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
    if log.status != "success":
        return f"its status is {log.status}, not success"
    if log.invalidated:
        return "it was invalidated"
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
    runs: dict[tuple[Condition, str], Run] = {}
    for run in sorted((_run(log) for log in logs if not why_not(log)), key=lambda run: run.created):
        key = (run.condition, run.part)
        earlier = runs[key].earlier + 1 if key in runs else 0
        runs[key] = Run(run.condition, run.part, run.created, run.metrics, earlier)
    return [runs[key] for key in sorted(runs, key=str)]


def conditions(runs: Iterable[Run]) -> dict[Condition, dict[str, Run]]:
    """Put the parts of each condition together: condition → part → run."""
    found: dict[Condition, dict[str, Run]] = {}
    for run in runs:
        found.setdefault(run.condition, {})[run.part] = run
    return found


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
    notes += [
        f"{run.condition.model}, {run.condition} ({run.part}): the latest of {run.earlier + 1} runs counts, that of "
        f"{run.created:%Y-%m-%d %H:%M}."
        for run in runs
        if run.earlier
    ]
    return notes


def _run(log: EvalLog) -> Run:
    about, asked = log.eval.metadata or {}, log.eval.task_args
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
        complete=_complete(log),
        other=tuple(_other(log.eval.task_args_passed)),
    )
    scores = log.results.scores if log.results else []
    metrics = {
        (metric.group or "", metric.name): float(metric.value)
        for score in scores
        if score.name == SCORER
        for metric in score.metrics.values()
    }
    return Run(condition, about["config"], datetime.fromisoformat(log.eval.created), metrics)


def _complete(log: EvalLog) -> bool:
    """Whether every question of the dataset was asked and scored; an epoch asks each once more."""
    results, config = log.results, log.eval.config
    if results is None or config.limit is not None or config.sample_id is not None:
        return False
    wanted = (log.eval.dataset.samples or 0) * (config.epochs or 1)
    unscored = sum(score.unscored_samples or 0 for score in results.scores if score.name == SCORER)
    return results.completed_samples == results.total_samples == wanted and not unscored


def _other(passed: Mapping[str, Any]) -> Iterable[str]:
    return (
        f"{name}={value}"
        for name, value in sorted(passed.items())
        if name not in (*_CONDITION, _DATA) and value is not None and value is not False
    )
