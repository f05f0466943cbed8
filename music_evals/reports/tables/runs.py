"""The table that a run ends with: the score of each task beside its floor, and what it took."""

from dataclasses import replace
from math import isnan

import pandas as pd

from music_evals.reports.records import Records
from music_evals.reports.run_metadata import DEFAULT
from music_evals.reports.table import Cell, Rows, Table, count, notes, share
from music_evals.reports.tables.common import best_floor, percent

_GENERATED = "generated"
_SHARES = ("cut", "no_decision")


def run_table(records: Records, model: str = "") -> Table:
    """Make the table of current runs, in percent.

    Args:
        records: of the logs.
        model: only the runs of this model, as Inspect names it.
    """
    runs = records.runs[records.runs["is_current"]]
    if model:
        runs = runs[runs["model"].str.partition(" [")[0] == model]
    rows: Rows = []
    for number, run in runs.iterrows():
        items = records.main[number].drop_duplicates(["sample", "epoch"])
        score = records.percent(number)
        tokens = items["tokens"].sum() if "tokens" in items else None
        cut, undecided = [share(run[name]) if run[name] > 0 else "" for name in _SHARES]
        rows.append(
            [
                f"{run['benchmark']} {run['task']}",
                run["model"],
                run["condition"],
                score and replace(score, unread=None),
                percent(best_floor(records.floors(number))),
                records.percent(number, _by_rules(run)),
                "" if isnan(run["unread"]) else share(run["unread"]),
                cut,
                undecided,
                count(tokens),
                count(run["seconds"]),
                _data_of(run),
            ]
        )
    rows.sort(key=lambda row: str(row[0]))
    columns = [
        "Task",
        "Model",
        "Asked with",
        "Score",
        "Floor",
        "By rules",
        "Unread",
        "Cut",
        "No decision",
        "Tokens",
        "Seconds",
        "Data",
    ]
    alike = [name for name in ("model", "condition") if runs[name].nunique() < 2]
    optional = [{"model": "Model", "condition": "Asked with"}[name] for name in alike]
    title = "Scores of this run, in percent"
    if len(runs) and "Asked with" in optional and runs["condition"].iloc[0] != DEFAULT:
        title = f"{title}, asked with {runs['condition'].iloc[0]}"
    droppable = ("Seconds", "Tokens", "Data", "Cut", "Unread")
    table = Table("runs", title, columns, rows, notes("runs"), optional=droppable)
    empty = [name for place, name in enumerate(columns) if not any(row[place] for row in rows)]
    return table.without(*optional, *empty)


def _by_rules(run: pd.Series) -> str:
    return f"{run['main_metric'].partition('/')[0]}/accuracy_by_rules"


def _data_of(run: pd.Series) -> Cell:
    if run["is_published_test"]:
        return "published test"
    return "look-alike" if str(run["data"]).startswith(_GENERATED) else run["data"]
