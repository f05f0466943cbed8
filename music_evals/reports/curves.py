"""Scores of a model by step of its training: the table of `music-evals curve`.

A curve has the runs of one task with the same questions and settings, of models whose names differ
in the step alone. Each step is compared with the step before as in `comparisons`, and all steps are
tested for a trend. Both tests allow for checkpoints that wobble, see `scorers.metrics.trends`;
Holm's correction is over all neighbours of a curve.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from inspect_ai.log import EvalSpec

from music_evals.reports.comparisons import PairedRun, paired_cells, paired_row, paired_run
from music_evals.reports.records import Records
from music_evals.reports.table import P_DECIMALS, Rows, Table, count, notes, number
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import holm
from music_evals.scorers.metrics.trends import score_of_chosen, step_tests, trend_p

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
        changes: Rows = [[None] * 5, *compare_steps(runs)]
        for step, run, change in zip(steps, runs, changes, strict=True):
            rows.append([curve, count(step), records.percent(run.number), *change])
        sentences[curve] = _sentences(steps, runs)
    columns = ("Curve", "Step", "Score", "Change", "Detectable", "p", "p (Holm)", "Since first")
    table = Table("curve", "", columns, rows, notes("curve"), optional=("Detectable", "p"))
    return table, sentences, left_out


def compare_steps(runs: Sequence[PairedRun]) -> Rows:
    """Compare runs in the order of their steps: each with the one before and with the first.

    Returns:
        For each run but the first: its change, the detectable change, p, the corrected p that
        allows for wobble, and its difference to the first run.

    Raises:
        ValueError: two runs have no question in common.
    """
    before = [paired_row(*pair, ()) for pair in pairwise(runs)]
    first = [paired_row(runs[0], run, ()) for run in runs[1:]]
    comparisons = [row.comparison for row in before if row]
    if len(comparisons) < len(before) or not all(first):
        raise ValueError("two steps of a task have no question in common")
    differences = np.array([pair.difference for pair in comparisons])
    variances = np.array([pair.variance / pair.pairs for pair in comparisons])
    by_questions = [pair.p for pair in comparisons]
    corrected = holm([*map(max, step_tests(differences, variances), by_questions)])
    cells = zip(paired_cells(before), corrected, paired_cells(first), strict=True)
    return [[*own[2:5], Estimate(p, decimals=P_DECIMALS), since[2]] for own, p, since in cells]


def _sentences(steps: Sequence[float], runs: Sequence[PairedRun]) -> list[str]:
    """What is said of a curve of several steps: its trend, and the best step."""
    shared = [pair for pair in runs[0].answers if all(pair in run.answers for run in runs)]
    values = np.array([[run.answers[pair].value for run in runs] for pair in shared])
    clusters = [runs[0].answers[pair].cluster for pair in shared]
    if len(runs) < 2 or len({*clusters}) < 2:
        return []
    scores = values.mean(axis=0)
    p, best = trend_p(scores), int(scores.argmax())
    fair = score_of_chosen(values, clusters)
    return [
        f"Trend over {len(runs)} steps: p {number(Estimate(p, decimals=P_DECIMALS))}.",
        f"Best step: {steps[best]:g}, {100 * scores[best]:.1f} on the {len(shared)} questions of "
        f"all steps. If one half chooses and the other half scores: {100 * fair:.1f}.",
    ]


def _step(spec: EvalSpec, by: str, pattern: str) -> tuple[float | None, str]:
    """The step of a run, None without one; and its model with a star for the step."""
    model = spec.model
    facts = {"step": model, **spec.model_args, **(spec.metadata or {})}
    text = str(facts.get(by, ""))
    for step in filter(None, re.findall(pattern, model)):
        model = "*".join(model.rsplit(step, 1))
    return next(map(float, filter(None, re.findall(pattern, text))), None), model
