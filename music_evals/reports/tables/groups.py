"""Tables of the groups in ``benchmarks/groups.toml``: a row per model, a column per task, beside
figures that others published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from music_evals.benchmarks import published
from music_evals.benchmarks.groups import Column, Group, load_groups
from music_evals.reports.records import Records
from music_evals.reports.summary import with_music
from music_evals.reports.table import MEASURED, PUBLISHED, Cell, Rows, Table, notes
from music_evals.reports.tables.common import NOT_PUBLISHED, THIRD_PARTY
from music_evals.scorers.metrics.estimates import Estimate

_LEAST = 2  # columns with a run
_ORDER = ["is_complete", "is_published_test", "nearness", "n", "created"]
"""Of a model's runs of a task, the last in this order is shown."""
_Figures = dict[tuple[str, str], dict[str, Estimate]]
"""Model and source → figures by the title of their column."""


def group_tables(records: Records) -> list[Table]:
    """Make the table of each group of which at least two tasks were run."""
    tables = [_table(records, group) for group in load_groups().values()]
    return [table for table in tables if table.rows]


def _table(records: Records, group: Group) -> Table:
    measured = _measured(records, group)
    scored = {title for figures in measured.values() for title in figures}
    columns = [column for column in group.columns if column.title in scored]
    if len(columns) < _LEAST:
        return Table(group.name, group.title, ("Model", "Source"), [])
    rows: Rows = []
    kinds: list[str] = []
    for kind, by_model in ((PUBLISHED, _published(columns)), (MEASURED, measured)):
        for label, figures in by_model.items():
            cells: list[Cell] = [figures.get(column.title) for column in columns]
            rows.append([*label, *cells])
            kinds.append(kind)
    headings = ("Model", "Source", *(column.title for column in columns))
    title = f"{group.title}, in percent"
    lines = [*_notes(columns, measured)]
    return Table(f"group_{group.name}", title, headings, rows, lines, kinds)


def _measured(records: Records, group: Group) -> _Figures:
    """The figures of each model that ran a task of a group."""
    figures: _Figures = {}
    for column in group.columns:
        runs = with_music(
            records.current(column.task.benchmark, task=column.task.name, **column.parameters)
        )
        runs = runs.assign(nearness=-runs["changes"])
        for number, run in runs.sort_values(_ORDER).iterrows():
            if score := records.percent(number, column.metric):
                mark = "" if run["is_published_test"] else "†"
                row = figures.setdefault((run["model"], MEASURED), {})
                row[column.title] = replace(score, mark=mark + score.mark)
    return figures


def _published(columns: Sequence[Column]) -> _Figures:
    """The figures that others published, of columns that have any."""
    figures: _Figures = {}
    for column in columns:
        for row in published(column.task.benchmark, THIRD_PARTY).rows if column.published else ():
            if column.published in row.figures:
                label = row.labels["model"], row.labels.get("source", "third party")
                value = row.figures[column.published]
                figures.setdefault(label, {})[column.title] = Estimate(value)
    return figures


def _notes(columns: Sequence[Column], measured: _Figures) -> Iterator[str]:
    yield "Measured figures are followed by their 95% interval and the number of items."
    marks = [figure.mark for figures in measured.values() for figure in figures.values()]
    if any("†" in mark for mark in marks):
        yield NOT_PUBLISHED
    lower = [column.title for column in columns if column.lower_is_better]
    if lower:
        yield f"Lower is better: {', '.join(lower)}."
    sources: dict[str, list[str]] = {}
    for column in columns:
        if column.published:
            source = published(column.task.benchmark, THIRD_PARTY).source
            sources.setdefault(source, []).append(column.title)
    if sources:
        yield from notes("third_party_reports")
    for source, titles in sources.items():
        yield f"{', '.join(titles)}: {source}."
