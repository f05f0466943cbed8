"""Comparisons between runs on the same samples, of any benchmark: tests, disputed samples, tokens and time.

Runs are paired sample by sample, by id and right answer, within a task and the same data. Each table of tests is a
family of its own for Holm's correction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from inspect_ai.log import EvalLog

from music_evals.reports.compared import (
    Compared,
    known,
    notes_on,
    ordered,
    read_compared,
    shown_difference,
    varying,
    worded,
)
from music_evals.reports.costs import cost_figures, cost_table
from music_evals.reports.disputed import disputed_tables
from music_evals.reports.samples import Floats
from music_evals.reports.tables import Cell, Figure, Report, Table, whole
from music_evals.scorers.metrics.paired import Comparison, compare, holm

MODELS: Final = "all models"
TASKS: Final = "all tasks"
_BASELINE: Final = "baseline/"

_ON_P: Final = "p (Holm): corrected for all rows of this table. Figures of p below 0.00005 are shown as 0.0000."
_ON_TESTS: Final = (
    "Scores in percent, over the pairs: samples that both runs have a score of. Unscored: samples of both without a "
    "score in one of them. Not in both: samples that only one of them was asked.",
    "Difference: second less first, in percentage points, with its 95% interval. Right or wrong on independent "
    "samples: McNemar's exact test and Bonett's and Price's interval. Graded scores, or several questions on one piece "
    "or score: paired bootstrap and random flips of signs, both by piece or score; a single piece has no interval.",
    _ON_P,
)
_ON_EFFECTS: Final = (
    "A pair: the same trial in two runs of a model that differ in this effect alone; the others are pooled. Pairs "
    "count alike, so a task with more trials weighs more where tasks are pooled. All models: without the baselines.",
    "Scores and differences in percent, second less first, with 95% intervals. Whole trials are drawn by the bootstrap "
    "and flipped by the test, with all that they were paired in; one pair a trial, right or wrong, has McNemar's exact "
    "test and Bonett's and Price's interval.",
    _ON_P,
)

_Pairs = tuple[Floats, Floats, list[tuple[str, int]]]
"""Scores of two runs, and the samples: task and key."""


class _Pair(NamedTuple):
    """What two sets of scores are of, counts on them, and how they compare."""

    labels: Sequence[Cell]
    counts: Sequence[int]
    means: tuple[float, float]
    found: Comparison


def comparison_report(headers: Sequence[EvalLog], progress: Callable[[int, int], None] = lambda *_: None) -> Report:
    """Compare runs on the same samples.

    Args:
        headers: headers of logs; the samples are read from where these say that the logs are.
        progress: called with the number of responses read so far, and that of all.

    Returns:
        For each benchmark with such runs, tests between models under the same condition and between conditions of the
        same model, or the effects of factors that are crossed; the samples that every run got wrong and those that
        runs disagree on; tokens and time of each run, with figures. And the logs that could not be used.
    """
    runs, passed_over = read_compared(headers, progress)
    tables: list[Table] = []
    for benchmark in dict.fromkeys(run.benchmark for run in runs):
        mine = [run for run in runs if run.benchmark == benchmark]
        tables.append(models_table(mine))
        tables.append(effects_table(mine) if "effects" in known(benchmark) else conditions_table(mine))
    tables += disputed_tables(runs)
    if runs:
        tables.append(cost_table(runs))
    return Report([table for table in tables if table.rows], passed_over, cost_figures(runs))


def models_table(runs: Sequence[Compared]) -> Table:
    """Lay out the tests between models of a benchmark's runs under the same condition, in percent."""
    names = varying(runs)
    groups: dict[object, list[Compared]] = {}
    for run in runs:
        groups.setdefault((run.questions, run.condition), []).append(run)
    pairs = [
        pair
        for some in groups.values()
        for first, second in combinations(sorted(some, key=lambda run: run.model), 2)
        for pair in _paired(first, second, (first.task, first.data, worded(first, names), first.model, second.model))
    ]
    return _table("models", ("Task", "Data", "Condition", "First model", "Second model"), pairs, runs)


def conditions_table(runs: Sequence[Compared]) -> Table:
    """Lay out the tests between conditions of the same model that differ in one thing, in percent."""
    names = varying(runs)
    groups: dict[object, list[Compared]] = {}
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
            values = ordered(one.benchmark, what, (one.factors[what], other.factors[what]))
            first, second = (one, other) if one.factors[what] == values[0] else (other, one)
            rest = worded(first, [name for name in names if name != what and name in shared])
            pairs += _paired(first, second, (one.task, one.data, one.model, what.replace("_", " "), *values, rest))
    labels = ("Task", "Data", "Model", "What", "First value", "Second value", "Else")
    return _table("conditions", labels, pairs, runs)


