"""The table of `music-evals power`: what the questions of a task can tell apart, and how many would
be needed.
"""

from collections.abc import Sequence
from itertools import combinations
from math import isnan, sqrt
from statistics import median
from typing import Final

from music_evals.benchmarks import TaskFacts
from music_evals.reports.comparisons import BASELINE, PairedRun, paired_row, paired_runs
from music_evals.reports.records import Records
from music_evals.reports.table import Rows, Table, count, notes
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.power import (
    detectable_difference,
    paired_variance,
    questions_needed,
)

SUPPOSED: Final = paired_variance(0.7, 0.75, 0.5)
"""The variance without logs: models that get 70 and 75% right, and whose answers have a correlation
of 0.5.
"""


def power_table(tasks: Sequence[TaskFacts], points: float, records: Records | None = None) -> Table:
    """Make the table of the power of tasks.

    Args:
        tasks: of one or several benchmarks.
        points: the difference that is to be found, in percentage points.
        records: of logs whose variance is used; without a pair of runs of a task its variance is
            `SUPPOSED`.
    """
    pairs = _pairs(records) if records else []
    rows: Rows = []
    for task in tasks:
        found = [paired_row(*pair, ()) for pair in pairs if _is_of(pair[0], task)]
        known = [row.comparison for row in found if row and not isnan(row.comparison.error)]
        variance = median(one.error**2 * one.pairs for one in known) if known else SUPPOSED
        n = max([task.samples or 0, *(one.pairs for one in known)])
        least = Estimate(detectable_difference(sqrt(variance / n))).percent() if n else None
        source = f"{len(known)} pair{'s' * (len(known) > 1)} of runs" if known else "supposed"
        rows.append(
            [
                task.registry_name,
                count(n or None),
                least,
                count(questions_needed(points / 100, variance)),
                source,
            ]
        )
    columns = ("Task", "Questions", "They tell apart", f"Needed for {points:g} points", "Variance")
    return Table(
        "power", "Power of paired comparisons, in percentage points", columns, rows, notes("power")
    )


def _is_of(run: PairedRun, task: TaskFacts) -> bool:
    """Whether a run is of a task; where tasks ask the same questions, the task is a factor of the
    run.
    """
    return run.questions[0] == task.benchmark and task.name in (
        run.questions[-1],
        *run.factors.values(),
    )


def _pairs(records: Records) -> list[tuple[PairedRun, PairedRun]]:
    """Runs of two models on the same questions under the same condition; without baselines where
    there are others.
    """
    pairs = [
        (first, second)
        for first, second in combinations(paired_runs(records), 2)
        if first.rest("model") == second.rest("model")
        and first.factors["model"] != second.factors["model"]
    ]
    models = [
        pair for pair in pairs if not any(run.factors["model"].startswith(BASELINE) for run in pair)
    ]
    return models or pairs
