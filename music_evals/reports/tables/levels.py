"""Scores by level of difficulty, of tasks with ``-T level=``."""

import pandas as pd

from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table
from music_evals.reports.tables.common import in_order, labels, make_table, title_of
from music_evals.scorers.metrics.estimates import Estimate

_HEADINGS = {str(level): f"Level {level}" for level in range(1, 6)}
_LOST = "Below 50% from"
_HALF = 50
_LEAST = 2  # levels in a row


def levels_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores by level in percent: a row per task, model and condition, with the
    level from which on the score is below 50%.
    """
    runs = records.current(benchmark)
    by_labels: dict[tuple[Cell, ...], dict[str, Cell]] = {}
    for number, run in in_order(runs, "task").iterrows() if "level" in runs else ():
        key = (title_of(run["task"]), *labels(run, ["level"]))
        by_labels.setdefault(key, {}).update(_scores(records, number, run))
    measured = []
    for cells, scores in by_labels.items():
        if len(scores) >= _LEAST:
            ordered = {heading: scores.get(heading) for heading in _HEADINGS.values()}
            measured.append((cells, {**ordered, _LOST: _lost(ordered)}))
    columns = [*_HEADINGS.values(), _LOST]
    title = "Scores by level, in percent"
    groups = ["Task"]
    return make_table("levels", title, columns, measured, runs, groups=groups, is_drawn=True)


def _scores(records: Records, number: int, run: pd.Series) -> dict[str, Cell]:
    """The scores of a run by heading: that of its level, or those of all levels."""
    level = str(run["level"]).removesuffix(".0")
    if level in _HEADINGS:
        return {_HEADINGS[level]: records.percent(number)}
    scores: dict[str, Cell] = {}
    for name, heading in _HEADINGS.items():
        if level == "all" and (score := records.percent(number, group=f"ladder_level={name}")):
            scores[heading] = score
    return scores


def _lost(scores: dict[str, Cell]) -> str | None:
    """The heading of the first level from which on all measured scores are below 50%."""
    lost = None
    for heading, score in scores.items():
        if isinstance(score, Estimate):
            is_below = score.value < _HALF
            lost = (lost or heading) if is_below else None
    return lost
