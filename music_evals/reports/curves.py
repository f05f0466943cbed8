"""Scores of a model by step of its training: the table of `music-evals curve`.

A curve has the runs of one task with the same questions and settings, of models whose names differ
in the step alone. Each step is compared with the step before and with the first one, as in
`comparisons`. Holm's correction is over all neighbours of a curve, and again over all comparisons
with its first step.
"""

import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from inspect_ai.log import EvalSpec

from music_evals.reports.comparisons import PairedRun, paired_cells, paired_row, paired_run
from music_evals.reports.records import Records
from music_evals.reports.table import Rows, Table, count, notes

STEP = "step"
"""The metadata, or the argument, that has the step by default."""
PATTERN = (
    r"(?i)(?:^.*(?<![a-z])(?:step|checkpoint|ckpt|iter(?:ation)?)s?[-_=:./ ]*|"
    r"(?<!\de)(?=[\d.]+/?$))(\d{1,15}(?:\.\d+)?)"
)
"""Where a name has its step: the last number behind such a word, else the number at the end."""

_outcomes = operator.itemgetter(2, 4, 5)  # difference and both p, in the cells of `paired_cells`


def curve_table(
    records: Records, by: str = STEP, pattern: str = PATTERN
) -> tuple[Table, list[tuple[str, str]]]:
    """Make a table with a row per step of each curve.

    Args:
        records: of the logs.
        by: name of metadata, or of an argument of model or task. A run without `STEP` has its step
            in the name of its model.
        pattern: its group is the step in a text.

    Returns:
        The table, whose first column names the curve; location and reason of each run that is in
        none. Of several runs of a step the last one by the name of its log counts.

    Raises:
        ValueError: what the pattern finds is no number, or two runs have no question in common.
    """
    curves: defaultdict[str, dict[float, PairedRun]] = defaultdict(dict)
    left_out = []
    for number, run in records.runs[::-1].iterrows():
        step, model = _step(records.headers[number].eval, by, pattern)
        curve = ", ".join([model, *run[["section", "task", "condition", "data"]]])
        if step is None or step in curves[curve]:
            left_out.append((run["location"], f"it has no {by}, or a later run of it counts"))
        else:
            curves[curve][step] = paired_run(records, number, run)
    rows: Rows = []
    for curve, by_step in sorted(curves.items()):
        steps, runs = zip(*sorted(by_step.items()), strict=True)
        for step, run, cells in zip(steps, runs, compare_steps(runs), strict=True):
            rows.append([curve, count(step), records.percent(run.number), *cells])
    columns = ("Curve", "Step", "Score", "Change", "p", "p (Holm)")
    columns += ("Since first", "First: p", "First: p (Holm)")
    return Table("curve", "", columns, rows, notes("curve"), optional=("First: p", "p")), left_out


def compare_steps(runs: Sequence[PairedRun]) -> Rows:
    """Compare runs in the order of their steps: each with the one before and with the first.

    Returns:
        For each run: difference, p and corrected p of both comparisons.

    Raises:
        ValueError: two runs have no question in common.
    """
    before = _compared(pairwise(runs))
    first = _compared((runs[0], run) for run in runs[1:])
    return list(map(operator.add, before, first))


def _compared(pairs: Iterable[tuple[PairedRun, PairedRun]]) -> Rows:
    """The outcomes of pairs of runs, corrected together, behind an empty row."""
    rows = [paired_row(*pair, ()) for pair in pairs]
    if None in rows:
        raise ValueError("two steps of a task have no question in common")
    return [[None] * 3, *([*_outcomes(cells)] for cells in paired_cells(rows))]


def _step(spec: EvalSpec, by: str, pattern: str) -> tuple[float | None, str]:
    """The step of a run, None without one; and its model with a star for the step."""
    facts = {**spec.model_args, **spec.task_args, **(spec.metadata or {})}
    model = spec.model
    text = str(facts.get(by, model if by == STEP else ""))
    for step in re.findall(pattern, model)[:1]:
        model = "*".join(model.rsplit(step, 1))
    return next(map(float, re.findall(pattern, text)), None), model
