"""Tables of the groups in ``benchmarks/groups.toml``: a row per model, a column per task, beside
figures that others published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from music_evals.benchmarks import published
from music_evals.benchmarks.groups import Column, Group, load_groups
from music_evals.reports.records import Records
from music_evals.reports.summary import with_music
from music_evals.reports.table import Cell, Table
from music_evals.reports.tables.common import THIRD_PARTY, Row, make_table, paper_labels
from music_evals.scorers.metrics.estimates import Estimate

_LEAST = 2  # columns with a run
_ORDER = ["is_complete", "is_published_test", "nearness", "n", "created"]
"""Of a model's runs of a task, the last in this order is shown."""


def group_tables(records: Records) -> list[Table]:
    """Make the table of each group of which at least two tasks were run."""
    tables = [_table(records, group) for group in load_groups().values()]
    return [table for table in tables if table.rows]


def _table(records: Records, group: Group) -> Table:
    by_model: dict[str, dict[str, int]] = {}  # model → title of a column → run
    for column in group.columns:
        task = column.task
        runs = with_music(records.current(task.benchmark, task=task.name, **column.parameters))
        runs = runs.assign(nearness=-runs["changes"]).sort_values(_ORDER)
        for number, model in runs["model"].items():
            by_model.setdefault(model, {})[column.title] = number
    numbers = [number for shown in by_model.values() for number in shown.values()]
    run_titles = {title for shown in by_model.values() for title in shown}
    columns = [column for column in group.columns if column.title in run_titles]
    is_shown = len(columns) >= _LEAST
    measured = [_row(records, model, columns, by_model[model]) for model in by_model if is_shown]
    table = make_table(
        f"group_{group.name}",
        f"{group.title}, in percent",
        [column.title for column in columns],
        measured,
        records.runs.loc[numbers],
        published=_published(columns),
        note="third_party_reports",
    )
    return replace(table, notes=[*table.notes, *_notes(columns)])


def _row(records: Records, model: str, columns: Sequence[Column], numbers: dict[str, int]) -> Row:
    runs = records.runs.loc[[*numbers.values()]]
    figures: dict[str, Cell] = {}
    for column in columns:
        number = numbers.get(column.title)
        score = None if number is None else records.percent(number, column.metric)
        if score and not runs.at[number, "is_published_test"]:
            score = replace(score, mark="†")
        figures[column.title] = score
    conditions, data = ("; ".join(dict.fromkeys(runs[name])) for name in ("condition", "data"))
    return [model, "measured", conditions, data], figures


def _published(columns: Sequence[Column]) -> Iterator[Row]:
    """The figures that others published, by model and source."""
    figures: dict[tuple[str, str], dict[str, Cell]] = {}
    for column in columns:
        for row in published(column.task.benchmark, THIRD_PARTY).rows if column.published else ():
            label = row.labels["model"], row.labels["source"]
            value = row.figures[column.published]
            figures.setdefault(label, {})[column.title] = Estimate(value)
    for label, values in figures.items():
        yield paper_labels(*label), values


def _notes(columns: Sequence[Column]) -> Iterator[str]:
    """Where published figures are from, and which measured ones are better if they are low."""
    for column in columns:
        if column.published:
            yield f"{column.title}: {published(column.task.benchmark, THIRD_PARTY).source}."
        if column.lower_is_better:
            yield f"{column.title}: lower is better."
