"""Tables of the groups in ``benchmarks/groups.toml``: a row per model, a column per task, beside
figures that others published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from music_evals.benchmarks import Published, published, published_names
from music_evals.benchmarks.groups import Column, Group, load_groups
from music_evals.reports.records import Records
from music_evals.reports.summary import with_music
from music_evals.reports.table import MEASURED, Cell, Rows, Table, text
from music_evals.reports.tables.common import Row, make_table, paper_labels
from music_evals.scorers.metrics.estimates import Estimate

_LEAST = 2  # columns with a run
_ORDER = ["is_complete", "is_published_test", "nearness", "n", "created"]
"""Of a model's runs of a task, the last in this order is shown."""


def group_tables(records: Records) -> list[Table]:
    """Make the table of each group of which at least two tasks were run."""
    tables = [_table(records, group) for group in load_groups().values()]
    return [table for table in tables if table.rows]


def beside_published(records: Records, group: Group) -> Table:
    """Make the table that a run of a group ends with: a row per task, in the order of the group,
    with measured figures beside all that others published.
    """
    wide = _table(records, group, group.columns)
    measured = [row for row in wide.rows if row[1] == MEASURED]
    rows: Rows = []
    for place, title in [*enumerate(wide.columns)][-len(group.columns) :]:
        public: dict[Cell, str] = {}
        for row in wide.rows[: -len(measured)]:
            if row[place]:
                others = public.get(row[1], f"{row[1]}:")
                public[row[1]] = f"{others} {row[0]} {text(row[place])};"
        rows.append([title, *(row[place] for row in measured), " ".join(public.values())])
    headings = ["Task", *(str(row[0]) for row in measured), "Published"]
    return Table(f"beside_{group.name}", wide.title, headings, rows, wide.notes)


def _table(records: Records, group: Group, columns: Sequence[Column] = ()) -> Table:
    """Make the table of a group with these columns; by default those of which a task was run."""
    shown = []
    for column in group.columns:
        task = column.task
        runs = with_music(records.current(task.benchmark, task=task.name, **column.parameters))
        runs = runs.assign(title=column.title, metric=column.metric, nearness=-runs["changes"])
        shown.append(runs.sort_values(_ORDER).drop_duplicates("model", keep="last"))
    runs = pd.concat(shown)
    titles = {*runs["title"]}
    columns = columns or [column for column in group.columns if column.title in titles]
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
    sources = [f"{column.title}: {paper.source}." for column, paper in _tables_of(columns)]
    lower = [f"{column.title}: lower is better." for column in columns if column.lower_is_better]
    return replace(table, notes=[*table.notes, *sources, *lower])


def _row(records: Records, model: str, runs: pd.DataFrame) -> Row:
    """The row of a model, from the runs that are shown."""
    figures = {}
    for number, run in runs.iterrows():
        score = records.percent(number, run["metric"])
        mark = "" if run["is_published_test"] else "†"
        figures[run["title"]] = score and replace(score, mark=mark)
    conditions, data = ("; ".join(dict.fromkeys(runs[name])) for name in ("condition", "data"))
    return [model, "measured", conditions, data], figures


def _published(columns: Sequence[Column]) -> Iterator[Row]:
    """The figures that others published, by model and source."""
    figures: dict[tuple[str, str], dict[str, Cell]] = {}
    for column, table in _tables_of(columns):
        for row in table.rows:
            model, source, *_ = (*row.labels.values(), "paper")
            if column.figure in row.figures:
                value = Estimate(row.figures[column.figure], decimals=2)
                figures.setdefault((model, source), {})[column.title] = value
    for label, values in figures.items():
        yield paper_labels(*label), values


def _tables_of(columns: Sequence[Column]) -> Iterator[tuple[Column, Published]]:
    """Each column with the published tables that have its figure."""
    for column in columns:
        if column.table in published_names(column.task.benchmark):
            table = published(column.task.benchmark, column.table)
            if any(column.figure in row.figures for row in table.rows):
                yield column, table
