"""Scores of a model by step of its training: the table of `music-evals curve`.

A curve has the runs of one task with the same questions and settings, of models whose names differ
in the step alone. Each step is compared with the step before as in `comparisons`, and a line is
fitted to all of them. Both tests allow for checkpoints that wobble, see `scorers.metrics.trends`;
Holm's correction is over all neighbours of a curve.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan

import numpy as np
from inspect_ai.log import EvalSpec

from music_evals.reports.comparisons import (
    PairedRow,
    PairedRun,
    paired_cells,
    paired_row,
    paired_run,
)
from music_evals.reports.records import Records
from music_evals.reports.table import P_DECIMALS, Rows, Table, count, notes, number, text
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import holm
from music_evals.scorers.metrics.trends import score_of_chosen, step_tests, trend_test

PATTERN = (
    r"(?i)(?:^.*(?<![a-z])(?:step|checkpoint|ckpt|iter(?:ation)?)s?[-_=:./ ]*|"
    r"(?<!\de)(?=[\d.]+/?$))(\d{1,15}(?:\.\d+)?)"
)
"""Where a name has its step: the last number behind such a word, else the number at the end."""


def curve_table(
    records: Records, by: str, pattern: str = ""
) -> tuple[Table, Mapping[str, Sequence[str]], list[tuple[str, str]]]:
    """Make a table with a row per step of each curve.

    Args:
        records: of the logs.
        by: name of metadata, or of an argument of the model. A run without ``step`` has it in the
            name of its model.
        pattern: its group is the step in a text; by default `PATTERN`.

    Returns:
        The table, whose first column names the curve; what is said of each curve; location and
        reason of each log that is in none. Of several runs of a step the last one by the name of
        its log counts.

    Raises:
        ValueError: what the pattern finds is no number, or two runs have no question in common.
    """
    curves: defaultdict[str, dict[float, PairedRun]] = defaultdict(dict)
    left_out = [*records.passed_over]
    for place, run in records.runs[::-1].iterrows():
        step, model = _step(records.headers[place].eval, by, pattern or PATTERN)
        curve = ", ".join([model, *run[["section", "task", "condition", "data"]]])
        if step is None or step in curves[curve]:
            left_out.append((run["location"], "it has no step, or a later run of it counts"))
        else:
            curves[curve][step] = paired_run(records, place, run)
    rows: Rows = []
    sentences = {}
    for curve, by_step in sorted(curves.items()):
        steps, runs = zip(*sorted(by_step.items()), strict=True)
        before = _paired_rows([*pairwise(runs)])
        first = _paired_rows([(runs[0], run) for run in runs[1:]])
        changes: Rows = [[None] * 5]
        for own, since in zip(_cells_of_changes(before), paired_cells(first), strict=True):
            changes.append([*own, since[2]])
        for step, run, change in zip(steps, runs, changes, strict=True):
            rows.append([curve, count(step), records.percent(run.number), *change])
        sentences[curve] = [*_say_trend(runs, before), *_say_best(steps, runs)]
    columns = ("Curve", "Step", "Score", "Change", "Detectable", "p", "p (Holm)", "Since first")
    table = Table("curve", "", columns, rows, notes("curve"), optional=("Detectable", "p"))
    return table, sentences, left_out


def _paired_rows(pairs: Sequence[tuple[PairedRun, PairedRun]]) -> list[PairedRow]:
    rows = []
    for earlier, later in pairs:
        row = paired_row(earlier, later, ())
        if row is None:
            raise ValueError("two steps of a task have no question in common")
        rows.append(row)
    return rows


def _cells_of_changes(rows: Sequence[PairedRow]) -> Rows:
    """Difference, detectable difference, p, and the corrected p that allows for wobble."""
    comparisons = [row.comparison for row in rows]
    ps = step_tests(
        np.array([comparison.difference for comparison in comparisons]),
        np.array([comparison.variance / comparison.pairs for comparison in comparisons]),
    )
    # What the questions alone do not show is not shown.
    either = [max(p, comparison.p) for p, comparison in zip(ps, comparisons, strict=True)]
    corrected = [Estimate(p, decimals=P_DECIMALS) for p in holm(either)]
    return [[*row[2:5], p] for row, p in zip(paired_cells(rows), corrected, strict=True)]


def _say_trend(runs: Sequence[PairedRun], changes: Sequence[PairedRow]) -> list[str]:
    """Say how a line through the scores rises, from three steps on."""
    scores = [run.score.value / 100 for run in runs if run.score]
    variance = np.mean([row.comparison.variance / row.comparison.pairs for row in changes])
    if not len(runs) == len(scores) > 2 or isnan(variance):
        return []
    trend = trend_test(np.array(scores), float(variance))
    rise = text(Estimate(trend.rise, trend.low, trend.high).percent())
    p = number(Estimate(trend.p, decimals=P_DECIMALS))
    return [f"Trend: {rise} points from the first step to the last, by a line; p {p}."]


def _say_best(steps: Sequence[float], runs: Sequence[PairedRun]) -> list[str]:
    """Say which step is the best, and what it is worth on questions that did not choose it."""
    shared = [pair for pair in runs[0].answers if all(pair in run.answers for run in runs)]
    facts = [runs[0].answers[pair] for pair in shared]
    scored = [(run.score, step) for run, step in zip(runs, steps, strict=True) if run.score]
    clusters = [answer.cluster for answer in facts]
    if len(scored) < 2 or len({*clusters}) < 2:
        return []
    score, step = max(scored, key=lambda pair: pair[0].value)
    sizes = Counter(answer.stratum for answer in facts)
    weights = np.array([1 / sizes[answer.stratum] for answer in facts])
    values = np.array([[run.answers[pair].value for run in runs] for pair in shared])
    fair = Estimate(100 * score_of_chosen(values, weights, clusters), decimals=1)
    return [
        f"Best: step {step:g}, {text(replace(score, decimals=1))}. Chosen by one half of the "
        f"questions and scored on the other half, the best step has {text(fair)}."
    ]


def _step(spec: EvalSpec, by: str, pattern: str) -> tuple[float | None, str]:
    """The step of a run, None without one; and its model with a star for the step."""
    model = spec.model
    facts = {"step": model, **spec.model_args, **(spec.metadata or {})}
    text = str(facts.get(by, ""))
    for step in re.findall(pattern, model):
        model = "*".join(model.rsplit(step, 1))
    return next(map(float, re.findall(pattern, text)), None), model
