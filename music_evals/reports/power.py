"""The table of `music-evals power`: what the questions of a task can tell apart, and how many would
be needed.
"""

from collections.abc import Sequence
from itertools import combinations
from math import isnan, sqrt
from statistics import median

from music_evals.benchmarks import TaskFacts
from music_evals.reports.comparisons import PairedRun, paired_row, paired_runs
from music_evals.reports.records import Records
from music_evals.reports.table import Rows, Table, count, notes
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.power import detectable_difference, questions_needed

SUPPOSED = 0.21 + 0.1875 - sqrt(0.21 * 0.1875)
"""The variance without logs: models that get 70 and 75% right (variances of 0.21 and 0.1875), and
whose answers have a correlation of 0.5.
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
        compared = [paired_row(*pair, ()) for pair in pairs if _is_of(pair[0], task)]
        outcomes = [row.comparison for row in compared if row]
        outcomes = [outcome for outcome in outcomes if not isnan(outcome.error)]
        n = max([task.samples or 0, *(outcome.pairs for outcome in outcomes)])
        variance, source = SUPPOSED, "supposed"
        if outcomes:
            variance = median(outcome.error**2 * outcome.pairs for outcome in outcomes)
            source = f"{len(outcomes)} pair{'s' * (len(outcomes) > 1)} of runs"
        least = Estimate(detectable_difference(sqrt(variance / n))).percent() if n else None
        needed = count(questions_needed(points / 100, variance))
        rows.append([task.registry_name, count(n or None), least, needed, source])
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
    pairs = []
    for first, second in combinations(paired_runs(records), 2):
        is_same_model = first.factors["model"] == second.factors["model"]
        if not is_same_model and first.rest("model") == second.rest("model"):
            pairs.append((first, second))
    models = [pair for pair in pairs if not pair[0].is_baseline and not pair[1].is_baseline]
    return models or pairs
