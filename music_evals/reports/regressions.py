"""Whether scores fell between two sets of runs: the gate of `music-evals check`.

Runs are paired by task, data and condition, and then question by question, as in `comparisons`. The
models may differ, such as two checkpoints.
"""

from collections.abc import Collection, Sequence
from math import isnan
from typing import NamedTuple

import pandas as pd

from music_evals.benchmarks import load
from music_evals.reports.comparisons import BASELINE, PairedRun, paired_row, paired_run
from music_evals.reports.records import Records
from music_evals.reports.table import text
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import Comparison

_DEFAULTS = ("stimulus=given", "twin=original", "answer=text")
_ROUNDED = 9  # decimals of a difference, so that 3 points are not more than 3


class IncomparableError(ValueError):
    """Runs that cannot be compared; the message says why."""


class Change(NamedTuple):
    """How the score of a task changed.

    Args:
        task: its name, with the condition of the run.
        comparison: the later run less the earlier one, over the same questions.
        scores: both scores, in percent.
    """

    task: str
    comparison: Comparison
    scores: Sequence[Estimate]

    def is_drop(self, points: float) -> bool:
        """Whether the score fell by more than some points, and the interval excludes no change."""
        drop = round(-100 * self.comparison.difference, _ROUNDED)
        return drop > points and self.comparison.high < 0

    def line(self) -> str:
        """Return scores and difference in a line."""
        before, after = map(text, self.scores)
        pair = self.comparison
        low, high = (None if isnan(end) else end for end in (pair.low, pair.high))
        difference = text(Estimate(pair.difference, low, high, pair.pairs).percent())
        return f"{self.task}: {before} → {after}, {difference} points"


class _Run(NamedTuple):
    """A run with what must be equal in the other one."""

    name: str
    signature: str
    paired: PairedRun
    questions: frozenset[str]


def changes(base: Records, records: Records, tasks: Collection[str] = ()) -> list[Change]:
    """Return how the score of each run of `base` changed.

    Args:
        base: the earlier runs.
        records: the later ones.
        tasks: only these tasks or benchmarks; without them, all of `base`.

    Raises:
        IncomparableError: a run has no counterpart that was asked the same under the same
            condition.
    """
    before, after = (_runs(each, tasks) for each in (base, records))
    named = {name for run in before for name in (run.name, run.paired.questions[0])}
    if missing := sorted({*tasks} - named):
        raise IncomparableError(f"the base has no finished run of {', '.join(missing)}")
    return [_change(run, after) for run in before]


def _runs(records: Records, tasks: Collection[str]) -> list[_Run]:
    """The current runs of some tasks; baselines only if there is no other model."""
    if not len(records.runs):
        return []
    rows = records.current()
    of_models = rows[~rows["model"].str.startswith(BASELINE)]
    runs = []
    for number, row in (of_models if len(of_models) else rows).iterrows():
        name = load(row["benchmark"]).tasks[row["task"]].registry_name
        if not tasks or {name, row["benchmark"]} & {*tasks}:
            runs.append(_run(records, number, row, name))
    return runs


def _run(records: Records, number: int, row: pd.Series, name: str) -> _Run:
    questions = frozenset(records.main[number]["pair"])
    return _Run(name, row["signature"], paired_run(records, number, row), questions)


def _change(run: _Run, candidates: Sequence[_Run]) -> Change:
    of_task = [each for each in candidates if each.name == run.name]
    if not of_task:
        raise IncomparableError(f"there is no finished run of {run.name}")
    other = _counterpart(run, of_task)
    if run.questions != other.questions:
        new, gone = len(other.questions - run.questions), len(run.questions - other.questions)
        raise IncomparableError(
            f"{run.name}: other questions; {gone} of the base are missing, and {new} are new"
        )
    row = paired_row(run.paired, other.paired, ())
    if row is None:
        raise IncomparableError(f"{run.name}: no question has a score in both runs")
    scores = [cell for cell in row.labels if isinstance(cell, Estimate)]
    return Change(run.name, row.comparison, scores)


def _counterpart(run: _Run, candidates: Sequence[_Run]) -> _Run:
    """The run under the same condition; of several models, the one of the same name."""
    alike = [
        each
        for each in candidates
        if each.signature == run.signature and each.paired.rest("model") == run.paired.rest("model")
    ]
    if not alike:
        (base, *others) = map(_condition, (run, *candidates))
        raise IncomparableError(
            f"{run.name}: asked otherwise; the base has {base}, and not {', '.join(others)}"
        )
    if len(alike) > 1:
        model = run.paired.factors["model"]
        alike = [each for each in alike if each.paired.factors["model"] == model]
    if len(alike) != 1:
        raise IncomparableError(
            f"{run.name}: there are runs of several models; name the logs of one"
        )
    return alike[0]


def _condition(run: _Run) -> str:
    """The signature, and the settings that it leaves out."""
    words = [f"{name}={value}" for name, value in run.paired.factors.items() if name != "model"]
    return " ".join([run.signature, *(word for word in words if word not in _DEFAULTS)])
