"""The table of `music-evals power`: what the questions of a task can tell apart, and how many would
be needed.
"""

from collections.abc import Sequence
from itertools import combinations
from math import isnan
from statistics import median

from music_evals.benchmarks import TaskFacts
from music_evals.reports.comparisons import PairedRun, paired_row, paired_runs
from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, count, notes
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import Comparison
from music_evals.scorers.metrics.power import (
    detectable_difference,
    discordance_of,
    least_difference,
    mcnemar_power,
    questions_needed,
)

CORRELATION = 0.5
"""Of two models' answers, without logs."""


def power_table(
    tasks: Sequence[TaskFacts], points: float, base: float, records: Records | None = None
) -> Table:
    """Make the table of the power of tasks.

    Args:
        tasks: of one or several benchmarks.
        points: the difference that is to be found, in percentage points.
        base: what the first model gets right, in percent, without a pair of runs of a task.
        records: of logs whose answers are used.
    """
    pairs = _pairs(records) if records else []
    rows = []
    for task in tasks:
        compared = [paired_row(*pair, ()) for pair in pairs if _is_of(pair[0], task)]
        outcomes = [row.comparison for row in compared if row]
        outcomes = [outcome for outcome in outcomes if not isnan(outcome.variance)]
        if outcomes:
            rows.append([task.registry_name, *_by_logs(outcomes, points / 100)])
        else:
            rows.append([task.registry_name, *_supposed(task.samples, points / 100, base / 100)])
    columns = ("Task", "Questions", "They tell apart", f"Needed for {points:g} points", "Answers")
    return Table(
        "power", "Power of paired comparisons, in percentage points", columns, rows, notes("power")
    )


def _by_logs(outcomes: Sequence[Comparison], difference: float) -> list[Cell]:
    """Cells from the answers of pairs of models."""
    largest = max(outcomes, key=lambda outcome: outcome.pairs)
    least = median(map(detectable_difference, outcomes))
    variance = median(outcome.variance for outcome in outcomes)
    source = f"{len(outcomes)} pair{'s' * (len(outcomes) > 1)} of runs"
    needed = count(questions_needed(difference, variance))
    return [count(largest.pairs), _points(least), needed, source]


def _supposed(questions: int | None, difference: float, base: float) -> list[Cell]:
    """Cells for independent answers whose correlation is `CORRELATION`: a rise from the base or,
    where none can be found, a fall.
    """
    needed: Cell = "none"
    if difference <= max(base, 1 - base):
        sign = 1 if base + difference <= 1 else -1
        discordance = discordance_of(base, base + sign * difference, CORRELATION)
        needed = count(questions_needed(difference, discordance - difference**2))
    least = None
    if questions:
        rise, fall = (_least(questions, base, sign) for sign in (1, -1))
        least = _points(fall if isnan(rise) else rise)
    return [count(questions), least, needed, f"supposed, from {100 * base:g}%"]


def _least(questions: int, base: float, sign: int) -> float:
    """The smallest rise or fall from a base that can be found, below 0 if it falls; NaN if none
    can.
    """

    def power(difference: float) -> float:
        discordance = discordance_of(base, base + sign * difference, CORRELATION)
        return mcnemar_power(questions, discordance, difference)

    return sign * least_difference(power, 1 - base if sign > 0 else base)


def _points(difference: float) -> Cell:
    return "none" if isnan(difference) else Estimate(difference).percent()


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