def effects_table(runs: Sequence[Compared]) -> Table:
    """Lay out the effects of crossed factors for each model and task, and over all of them, in percent."""
    benchmark = runs[0].benchmark
    pairs: list[_Pair] = []
    for what, values, data, paired in _crossed(runs):
        for model, task in _pools(paired):
            pool = [pairs for key, some in paired.items() if _within(key, (model, task)) for pairs in some]
            first, second = (np.concatenate([pairs[side] for pairs in pool]) for side in (0, 1))
            trials = [trial for _, _, some in pool for trial in some]
            if len(first):
                counts = (len(set(trials)), len(first))
                means = float(first.mean()), float(second.mean())
                labels = (what, *values, data, model, task)
                pairs.append(_Pair(labels, counts, means, compare(first, second, trials)))
    *some, last = known(benchmark)["effects"]
    return Table(
        f"tests_effects_{benchmark}",
        f"{runs[0].title}: effects of {', '.join(some)} and {last}",
        (
            *("Effect", "First value", "Second value", "Data", "Model", "Task"),
            *("Trials", "Pairs", "First", "Second", "Difference", "p", "p (Holm)"),
        ),
        _rows(pairs),
        [*_ON_EFFECTS, *filter(None, [known(benchmark).get("paper", "").strip()]), *notes_on(runs)],
    )


def _paired(first: Compared, second: Compared, labels: Sequence[Cell]) -> Iterator[_Pair]:
    """The comparison of two runs; nothing where they have no scored sample in common."""
    before, after, places, unscored = _scores(first, second)
    if len(before):
        alone = len(first.samples.keys) + len(second.samples.keys) - 2 * (len(before) + unscored)
        means = float(before.mean()), float(after.mean())
        yield _Pair(
            labels,
            (len(before), unscored, alone),
            means,
            compare(before, after, first.samples.clusters[places].tolist()),
        )


def _table(what: str, labels: Sequence[str], pairs: Sequence[_Pair], runs: Sequence[Compared]) -> Table:
    outcomes = ("Pairs", "Unscored", "Not in both", "First", "Second", "Difference", "p", "p (Holm)", "Test")
    rows = [[*row, pair.found.test] for row, pair in zip(_rows(pairs), pairs, strict=True)]
    title = f"{runs[0].title}: tests between {what}"
    return Table(f"tests_{what}_{runs[0].benchmark}", title, (*labels, *outcomes), rows, [*_ON_TESTS, *notes_on(runs)])


def _rows(pairs: Sequence[_Pair]) -> list[list[Cell]]:
    corrected = holm([pair.found.p for pair in pairs])
    return [
        [
            *pair.labels,
            *map(whole, pair.counts),
            *(Figure(100 * mean, decimals=1) for mean in pair.means),
            shown_difference(pair.found),
            Figure(pair.found.p, decimals=4),
            Figure(p, decimals=4),
        ]
        for pair, p in zip(pairs, corrected, strict=True)
    ]


def _scores(first: Compared, second: Compared) -> tuple[Floats, Floats, npt.NDArray[np.intp], int]:
    """The scores of the samples that both have one of, the samples' places in the first, and how many lack one."""
    _, one, other = np.intersect1d(first.samples.keys, second.samples.keys, assume_unique=True, return_indices=True)
    before, after = first.samples.scores[one], second.samples.scores[other]
    scored = ~np.isnan(before) & ~np.isnan(after)
    return before[scored], after[scored], one[scored], int((~scored).sum())


def _crossed(
    runs: Sequence[Compared],
) -> Iterator[tuple[str, tuple[str, str], str, dict[tuple[str, str], list[_Pairs]]]]:
    """For each effect, two of its values and data: model and task → what is paired in each combination of the rest."""
    for data in sorted({run.data for run in runs}):
        for what in known(runs[0].benchmark)["effects"]:
            groups: dict[tuple[object, ...], dict[str, Compared]] = {}
            for run in runs:
                if run.data == data and what in run.factors:
                    rest = tuple(item for item in run.condition if item[0] != what)
                    groups.setdefault((run.model, run.task, rest), {})[run.factors[what]] = run
            values = ordered(runs[0].benchmark, what, {value for some in groups.values() for value in some})
            for one, other in combinations(values, 2):
                paired: dict[tuple[str, str], list[_Pairs]] = {}
                for (model, task, _), some in groups.items():
                    if one in some and other in some:
                        before, after, places, _ = _scores(some[one], some[other])
                        trials = [(str(task), key) for key in some[one].samples.keys[places].tolist()]
                        paired.setdefault((str(model), str(task)), []).append((before, after, trials))
                if paired:
                    yield what, (one, other), data, paired


def _pools(paired: Mapping[tuple[str, str], object]) -> Iterator[tuple[str, str]]:
    """Model and task of the rows: each of both, and all where there are several."""
    models, tasks = (sorted(set(names)) for names in zip(*paired, strict=True))
    several = sum(not model.startswith(_BASELINE) for model in models) > 1
    for model in [*([MODELS] if several else []), *models]:
        asked = [task for task in tasks if any(_within(key, (model, task)) for key in paired)]
        for task in [*([TASKS] if len(asked) > 1 else []), *asked]:
            yield model, task


def _within(key: tuple[str, str], pool: tuple[str, str]) -> bool:
    (model, task), (models, tasks) = key, pool
    is_model = not model.startswith(_BASELINE) if models == MODELS else model == models
    return is_model and tasks in (TASKS, task)
