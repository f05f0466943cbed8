"""The table of `music-evals power`: what the questions of a task can tell apart, and how many would be needed."""

from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import Final

from music_evals.benchmarks import TaskFacts
from music_evals.reports.comparisons import BASELINE, PairedRun, compare_runs, paired_runs
from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, count, notes
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.power import detectable_difference, paired_variance, questions_needed

SUPPOSED: Final = paired_variance(0.7, 0.75, 0.5)
"""The variance without logs: models that get 70 and 75% right, and whose answers have a correlation of 0.5."""


def power_table(tasks: Sequence[TaskFacts], points: float, records: Records | None = None) -> Table:
    """Make the table of the power of tasks.

    Args:
        tasks: of one or several benchmarks.
        points: the difference that is to be found, in percentage points.
        records: of logs whose variance is used; without a pair of runs of a task its variance is `SUPPOSED`.
    """
    pairs = _pairs(records) if records else []
    rows: list[list[Cell]] = []
    for task in tasks:
        variances, sizes = [], [task.samples or 0]
        for first, second in pairs:
            if first.questions[0] == task.benchmark and task.name in (first.questions[-1], *first.factors.values()):
                found = compare_runs(first, second)
                variances += [found.error**2 * found.pairs] if found and found.error == found.error else []
                sizes += [found.pairs] if found else []
        variance, n = (median(variances) if variances else SUPPOSED), max(sizes)
        least = Estimate(detectable_difference((variance / n) ** 0.5)).percent() if n else None
        needed = count(questions_needed(points / 100, variance))
        source = f"{len(variances)} pairs of runs" if variances else "supposed"
        rows.append([task.registry_name, count(n or None), least, needed, source])
    columns = ("Task", "Questions", "They tell apart", f"Needed for {points:g} points", "Variance")
    return Table("power", "Power of paired comparisons, in percentage points", columns, rows, notes("power"))


def _pairs(records: Records) -> list[tuple[PairedRun, PairedRun]]:
    """Runs of two models on the same questions under the same condition; without baselines where there are others."""
    pairs = [
        (first, second)
        for first, second in combinations(paired_runs(records), 2)
        if first.rest("model") == second.rest("model") and first.factors["model"] != second.factors["model"]
    ]
    models = [pair for pair in pairs if not any(run.factors["model"].startswith(BASELINE) for run in pair)]
    return models or pairs
