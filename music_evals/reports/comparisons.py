"""Comparisons between runs on the same samples, of any benchmark: tests, disputed samples, tokens and time.

Runs are paired sample by sample, by id and right answer, within a task and the same data. Each table of tests is a
family of its own for Holm's correction.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from inspect_ai.log import EvalLog

from music_evals.reports.comparison_runs import (
    BENCHMARKS,
    Run,
    notes_on,
    ordered,
    read_runs,
    shown_difference,
    varying,
    worded,
)
from music_evals.reports.costs import cost_figures, cost_table
from music_evals.reports.disputed import disputed_tables
from music_evals.reports.effects import effects_table
from music_evals.reports.tables import Cell, Figure, Report, Table
from music_evals.scorers.metrics.paired import Comparison, compare, holm

__all__ = ["comparison_report"]

_OUTCOMES: Final = ("Pairs", "Unscored", "Not in both", "First", "Second", "Difference", "p", "p (Holm)")
_ON_TESTS: Final = (
    "Scores in percent, over the pairs: samples that both runs have a score of. Unscored: samples of both without a "
    "score in one of them. Not in both: samples that only one of them was asked.",
    "Difference: second less first, in percentage points, with its 95% interval. Right or wrong on independent "
    "samples: McNemar's exact test and Bonett's and Price's interval. Graded scores, or several questions on one piece "
    "or score: paired bootstrap and random flips of signs, both by piece or score; a single piece has no interval.",
    "p (Holm): corrected for all rows of this table. Figures of p below 0.00005 are shown as 0.0000.",
)


class _Pair(NamedTuple):
    """Two runs, what they differ in or have in common, and how they compare."""

    labels: Sequence[Cell]
    unscored: int
    alone: int
    means: tuple[float, float]
    found: Comparison


def comparison_report(headers: Sequence[EvalLog], progress: Callable[[int, int], None] = lambda *_: None) -> Report:
    """Compare runs on the same samples.

    Args:
        headers: headers of logs; the samples are read from where these say that the logs are.
        progress: called with the number of responses read so far, and that of all.

    Returns:
        For each benchmark with such runs, tests between models under the same condition and between conditions of the
        same model; for MUSE the effects of modality, shots and strategy; the samples that every run got wrong and
        those that runs disagree on; tokens and time of each run, with figures. And the logs that could not be used.

    Example:
        >>> comparison_report([])
        Report(tables=(), passed_over=())
    """
    runs, passed_over = read_runs(headers, progress)
    tables: list[Table] = []
    for benchmark in dict.fromkeys(run.benchmark for run in runs):
        mine = [run for run in runs if run.benchmark == benchmark]
        found = [models_table(benchmark, mine)]
        # MUSE's conditions are crossed, so that their effects can be pooled over each other.
        found.append(effects_table(mine) if benchmark == "muse" else conditions_table(benchmark, mine))
        tables += [table for table in found if table.rows]
    tables += [table for table in disputed_tables(runs) if table.rows]
    if runs:
        tables.append(cost_table(runs))
    return Report(tuple(tables), tuple(passed_over), cost_figures(runs))


def models_table(benchmark: str, runs: Sequence[Run]) -> Table:
    """Lay out the tests between models under the same condition.

    Args:
        benchmark: its name.
        runs: its runs.

    Returns:
        The table, in percent.

    Example:
        >>> models_table("muse", []).columns[:5]
        ('Task', 'Data', 'Condition', 'First model', 'Second model')
    """
    names = varying(runs)
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault((run.questions, run.condition), []).append(run)
    pairs = [
        pair
        for some in groups.values()
        for first, second in combinations(sorted(some, key=lambda run: run.model), 2)
        for pair in _paired(first, second, (first.task, first.data, worded(first, names), first.model, second.model))
    ]
    return _table(
        f"tests_models_{benchmark}",
        f"{BENCHMARKS.get(benchmark, benchmark)}: tests between models",
        ("Task", "Data", "Condition", "First model", "Second model"),
        pairs,
        runs,
    )


def conditions_table(benchmark: str, runs: Sequence[Run]) -> Table:
    """Lay out the tests between conditions of the same model that differ in one thing.

    Args:
        benchmark: its name.
        runs: its runs.

    Returns:
        The table, in percent.

    Example:
        >>> conditions_table("ziqi", []).columns[:7]
        ('Task', 'Data', 'Model', 'What', 'First value', 'Second value', 'Else')
    """
    names = varying(runs)
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault((run.questions, run.model), []).append(run)
    pairs: list[_Pair] = []
    for some in groups.values():
        for one, other in combinations(some, 2):
            # What only one of two tasks can be asked for tells no difference.
            shared = [name for name in one.factors if name in other.factors]
            differing = [name for name in shared if one.factors[name] != other.factors[name]]
            if len(differing) != 1:
                continue
            (what,) = differing
            values = ordered(what, (one.factors[what], other.factors[what]))
            first, second = (one, other) if one.factors[what] == values[0] else (other, one)
            rest = worded(first, [name for name in names if name != what and name in shared])
            pairs += _paired(first, second, (one.task, one.data, one.model, what.replace("_", " "), *values, rest))
    return _table(
        f"tests_conditions_{benchmark}",
        f"{BENCHMARKS.get(benchmark, benchmark)}: tests between conditions",
        ("Task", "Data", "Model", "What", "First value", "Second value", "Else"),
        pairs,
        runs,
    )


def _paired(first: Run, second: Run, labels: Sequence[Cell]) -> Iterator[_Pair]:
    """The comparison of two runs; nothing where they have no scored sample in common."""
    shared, one, other = np.intersect1d(
        first.samples.keys, second.samples.keys, assume_unique=True, return_indices=True
    )
    scores = first.samples.scores[one], second.samples.scores[other]
    scored = ~np.isnan(scores[0]) & ~np.isnan(scores[1])
    if not scored.any():
        return
    before, after = scores[0][scored], scores[1][scored]
    yield _Pair(
        labels,
        unscored=int((~scored).sum()),
        alone=len(first.samples.keys) + len(second.samples.keys) - 2 * len(shared),
        means=(float(before.mean()), float(after.mean())),
        found=compare(before, after, first.samples.clusters[one][scored].tolist()),
    )


def _table(name: str, title: str, labels: Sequence[str], pairs: Sequence[_Pair], runs: Sequence[Run]) -> Table:
    corrected = holm([pair.found.p for pair in pairs])
    rows: list[list[Cell]] = [
        [
            *pair.labels,
            *(Figure(number, decimals=0) for number in (pair.found.pairs, pair.unscored, pair.alone)),
            *(Figure(100 * mean, decimals=1) for mean in pair.means),
            shown_difference(pair.found),
            Figure(pair.found.p, decimals=4),
            Figure(p, decimals=4),
            pair.found.test,
        ]
        for pair, p in zip(pairs, corrected, strict=True)
    ]
    return Table(name, title, (*labels, *_OUTCOMES, "Test"), rows, (*_ON_TESTS, *notes_on(runs)))
