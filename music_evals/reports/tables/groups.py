"""Tables of the groups in ``benchmarks/groups.toml``: a row per model, a column per task, beside
figures that others published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pandas as pd

from music_evals.benchmarks import Published, published, published_names
from music_evals.benchmarks.groups import Column, Group, load_groups
from music_evals.reports.records import Records
from music_evals.reports.summary import with_music
from music_evals.reports.table import Cell, Table
from music_evals.reports.tables.common import BY_TASK, THIRD_PARTY, Row, make_table, paper_labels
from music_evals.scorers.metrics.estimates import Estimate

_LEAST = 2  # columns with a run
_ORDER = ["is_complete", "is_published_test", "nearness", "n", "created"]
"""Of a model's runs of a task, the last in this order is shown."""


def group_tables(records: Records) -> list[Table]:
    """Make the table of each group of which at least two tasks were run."""
    tables = [_table(records, group) for group in load_groups().values()]
    return [table for table in tables if table.rows]


def _table(records: Records, group: Group) -> Table:
    shown = []
    for column in group.columns:
        task = column.task
        runs = with_music(records.current(task.benchmark, task=task.name, **column.parameters))
        runs = runs.assign(title=column.title, metric=column.metric, nearness=-runs["changes"])
        shown.append(runs.sort_values(_ORDER).drop_duplicates("model", keep="last"))
    runs = pd.concat(shown)
    titles = {*runs["title"]}
    columns = [column for column in group.columns if column.title in titles]
    by_model = runs.groupby("model") if len(columns) >= _LEAST else ()
    table = make_table(
        f"group_{group.name}",
        f"{group.title}, in percent",
        [column.title for column in columns],
        [_row(records, model, own) for model, own in by_model],
        runs,
        published=_published(columns),
        note="third_party_reports",
    )
    return replace(table, notes=[*table.notes, *_notes(columns)])


def _row(records: Records, model: str, runs: pd.DataFrame) -> Row:
    """The row of a model, from the runs that are shown."""
    figures: dict[str, Cell] = {}
    for number, run in runs.iterrows():
        score = records.percent(number, run["metric"])
        mark = "" if run["is_published_test"] else "†"
        figures[run["title"]] = score and replace(score, mark=mark)
    conditions, data = ("; ".join(dict.fromkeys(runs[name])) for name in ("condition", "data"))
    return [model, "measured", conditions, data], figures


def _published(columns: Sequence[Column]) -> Iterator[Row]:
    """The figures that others published, by model and source."""
    figures: dict[tuple[str, ...], dict[str, Cell]] = {}
    for column in columns:
        for row in chain.from_iterable(table.rows for table in _tables_of(column)):
            model, source, *_ = row.labels.values()
            if column.figure in row.figures:
                value = Estimate(row.figures[column.figure])
                figures.setdefault((model, source), {})[column.title] = value
    for label, values in figures.items():
        yield paper_labels(*label), values


def _tables_of(column: Column) -> list[Published]:
    """The published tables that have a column's figure."""
    benchmark = column.task.benchmark
    names = {BY_TASK, THIRD_PARTY}.intersection(published_names(benchmark))
    tables = [published(benchmark, name) for name in sorted(names)]
    return [table for table in tables if column.figure in table.rows[0].figures]


def _notes(columns: Sequence[Column]) -> Iterator[str]:
    """Where published figures are from, and which measured ones are better if they are low."""
    for column in columns:
        for table in _tables_of(column):
            yield f"{column.title}: {table.source}."
        if column.lower_is_better:
            yield f"{column.title}: lower is better."
