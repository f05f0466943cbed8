"""Runs that can be compared: what was asked, how, of which model, and what came of each sample.

What a benchmark knows of its factors stands in its ``benchmark.toml`` under ``[comparisons]``: ``orders``, the values
of a factor from the plain to the other where that is not the alphabet's; ``effects``, factors that are crossed;
``not_factors``, parameters that change nothing of the answers; ``tasks_are``, the factor that its tasks differ in where
they ask the same questions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from inspect_ai.log import EvalLog

from music_evals.benchmarks import load
from music_evals.reports.identity import DEFAULT, Identity, identities, stated
from music_evals.reports.runs import grouped
from music_evals.reports.samples import Samples, read_samples
from music_evals.reports.texts import reason

_DATA: Final = "dataset"  # the argument; the data has a label of its own
_SAME: Final = "questions"  # what tasks that ask the same questions are called


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What a log says, with its samples; those of a benchmark, a task and the same data are the same ones."""

    benchmark: str
    task: str
    data: str  # label of the dataset, and what tells it from others of that label
    identity: Identity
    asked: Mapping[str, str]  # parameters of the task: name -> value
    location: str
    created: datetime
    seconds: float | None  # wall time of the whole run, where the log tells
    samples: Samples = field(repr=False)
    earlier: int = 0  # how many runs of the same it stands for, other than itself

    @property
    def model(self) -> str:
        """Its model, with the arguments in which runs of that differ."""
        return self.identity.model

    @property
    def factors(self) -> dict[str, str]:
        """How it was asked: parameters of the task, and settings in which runs of the report differ."""
        return {**self.asked, **self.identity.settings}

    @property
    def questions(self) -> tuple[str, str, str]:
        """What runs on the same samples have in common."""
        return self.benchmark, self.task, self.data

    @property
    def condition(self) -> tuple[tuple[str, str], ...]:
        """Its factors in a form that can be compared and sorted."""
        return tuple(sorted(self.factors.items()))

    @property
    def scored(self) -> int:
        """How many samples have a score."""
        return int(self.samples.of_each["score"].count())

    @property
    def title(self) -> str:
        """How its benchmark is called."""
        return load(self.benchmark).title

    @property
    def ranks(self) -> list[tuple[str, int, str]]:
        """Where its factors stand in their orders."""
        return [(name, *rank(self.benchmark, name, value)) for name, value in self.factors.items()]


def known(benchmark: str) -> Mapping[str, Any]:
    """What a benchmark declares of its comparisons."""
    declared: Mapping[str, Any] = load(benchmark).table.get("comparisons", {})
    return declared


def read_compared(
    logs: Sequence[EvalLog], progress: Callable[[int, int], None]
) -> tuple[list[Compared], list[tuple[str, str]]]:
    """Read the samples of logs that ended in success; return the runs, sorted, and which logs cannot be read, and why.

    Of several runs of the same model, task, data and factors the one with the most scored samples is kept, the latest
    among equals.
    """
    total = sum(log.results.total_samples for log in logs if log.results)
    done = 0

    def advance(number: int) -> None:
        nonlocal done
        done = min(done + number, total)
        progress(done, total)

    read: list[Compared] = []
    unread: list[tuple[str, str]] = []
    for log, identity in zip(logs, identities(logs), strict=True):
        try:
            read.append(_compared(log, identity, advance))
        except Exception as error:  # whatever a reader of zip and JSON meets in a file that is damaged
            unread.append((log.location, f"not compared with others: its samples cannot be read: {reason(error)}"))
    progress(total, total)
    kept = [
        replace(max(runs, key=lambda run: (run.scored, run.created, run.location)), earlier=len(runs) - 1)
        for runs in grouped(read, lambda run: (run.questions, run.model, run.condition)).values()
    ]
    return sorted(kept, key=lambda run: (run.questions, run.model, run.ranks)), unread


def rank(benchmark: str, factor: str, value: str) -> tuple[int, str]:
    """Where a value of a factor stands: as the benchmark has it, others by the alphabet after those."""
    order = [DEFAULT, *known(benchmark).get("orders", {}).get(factor, [])]
    return (order.index(value) if value in order else len(order)), value


def varying(runs: Iterable[Compared]) -> list[str]:
    """Names of the factors that are not the same in all of some runs that have them."""
    values = grouped((item for run in runs for item in run.factors.items()), lambda item: item[0])
    return [name for name, found in values.items() if len({*found}) > 1]


def worded(run: Compared, factors: Iterable[str]) -> str | None:
    """Say some factors of a run, as ``shots zero, strategy cot``, if not as by default; None of nothing to say."""
    said = ((name, run.factors.get(name, DEFAULT)) for name in factors)
    return ", ".join(f"{name} {value}" for name, value in said if value != DEFAULT) or None


def notes_on(runs: Iterable[Compared]) -> list[str]:
    """Say which runs stand for others."""
    return [
        f"{run.model}, {run.benchmark} {run.task}{f' ({words})' if (words := worded(run, run.factors)) else ''}: of "
        f"{run.earlier + 1} runs the one of {run.created:%Y-%m-%d %H:%M} counts."
        for run in runs
        if run.earlier
    ]


def _shown(value: Any) -> str:
    """A parameter as tables show it; one that is not set is as by default."""
    return DEFAULT if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _compared(log: EvalLog, identity: Identity, advance: Callable[[int], None]) -> Compared:
    about = log.eval.metadata or {}
    declared = known(about["benchmark"])
    unused = (_DATA, *declared.get("not_factors", ()))
    asked = {name: _shown(value) for name, value in log.eval.task_args.items() if name not in unused}
    task = about["config"]
    if "tasks_are" in declared:
        task, asked = _SAME, {declared["tasks_are"]: task, **asked}
    # The first scorer of a task gives the score that its benchmark reports.
    scorer = log.results.scores[0].name if log.results else ""
    samples = read_samples(log, scorer, advance)
    scores = samples.of_each["score"]
    if ((scores < 0) | (scores > 1)).any():
        raise ValueError(f"scores of {scorer} are not from 0 to 1")
    start, end = (time and datetime.fromisoformat(time) for time in (log.stats.started_at, log.stats.completed_at))
    return Compared(
        benchmark=about["benchmark"],
        task=task,
        data=", ".join([about["dataset_label"], *stated(identity.data)]),
        identity=identity,
        asked=asked,
        location=log.location,
        created=datetime.fromisoformat(log.eval.created),
        seconds=(end - start).total_seconds() if start and end else None,
        samples=samples,
    )
