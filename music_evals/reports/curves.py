"""Scores of a model by step of its training: the table of `music-evals curve`.

A curve has the runs of one task with the same questions and settings, of models whose names differ
in the step alone. Each step is compared with the step before and with the first one, as in
`comparisons`. Holm's correction is over all neighbours of a curve, and again over all comparisons
with its first step.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from inspect_ai.log import EvalSpec

from music_evals.reports.comparisons import PairedRun, paired_cells, paired_row, paired_run
from music_evals.reports.records import Records
from music_evals.reports.table import Rows, Table, count, notes

PATTERN = (
    r"(?i)(?:^.*(?<![a-z])(?:step|checkpoint|ckpt|iter(?:ation)?)s?[-_=:./ ]*|"
    r"(?<!\de)(?=[\d.]+/?$))(\d{1,15}(?:\.\d+)?)"
)
"""Where a name has its step: the last number behind such a word, else the number at the end."""


def curve_table(
    records: Records, by: str, pattern: str = ""
) -> tuple[Table, list[tuple[str, str]]]:
    """Make a table with a row per step of each curve.

    Args:
        records: of the logs.
        by: name of metadata, or of an argument of the model. A run without ``step`` has it in the
            name of its model.
        pattern: its group is the step in a text; by default `PATTERN`.

    Returns:
        The table, whose first column names the curve; location and reason of each log that is in
        none. Of several runs of a step the last one by the name of its log counts.

    Raises:
        ValueError: what the pattern finds is no number, or two runs have no question in common.
    """
    curves: defaultdict[str, dict[float, PairedRun]] = defaultdict(dict)
    left_out = [*records.passed_over]
    for number, run in records.runs[::-1].iterrows():
        step, model = _step(records.headers[number].eval, by, pattern or PATTERN)
        curve = ", ".join([model, *run[["section", "task", "condition", "data"]]])
        if step is None or step in curves[curve]:
            left_out.append((run["location"], "it has no step, or a later run of it counts"))
        else:
            curves[curve][step] = paired_run(records, number, run)
    rows: Rows = []
    for curve, by_step in sorted(curves.items()):
        steps, runs = zip(*sorted(by_step.items()), strict=True)
        for step, run, cells in zip(steps, runs, compare_steps(runs), strict=True):
            rows.append([curve, count(step), records.percent(run.number), *cells])
    columns = (
        "Curve",
        "Step",
        "Score",
        "Change",
        "Detectable",
        "p",
        "p (Holm)",
        "Since first",
        "First: detectable",
        "First: p",
        "First: p (Holm)",
    )
    optional = ("First: detectable", "First: p", "Detectable", "p")
    return Table("curve", "", columns, rows, notes("curve"), optional=optional), left_out


def compare_steps(runs: Sequence[PairedRun]) -> Rows:
    """Compare runs in the order of their steps: each with the one before and with the first.

    Returns:
        For each run: difference, detectable difference, p and corrected p of both comparisons.

    Raises:
        ValueError: two runs have no question in common.
    """
    before = [paired_row(*pair, ()) for pair in pairwise(runs)]
    first = [paired_row(runs[0], run, ()) for run in runs[1:]]
    if None in before + first:
        raise ValueError("two steps of a task have no question in common")
    pairs = zip(paired_cells(before), paired_cells(first), strict=True)
    return [[None] * 8, *(cells[2:6] + others[2:6] for cells, others in pairs)]


def _step(spec: EvalSpec, by: str, pattern: str) -> tuple[float | None, str]:
    """The step of a run, None without one; and its model with a star for the step."""
    model = spec.model
    facts = {"step": model, **spec.model_args, **(spec.metadata or {})}
    text = str(facts.get(by, ""))
    for step in re.findall(pattern, model):
        model = "*".join(model.rsplit(step, 1))
    return next(map(float, re.findall(pattern, text)), None), model
