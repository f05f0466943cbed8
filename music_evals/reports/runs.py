"""Runs, taken from the headers of Inspect logs: what those of all benchmarks have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isnan
from typing import Any, Generic, TypeVar

from inspect_ai.log import EvalLog, EvalScore

from music_evals.reports.tables import Figure

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Logged(Generic[C]):
    """What a log says.

    Args:
        condition: what was run.
        task: name of the task.
        created: when it was run.
        metrics: group and name → value.
        earlier: how many earlier runs of the same task and condition it replaces.
    """

    condition: C
    task: str
    created: datetime
    metrics: Mapping[tuple[str, str], float] = field(repr=False)
    earlier: int = 0

    def value(self, group: str, name: str) -> float | None:
        """Return a metric as logged, or None where it is absent or not a number."""
        value = self.metrics.get((group, name))
        return None if value is None or isnan(value) else value

    def figure(self, group: str, name: str, decimals: int = 3) -> Figure | None:
        """Return a metric, with its interval where the log has one (``NAME_low``, ``NAME_high``)."""
        value = self.value(group, name)
        if value is None:
            return None
        return Figure(value, self.value(group, f"{name}_low"), self.value(group, f"{name}_high"), decimals)

    def percent(self, group: str, name: str, ends: str | None = None) -> Figure | None:
        """Return a share in percent, with the interval that stands under its name, or another; None where unknown."""
        value = self.value(group, name)
        if value is None:
            return None
        low, high = (self.value(group, f"{ends or name}_{end}") for end in ("low", "high"))
        if low is None or high is None:
            return Figure(100 * value)
        return Figure(100 * value, 100 * low, 100 * high)


R = TypeVar("R", bound=Logged[Any])


def latest(runs: Iterable[R]) -> list[R]:
    """Keep the latest run of every task and condition.

    Args:
        runs: the runs.

    Returns:
        A run for every task and condition, by condition, with the number of the earlier ones.

    Example:
        >>> first, second = (Logged("zero", "t", datetime(2026, 1, day), {}) for day in (1, 2))
        >>> [(run.created.day, run.earlier) for run in latest([second, first])]
        [(2, 1)]
    """
    kept: dict[tuple[Any, str], R] = {}
    for run in sorted(runs, key=lambda run: run.created):
        key = (run.condition, run.task)
        kept[key] = replace(run, earlier=kept[key].earlier + 1) if key in kept else run
    return [kept[key] for key in sorted(kept, key=str)]


K = TypeVar("K")


def by_condition(runs: Iterable[R], key: Callable[[R], K]) -> dict[Any, dict[K, R]]:
    """Put the runs of each condition together.

    Args:
        runs: the runs.
        key: what tells those of one condition apart, such as their task.

    Returns:
        Condition → key → run, in the order of the runs.
    """
    found: dict[Any, dict[K, R]] = {}
    for run in runs:
        found.setdefault(run.condition, {})[key(run)] = run
    return found


def notes_on_earlier(runs: Sequence[Logged[Any]]) -> list[str]:
    """Say which runs stand for others before them."""
    return [
        f"{run.condition.model}, {run.condition} ({run.task}): the latest of {run.earlier + 1} runs counts, that of "
        f"{run.created:%Y-%m-%d %H:%M}."
        for run in runs
        if run.earlier
    ]


def not_ended(log: EvalLog) -> str:
    """Say why the figures of a log do not count, whatever it is of; nothing where they do."""
    if log.status != "success":
        return f"its status is {log.status}, not success"
    return "it was invalidated" if log.invalidated else ""


def metrics_of(scores: Iterable[EvalScore]) -> dict[tuple[str, str], float]:
    """Take the figures of scorers: group and name → value."""
    return {
        (metric.group or "", metric.name): float(metric.value) for score in scores for metric in score.metrics.values()
    }


def is_complete(log: EvalLog, scores: Iterable[EvalScore]) -> bool:
    """Whether every row that the task took was asked, and scored by these; an epoch asks each once more."""
    results, config = log.results, log.eval.config
    if results is None or config.limit is not None or config.sample_id is not None:
        return False
    wanted = (log.eval.dataset.samples or 0) * (config.epochs or 1)
    unscored = sum(score.unscored_samples or 0 for score in scores)
    return results.completed_samples == results.total_samples == wanted and not unscored


def other_arguments(passed: Mapping[str, Any], known: Iterable[str]) -> tuple[str, ...]:
    """Write what else a task was asked for, as name=value; `known` are the arguments that are told otherwise."""
    return tuple(f"{name}={value}" for name, value in sorted(passed.items()) if name not in known and value is not None)
