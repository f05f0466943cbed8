"""The table that a run ends with: the score of each task beside its floor, and what it took."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan

import pandas as pd

from music_evals.benchmarks import load
from music_evals.reports.overview import short
from music_evals.reports.records import PARTIAL, Records
from music_evals.reports.run_metadata import DEFAULT
from music_evals.reports.table import (
    Cell,
    Rows,
    Table,
    count,
    floor_notes,
    notes,
    number,
    share,
    shown_decimals,
)
from music_evals.reports.tables.common import best_floor, percent
from music_evals.scorers.metrics.estimates import Estimate

_GENERATED = "generated"
_LOOK_ALIKE = "look-alike"
_OF_ALL = {
    "Model": "model {}",
    "Condition": "asked with {}",
    "Asked": "{}",
    "Unread": "{} unread",
    "Collapse": "{} of the answers alike",
    "Cut": "{} cut",
    "No decision": "{} without a decision",
    "By rules": "{} by rules",
    "Questions": "questions per task: {}",
    "Tokens": "tokens: {}",
    "Data": "data: {}",
}
"""Heading → what a note says in the place of the column if all rows have the same."""
_OPTIONAL = ("Tokens", "Questions", "Cut", "No decision", "Data", "Time", "Collapse", "Unread")


def run_table(records: Records, model: str = "") -> Table:
    """Make the table of current runs, in percent; what all rows have is in its notes.

    Args:
        records: of the logs.
        model: only the runs of this model, as Inspect names it.
    """
    runs = records.runs[records.runs["is_current"]]
    if model:
        runs = runs[runs["model"].str.partition(" [")[0] == model]
    runs = runs.sort_values(["benchmark", "task", "model", "condition"])
    names = _short_names(runs["model"])
    scores = _same_decimals([records.percent(run) for run in runs.index])
    floors = [percent(best_floor(records.floors(run))) for run in runs.index]
    cells = [
        _cells(records, run, score, floor) | {"Model": names[runs.at[run, "model"]]}
        for run, score, floor in zip(runs.index, scores, floors, strict=True)
    ]
    common = _common(cells)
    titles = [load(benchmark).title for benchmark in runs["benchmark"]]
    tasks = {*zip(titles, runs["task"], strict=True)}
    headings = [name for name in (cells[0] if cells else ()) if name not in common]
    title = f"{titles[0]}: scores" if len({*titles}) == 1 else "Scores"
    if len(tasks) == 1 and "Model" in headings:
        title = f"{titles[0]}, {runs['task'].iloc[0]}: scores"
        headings.remove("Task")
    rows: Rows = []
    for place, (benchmark, row) in enumerate(zip(titles, cells, strict=True)):
        if len({*titles}) > 1 and benchmark not in titles[:place]:
            rows.append([benchmark, *[None] * (len(headings) - 1)])
        rows.append([row[name] for name in headings])
    said = [
        text.format(common[name])
        for name, text in _OF_ALL.items()
        if common.get(name, DEFAULT) not in ("", DEFAULT)
    ]
    lines = [f"In all rows: {'; '.join(said)}."] if said else []
    lines += [*notes("runs"), *floor_notes(floor.name for floor in floors if floor)]
    if any(row["Data"] == _LOOK_ALIKE for row in cells):
        lines += notes("runs_data")
    title = f"{title} in percent"
    return Table("runs", title, headings, rows, lines, optional=_OPTIONAL, in_lines=True)


def _cells(
    records: Records, number_of_run: int, score: Estimate | None, floor: Estimate | None
) -> dict[str, Cell]:
    """The cells of a run, by heading."""
    run, items = records.runs.loc[number_of_run], records.main[number_of_run]
    items = items.drop_duplicates(["sample", "epoch"])
    words = [word for word in run["words"] if word != PARTIAL]
    scorer = run["main_metric"].partition("/")[0]
    shown_floor = floor and f"{number(replace(floor, decimals=0))} {floor.name}"
    unread = "" if isnan(run["unread"]) else share(run["unread"])
    cut = share(run["cut"]) if run["cut"] > 0 else ""
    no_decision = share(run["no_decision"]) if run["no_decision"] > 0 else ""
    found = run["collapse"]
    collapse = share(found.share) if found and found.is_collapsed else ""
    tokens = items["tokens"].sum() if "tokens" in items else None
    return {
        "Task": run["task"],
        "Model": run["model"],
        "Condition": ", ".join(words) or DEFAULT,
        "Score": score and replace(score, n=None, unread=None),
        "Floor": shown_floor,
        "Asked": "" if run["is_complete"] else PARTIAL,
        "Unread": unread,
        "Collapse": collapse,
        "By rules": records.percent(number_of_run, f"{scorer}/accuracy_by_rules"),
        "Cut": cut,
        "No decision": no_decision,
        "Questions": count(run["n"]),
        "Tokens": count(tokens),
        "Time": _time(run["seconds"]),
        "Data": _data_of(run),
    }


def _common(cells: Sequence[Mapping[str, Cell]]) -> dict[str, str]:
    """What all rows have, by heading; an empty text where none has any."""
    common = {}
    for name in _OF_ALL:
        texts = {_word(row[name]) for row in cells}
        if len(texts) == 1:
            common[name] = texts.pop()
    return common


def _word(cell: Cell) -> str:
    return number(cell) if isinstance(cell, Estimate) else cell or ""


def _short_names(models: pd.Series) -> dict[str, str]:
    """Models as rows name them: without provider and organisation, unless two would be alike."""
    names = {model: short(model) for model in models}
    alike = [*names.values()]
    return {model: model if alike.count(name) > 1 else name for model, name in names.items()}


def _same_decimals(scores: Sequence[Estimate | None]) -> list[Estimate | None]:
    """Scores with as many decimals as the widest of their intervals allows."""
    least = min((shown_decimals(score) for score in scores if score), default=0)
    return [score and replace(score, decimals=least) for score in scores]


def _time(seconds: float | None) -> str:
    if seconds is None or isnan(seconds):
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _data_of(run: pd.Series) -> Cell:
    if run["is_published_test"]:
        return "published test"
    return _LOOK_ALIKE if str(run["data"]).startswith(_GENERATED) else run["data"]
