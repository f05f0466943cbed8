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
from music_evals.reports.table import Cell, Rows, Table, text
from music_evals.reports.tables.common import NOT_PUBLISHED, Row, make_table, paper_labels
from music_evals.scorers.metrics.estimates import Estimate

_LEAST = 2  # columns with a run
_ORDER = ["is_complete", "is_published_test", "nearness", "n", "created"]
"""Of a model's runs of a task, the last in this order is shown."""


def group_tables(records: Records) -> list[Table]:
    """Make the table of each group of which at least two tasks were run."""
    tables = [_table(records, group) for group in load_groups().values()]
    return [table for table in tables if table.rows]


def beside_published(records: Records, group: Group, model: str = "") -> Table:
    """Make the table that a run of a group ends with: a row per task, in the order of the group,
    with measured figures beside all that others published; no rows if nobody did.

    Args:
        records: of the logs.
        group: whose tasks are shown.
        model: only the runs of this model, as Inspect names it.
    """
    runs = _runs(records, group)
    if model:
        runs = runs[runs["model"].str.partition(" [")[0] == model]
    measured = {name: _row(records, name, own)[1] for name, own in runs.groupby("model")}
    public: dict[str, dict[str, list[str]]] = {}
    for (name, source, *_), figures in _published(group.columns):
        for title, figure in figures.items():
            public.setdefault(title, {}).setdefault(str(source), []).append(f"{name} {text(figure)}")
    rows: Rows = []
    for column in group.columns:
        sources = public.get(column.title, {})
        cells = [f"{source}: {', '.join(figures)}" for source, figures in sources.items()]
        own = [figures.get(column.title) for figures in measured.values()]
        rows.append([column.title, *own, "; ".join(cells)])
    lines = [NOT_PUBLISHED, *_lower(group.columns)]
    headings = ["Task", *measured, "Published"]
    name, title = f"beside_{group.name}", f"{group.title}, in percent"
    return Table(name, title, headings, rows if public else [], lines)


def _table(records: Records, group: Group) -> Table:
    runs = _runs(records, group)
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
    sources = [f"{column.title}: {paper.source}." for column, paper in _tables_of(columns)]
    return replace(table, notes=[*table.notes, *sources, *_lower(columns)])


def _lower(columns: Sequence[Column]) -> list[str]:
    return [f"{column.title}: lower is better." for column in columns if column.lower_is_better]


def _runs(records: Records, group: Group) -> pd.DataFrame:
    """Each model's run of each task that is shown."""
    shown = []
    for column in group.columns:
        task = column.task
        runs = with_music(records.current(task.benchmark, task=task.name, **column.parameters))
        runs = runs.assign(title=column.title, metric=column.metric, nearness=-runs["changes"])
        shown.append(runs.sort_values(_ORDER).drop_duplicates("model", keep="last"))
    return pd.concat(shown)


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
