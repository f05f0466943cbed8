"""Whether scores fell between two sets of runs: the gate of `music-evals check`.

Runs are paired by task, data and condition, and then question by question, as in `comparisons`. The
models may differ, such as two checkpoints.
"""

from collections.abc import Collection, Sequence
from math import isnan
from typing import NamedTuple

from music_evals.benchmarks import load
from music_evals.reports.comparisons import PairedRun, paired_row, paired_run
from music_evals.reports.records import Records
from music_evals.reports.table import text
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.noninferiority import Verdict, questions_needed, verdict
from music_evals.scorers.metrics.paired import Comparison


class Change(NamedTuple):
    """How the score of a task changed.

    Args:
        task: its name.
        comparison: the later run less the earlier one, over the same questions.
        scores: both scores in percent.
        run: number of the later run.
    """

    task: str
    comparison: Comparison
    scores: Sequence[object]
    run: int

    def verdict(self, points: float) -> Verdict:
        """Say whether the score fell by more than some points."""
        return verdict(self.comparison, points / 100)

    def needed(self, points: float) -> str:
        """Say how many questions would tell whether the score fell by more than some points."""
        needed = questions_needed(self.comparison, points / 100)
        if needed is None:
            return "no number of questions would tell"
        if needed <= self.comparison.pairs:
            return "the drop is too near to what is allowed"
        return f"about {needed:,} would, if the score did not change"

    def line(self) -> str:
        """Return scores and difference in a line."""
        pair = self.comparison
        low, high = (None if isnan(end) else end for end in (pair.low, pair.high))
        difference = text(Estimate(pair.difference, low, high, pair.pairs).percent())
        before, after = (text(score) for score in self.scores if isinstance(score, Estimate))
        return f"{self.task}: {before} → {after}, {difference} points"


class _Run(NamedTuple):
    """A run, its model and signature, and all that must be equal in the other one."""

    name: str
    title: str
    must_be_equal: tuple[object, ...]
    paired: PairedRun


def changes(base: Records, records: Records, tasks: Collection[str] = ()) -> list[Change]:
    """Return how the score of each run of `base` changed.

    Args:
        base: the earlier runs.
        records: the later ones.
        tasks: only these tasks or benchmarks; without them, all of `base`.

    Raises:
        ValueError: a task is missing, or was asked other questions or under another condition.
    """
    before, after = _runs(base), _runs(records)
    asked = {*tasks} or {run.name for run in before}
    named = {name for run in before for name in (run.name, run.paired.questions[0])}
    if missing := sorted(asked - named):
        raise ValueError(f"the base has no finished run of {', '.join(missing)}")
    if not before:
        raise ValueError("the base has no finished run")
    chosen = [run for run in before if {run.name, run.paired.questions[0]} & asked]
    result = []
    for run in chosen:
        later = _counterpart(run, after).paired
        row = paired_row(run.paired, later, ())
        if row is None:
            raise ValueError(f"{run.name}: no question has a score in both runs")
        result.append(Change(run.name, row.comparison, row.labels, later.number))
    return result


def _runs(records: Records) -> list[_Run]:
    """The current runs; baselines only if there is no other model."""
    runs = []
    for number, row in (records.current() if len(records.runs) else records.runs).iterrows():
        name = load(row["benchmark"]).tasks[row["task"]].registry_name
        paired = paired_run(records, number, row)
        questions = frozenset(records.main[number]["pair"])
        must_be_equal = (name, row["signature"], paired.rest("model"), questions)
        runs.append(_Run(name, f"{row['model']} {row['signature']}", must_be_equal, paired))
    return [run for run in runs if not run.paired.is_baseline] or runs


def _counterpart(run: _Run, candidates: Sequence[_Run]) -> _Run:
    """The run on the same questions; of several models, the one of the same name."""
    equal = [each for each in candidates if each.must_be_equal == run.must_be_equal]
    if len(equal) > 1:
        equal = [each for each in equal if each.title == run.title]
    if len(equal) == 1:
        return equal[0]
    others = [each.title for each in candidates if each.name == run.name]
    raise ValueError(
        f"{run.name}: no run, or several, on the same questions and with the same settings as "
        f"{run.title}; there is {', '.join(others) or 'no finished run'}"
    )
