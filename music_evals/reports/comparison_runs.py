"""Runs that can be compared: what was asked, how, of which model, and what came of each sample."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isnan
from typing import Final

import numpy as np
from inspect_ai.log import EvalLog

from music_evals.reports.samples import Samples, read_samples
from music_evals.reports.tables import Figure
from music_evals.scorers.metrics.paired import Comparison

BENCHMARKS: Final[Mapping[str, str]] = {
    "muse": "MUSE",
    "ziqi": "ZIQI-Eval",
    "msu": "MSU-Bench",
    "lilybench": "LilyBench",
}
"""How the benchmarks are called."""

ORDERS: Final[Mapping[str, Sequence[str]]] = {
    "modality": ("audio", "midi", "visual", "textual"),
    "shots": ("zero", "few", "five"),
    "strategy": ("standalone", "cot", "logiclm"),
    "protocol": ("paper", "strict"),
    "asking": ("single", "batch"),
}
"""The values of a factor from the plain to the other, where that is not the order of the alphabet."""

# The data has a label of its own, and the others change nothing that a model is asked or is judged by.
_NO_FACTORS: Final = ("dataset", "cache", "human_labels")
# MSU-Bench asks the same questions on the score as text and as pages, in two tasks.
_MSU_TASK: Final = "questions"
# Of the settings of a run, those that change what a model answers.
_SETTINGS: Final = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a log says, with its samples.

    Args:
        benchmark: such as ``"muse"``.
        task: of the benchmark; samples of a task and the same data are the same ones.
        data: label and revision of the dataset.
        model: its name.
        factors: how it was asked: name → value.
        location: of the log.
        created: when it was run.
        seconds: wall time of the whole run; None where the log does not tell.
        earlier: how many runs of the same it stands for, other than itself.
        samples: what came of each.
    """

    benchmark: str
    task: str
    data: str
    model: str
    factors: Mapping[str, str]
    location: str
    created: datetime
    seconds: float | None
    samples: Samples = field(repr=False)
    earlier: int = 0

    @property
    def questions(self) -> tuple[str, str, str]:
        """What runs on the same samples have in common."""
        return self.benchmark, self.task, self.data

    @property
    def condition(self) -> tuple[tuple[str, str], ...]:
        """Its factors in a form that can be compared and sorted."""
        return tuple(sorted(self.factors.items()))


def why_not(log: EvalLog) -> str:
    """Say why the samples of a log cannot be compared, as its header has it; nothing where they can.

    Example:
        >>> from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
        >>> spec = EvalSpec(
        ...     created="2026-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
        ... )
        >>> why_not(EvalLog(eval=spec, status="success"))
        "it is not of this project's benchmarks"
    """
    if not {"benchmark", "config", "dataset_label"} <= (log.eval.metadata or {}).keys():
        return "it is not of this project's benchmarks"
    if log.status != "success":
        return f"its status is {log.status}, not success"
    if log.invalidated:
        return "it was invalidated"
    return "" if log.results and log.results.scores else "it has no figures of any scorer"


def read_runs(logs: Sequence[EvalLog], progress: Callable[[int, int], None]) -> tuple[list[Run], list[tuple[str, str]]]:
    """Read the samples of logs, one log after the other.

    Args:
        logs: headers of logs.
        progress: called with the number of responses read, and that of all.

    Returns:
        The runs, sorted: of several of the same model, task, data and factors, the one with the most scored samples,
        the latest among equals. And location and reason of each log that was passed over.
    """
    usable = [log for log in logs if not why_not(log)]
    passed_over = [(log.location, reason) for log in logs if (reason := why_not(log))]
    total = sum(log.results.total_samples for log in usable if log.results)
    counter = Counter[str]()

    def advance(number: int) -> None:
        counter["read"] += number
        progress(min(counter["read"], total), total)

    found: dict[object, list[Run]] = {}
    for log in usable:
        try:
            run = _run(log, advance)
        except Exception as error:  # whatever a reader of zip and JSON meets in a file that is damaged
            passed_over.append((log.location, f"its samples cannot be read: {error}"))
            continue
        found.setdefault((run.questions, run.model, run.condition), []).append(run)
    progress(total, total)
    runs = [_kept(some) for some in found.values()]
    return sorted(runs, key=lambda run: (run.questions, run.model, _in_order(run.factors))), passed_over


