"""The effects of modality, shots and strategy on MUSE, each pooled over the other two.

Source: arXiv 2510.22455, section 3: modality by model, shots over models and prompts, strategies by task.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from music_evals.reports.comparison_runs import Run, notes_on, ordered, shown_difference
from music_evals.reports.samples import Floats
from music_evals.reports.tables import Cell, Figure, Table
from music_evals.scorers.metrics.paired import Comparison, compare, holm

FACTORS: Final = ("modality", "shots", "strategy")
MODELS: Final = "all models"
TASKS: Final = "all tasks"
_BASELINE: Final = "baseline/"

_Pairs = tuple[Floats, Floats, list[tuple[str, int]]]
"""Scores of two runs, and the trials: task and key."""


def effects_table(runs: Sequence[Run]) -> Table:
    """Lay out the effects for each model and task, and over all of them.

    Args:
        runs: runs of MUSE.

    Returns:
        The table, in percent.

    Example:
        >>> effects_table([]).columns[:6]
        ('Effect', 'First value', 'Second value', 'Data', 'Model', 'Task')
    """
    found: list[tuple[tuple[str, ...], int, tuple[float, float], Comparison]] = []
    for what, values, data, paired in _crossed(runs):
        for model, task in _pools(paired):
            pool = [pairs for key, some in paired.items() if _within(key, (model, task)) for pairs in some]
            first, second = (np.concatenate([pairs[side] for pairs in pool]) for side in (0, 1))
            trials = [trial for _, _, some in pool for trial in some]
            if len(first):
                means = float(first.mean()), float(second.mean())
                comparison = compare(first, second, trials)
                found.append(((what, *values, data, model, task), len(set(trials)), means, comparison))
    corrected = holm([comparison.p for *_, comparison in found])
    rows: list[list[Cell]] = [
        [
            *labels,
            Figure(trials, decimals=0),
            Figure(comparison.pairs, decimals=0),
            *(Figure(100 * mean, decimals=1) for mean in means),
            shown_difference(comparison),
            Figure(comparison.p, decimals=4),
            Figure(p, decimals=4),
        ]
        for (labels, trials, means, comparison), p in zip(found, corrected, strict=True)
    ]
    return Table(
        "tests_effects_muse",
        "MUSE: effects of modality, shots and strategy",
        (
            *("Effect", "First value", "Second value", "Data", "Model", "Task"),
            *("Trials", "Pairs", "First", "Second", "Difference", "p", "p (Holm)"),
        ),
        rows,
        (
            "A pair: the same trial in two runs of a model that differ in this effect alone; the others are pooled. "
            "Pairs count alike, so a task with more trials weighs more where tasks are pooled. All models: without the "
            "baselines.",
            "Scores and differences in percent, second less first, with 95% intervals. Whole trials are drawn by the "
            "bootstrap and flipped by the test, with all that they were paired in; one pair a trial, right or wrong, "
            "has McNemar's exact test and Bonett's and Price's interval.",
            "p (Holm): corrected for all rows of this table. Figures of p below 0.00005 are shown as 0.0000.",
            "Paper, section 3: the Gemini models do significantly better with MIDI than with audio, Qwen less "
            "evidently; no significant effect of shots over models and prompts. It names no test.",
            *notes_on(runs),
        ),
    )


def _crossed(runs: Sequence[Run]) -> Iterator[tuple[str, tuple[str, str], str, dict[tuple[str, str], list[_Pairs]]]]:
    """For each effect, two of its values and data: model and task → what is paired in each combination of the rest."""
    for data in sorted({run.data for run in runs}):
        for what in FACTORS:
            groups: dict[tuple[object, ...], dict[str, Run]] = {}
            for run in runs:
                if run.data == data and what in run.factors:
                    rest = tuple(item for item in run.condition if item[0] != what)
                    groups.setdefault((run.model, run.task, rest), {})[run.factors[what]] = run
            values = ordered(what, {value for some in groups.values() for value in some})
            for one, other in combinations(values, 2):
                paired: dict[tuple[str, str], list[_Pairs]] = {}
                for (model, task, _), some in groups.items():
                    if one in some and other in some:
                        paired.setdefault((str(model), str(task)), []).append(_scores(some[one], some[other]))
                if paired:
                    yield what, (one, other), data, paired


def _scores(first: Run, second: Run) -> _Pairs:
    """The scores of the trials that both have one of, and the trials."""
    shared, one, other = np.intersect1d(
        first.samples.keys, second.samples.keys, assume_unique=True, return_indices=True
    )
    before, after = first.samples.scores[one], second.samples.scores[other]
    scored = ~np.isnan(before) & ~np.isnan(after)
    return before[scored], after[scored], [(first.task, key) for key in shared[scored].tolist()]


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