def ordered(factor: str, values: Iterable[str]) -> list[str]:
    """Sort the values of a factor: as `ORDERS` has them, others by the alphabet after those.

    Example:
        >>> ordered("shots", ["five", "zero"]), ordered("language", ["zh", "en"])
        (['zero', 'five'], ['en', 'zh'])
    """
    order = list(ORDERS.get(factor, ()))
    return sorted(values, key=lambda value: (order.index(value) if value in order else len(order), value))


def varying(runs: Iterable[Run]) -> list[str]:
    """Names of the factors that are not the same in all of some runs that have them."""
    values: dict[str, set[str]] = {}
    for run in runs:
        for name, value in run.factors.items():
            values.setdefault(name, set()).add(value)
    return [name for name, found in values.items() if len(found) > 1]


def worded(run: Run, names: Iterable[str]) -> str | None:
    """Say some factors of a run, as ``shots zero, strategy cot``; None where there is nothing to say."""
    return ", ".join(f"{name} {run.factors[name]}" for name in names if name in run.factors) or None


def mean_score(run: Run) -> Figure | None:
    """The mean score over the samples that have one, in percent, with no interval; None where none has."""
    scores = run.samples.scores[~np.isnan(run.samples.scores)]
    return Figure(100 * float(scores.mean()), decimals=1) if len(scores) else None


def shown_difference(found: Comparison) -> Figure:
    """A difference in percentage points, with its interval where it has one.

    Example:
        >>> str(shown_difference(Comparison(0.35, 0.1, 0.55, 0.0156, 20, "McNemar")))
        '35.0 (10.0–55.0)'
    """
    low, high = (None, None) if isnan(found.low) else (100 * found.low, 100 * found.high)
    return Figure(100 * found.difference, low, high, decimals=1)


def notes_on(runs: Iterable[Run]) -> list[str]:
    """Say which runs stand for others."""
    return [
        f"{run.model}, {run.benchmark} {run.task}{f' ({words})' if (words := worded(run, run.factors)) else ''}: of "
        f"{run.earlier + 1} runs the one of {run.created:%Y-%m-%d %H:%M} counts."
        for run in runs
        if run.earlier
    ]


def _run(log: EvalLog, advance: Callable[[int], None]) -> Run:
    about = log.eval.metadata or {}
    factors = {name: str(value) for name, value in log.eval.task_args.items() if name not in _NO_FACTORS}
    settings = log.eval.model_generate_config.model_dump(exclude_none=True)
    factors |= {name: str(settings.get(name, "default")) for name in _SETTINGS}
    task = about["config"]
    if about["benchmark"] == "msu":
        task, factors = _MSU_TASK, {"modality": task, **factors}
    revision = about.get("dataset_revision") or about.get("dataset_source_revision")
    # The first scorer of a task gives the score that its benchmark reports.
    scorer = log.results.scores[0].name if log.results else ""
    samples = read_samples(log, scorer, advance)
    if ((samples.scores < 0) | (samples.scores > 1)).any():
        raise ValueError(f"scores of {scorer} are not from 0 to 1")
    return Run(
        benchmark=about["benchmark"],
        task=task,
        data=about["dataset_label"] + (f" at {revision}" if revision else ""),
        model=log.eval.model,
        factors=factors,
        location=log.location,
        created=datetime.fromisoformat(log.eval.created),
        seconds=_wall_time(log),
        samples=samples,
    )


def _wall_time(log: EvalLog) -> float | None:
    start, end = log.stats.started_at, log.stats.completed_at
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() if start and end else None


def _kept(runs: Sequence[Run]) -> Run:
    best = max(runs, key=lambda run: (int((~np.isnan(run.samples.scores)).sum()), run.created, run.location))
    return replace(best, earlier=len(runs) - 1)


def _in_order(factors: Mapping[str, str]) -> list[tuple[str, int, str]]:
    return [
        (name, ORDERS[name].index(value) if value in ORDERS.get(name, ()) else len(ORDERS), value)
        for name, value in factors.items()
    ]
