"""The tables that ``benchmark.toml`` declares: published figures beside measured ones, put together in data frames."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, Final

import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.parts import Column, Part, Printed, Spec
from music_evals.reports.runs import Run, notes_on
from music_evals.reports.tables import Cell, Figure, Footnotes, Table, whole
from music_evals.scorers.metrics.measures import combined_interval

LABELS: Final[Mapping[str, str]] = {"Model": "model", "Source": "source", "Condition": "condition"}
"""Heading → fact, where a table names no others."""


def table_of(spec: Spec, runs: Sequence[Run], part: Part | None = None) -> Table:
    """Make a table of a declaration.

    Args:
        spec: the declaration.
        runs: the runs that it shows.
        part: of the report, which the runs tell where there are any.
    """
    part = part or runs[0].part
    footnotes = Footnotes()
    frame = _across(part, spec, runs, footnotes) if spec.across else _rows(part, spec, runs, footnotes)
    sources = {
        f"source{place}": published(part.benchmark, one.table).source for place, one in enumerate(spec.published)
    }
    notes = [
        note.text.format(**sources) for note in spec.notes if not note.when or any(run.has(note.when) for run in runs)
    ]
    return Table(
        spec.name or f"{part.name}_tasks",
        spec.title or f"{part.title}: main metric of each task, in percent",
        tuple(frame.columns),
        frame.astype(object).where(frame.notna(), None).to_numpy().tolist(),
        [*notes, *footnotes.notes(), *notes_on(runs)],
    )


def average(figures: Sequence[Figure], weights: Sequence[float] = (), decimals: int = 2) -> Figure:
    """The weighted mean of figures, with an interval where all have one.

    >>> str(average([Figure(0.5), Figure(0.7)], [100, 300], 3))
    '0.650'
    """
    weights = weights or [1] * len(figures)
    value = sum(weight * figure.value for figure, weight in zip(figures, weights, strict=True)) / sum(weights)
    ends = [(one.value, one.low, one.high) for one in figures if one.low is not None and one.high is not None]
    low, high = combined_interval(ends, weights) if len(ends) == len(figures) else (None, None)
    return Figure(value, low, high, decimals)


def _rows(part: Part, spec: Spec, runs: Sequence[Run], footnotes: Footnotes) -> pd.DataFrame:
    """A row a published model, and then one a run or condition."""
    labels = spec.labels or LABELS
    columns = list(columns_of(part, spec, runs))
    rows: list[dict[str, Cell]] = []
    for printed in spec.published:
        rows += _printed_rows(part, printed, columns, spec)
    measured: dict[Any, list[Run]] = {}
    for place, run in enumerate(runs):
        measured.setdefault(run.key if spec.merge else place, []).append(run)
    for some in measured.values():
        for item, value in _each(spec.each, some):
            known: dict[str, Cell] = {
                name: item if fact == "each" else some[0].label(fact) for name, fact in labels.items()
            }
            cells = {
                column.heading: item if column.fact else cell_of(spec, column, some, footnotes, value)
                for column in columns
            }
            rows.append(known | cells)
    rows += _floor_rows(columns, runs) if spec.floors else []
    frame = pd.DataFrame(rows, columns=[*labels, *(column.heading for column in columns)], dtype=object)
    if spec.group:
        order = {value: place for place, value in enumerate(frame[spec.group].unique())}
        frame = frame.sort_values(spec.group, key=lambda values: values.map(order), kind="stable")
    return frame


def _printed_rows(part: Part, printed: Printed, columns: Sequence[Column], spec: Spec) -> Iterator[dict[str, Cell]]:
    found = published(part.benchmark, printed.table).rows
    if printed.transposed:
        ((label, wanted),) = printed.transposed.items()
        (row,) = [row for row in found if row.labels[label] == wanted]
        (column,) = [column for column in columns if column.published]
        for model, value in row.figures.items():
            figure = Figure(value, decimals=_decimals(spec, column))
            yield {"Model": model, "Source": printed.source, column.heading: figure}
        return
    for row in found:
        if any(row.labels[name] in values for name, values in printed.without.items()):
            continue
        texts = {"Model": "model", **printed.labels}
        labels = {heading: row.labels[name] or None for heading, name in texts.items() if name in row.labels}
        low, high = (row.figures.get(name) for name in ("low", "high"))
        figures = {
            column.heading: Figure(row.figures[column.published], low, high, _decimals(spec, column))
            for column in columns
            if column.published in row.figures
        }
        constants = {one.heading: whole(one.constant) for one in columns if one.constant is not None}
        yield {**labels, "Source": printed.source, **printed.constants, **constants, **figures}


def _floor_rows(columns: Sequence[Column], runs: Sequence[Run]) -> list[dict[str, Cell]]:
    """A row for each kind of floor: what is earned without understanding."""
    floors: dict[str, dict[str, Cell]] = {}
    for run in runs:
        for name, share in run.floors.items():
            heading = next((column.heading for column in columns if column.task == run.task), None)
            if heading:
                floors.setdefault(name, {}).setdefault(heading, Figure(100 * share))
    return [{"Model": name, "Source": "floor", **cells} for name, cells in floors.items()]


def columns_of(part: Part, spec: Spec, runs: Sequence[Run]) -> Iterator[Column]:
    """The columns of figures of a table, each of those that one stands for."""
    if not spec.columns:
        asked = {run.task for run in runs}
        for task in part.tasks:
            if task in asked or spec.published:
                heading = task.replace("_", " ").capitalize()
                yield Column(heading=heading, task=task, published=task)
    for column in spec.columns:
        if not column.each:
            yield column
        found = list(_items(column.each, runs)) if isinstance(column.each, str) and column.each else column.each
        for item in found:
            words = column.heading.replace("*", item).replace("_", " ")
            yield replace(
                column,
                heading=words[0].upper() + words[1:],
                metric=column.metric.replace("*", item),
                because=column.because.replace("*", item),
                published=column.published.replace("*", item),
                needs={name: str(value).replace("*", item) for name, value in column.needs.items()},
            )


def _each(each: Mapping[str, str] | str, runs: Sequence[Run]) -> Iterable[tuple[str | None, str]]:
    if isinstance(each, Mapping):
        return each.items()
    return [(item.rstrip("/") or "any", item) for item in _items(each, runs)] if each else [(None, "")]


def _items(pattern: str, runs: Sequence[Run]) -> Iterable[str]:
    """What the group of a pattern stands for in the metrics of runs, in their order."""
    names = (f"{group}/{name}" for run in runs for group, name in run.metrics)
    found = (re.fullmatch(pattern, name) for name in names)
    return dict.fromkeys(next(one for one in match.groups() if one is not None) for match in found if match)


def cell_of(spec: Spec, column: Column, runs: Sequence[Run], footnotes: Footnotes, each: str = "") -> Figure | None:
    """The figure of the run that a column is about."""
    run = next((run for run in runs if column.task in ("", run.task)), None)
    if run is None or not run.has(column.needs):
        return None
    metric = column.metric.replace("{each}", each)
    if column.count:
        return whole(round(run.value(metric) or 0))
    scale = spec.scale if column.scale is None else column.scale
    decimals = _decimals(spec, column)
    if column.share_of:
        return run.share(metric, column.share_of, scale, decimals)
    figure = run.figure(metric, scale, decimals, column.ends)
    if figure is None and column.undefined:
        reasons = [run.remarks(one, "undefined") for one in (metric, column.because.replace("{each}", each)) if one]
        reason = next(("; ".join(found) for found in reasons if found), column.undefined)
        return Figure(nan, mark=footnotes.mark(reason))
    if figure and column.interval_only and figure.low is None:
        return None
    if figure and not metric and run.answered is not None and run.answered < 1:
        return replace(figure, mark="*")
    return run.marked(figure, metric, footnotes)


def _decimals(spec: Spec, column: Column) -> int:
    return spec.decimals if column.decimals is None else column.decimals


def _across(part: Part, spec: Spec, runs: Sequence[Run], footnotes: Footnotes) -> pd.DataFrame:
    """A column a published model, and then one a condition; rows are the published table's, or tasks."""
    facts = list(spec.labels.values())
    models: dict[str, dict[tuple[str, ...], Figure]] = {}
    for printed in spec.published:
        for row in published(part.benchmark, printed.table).rows:
            if any(row.labels[name] in values for name, values in printed.without.items()):
                continue
            place = tuple(row.labels[fact] for fact in facts)
            figures = {row.labels["model"]: row.figures[printed.figure]} if printed.figure else row.figures
            for model, value in figures.items():
                models.setdefault(model, {})[place] = Figure(value, decimals=spec.decimals)
    asked = {run.task for run in runs}
    places = dict.fromkeys(place for cells in models.values() for place in cells)
    rows = list(places or [(task,) for task in part.tasks if task in asked])
    conditions: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        conditions.setdefault(run.key, []).append(run)
    known = {"task", *(facet.name for facet in part.condition)}
    measured = [
        [
            _measured(spec, some, {k: v for k, v in zip(facts, row, strict=True) if k in known}, footnotes)
            for row in rows
        ]
        for some in conditions.values()
    ]
    facets = {facet.name: facet for facet in part.condition}
    texts = [[facets[fact].say(text) if fact in facets else text or None for fact, text in zip(facts, row, strict=True)]
             for row in rows]  # fmt: skip
    frames = [
        pd.DataFrame(texts, columns=list(spec.labels), dtype=object),
        pd.DataFrame(
            [[cells.get(row) for cells in models.values()] for row in rows], columns=list(models), dtype=object
        ),
        pd.DataFrame(measured, index=[some[0].heading for some in conditions.values()], dtype=object).T,
    ]
    return pd.concat(frames, axis=1)


def _measured(spec: Spec, runs: Sequence[Run], wanted: Mapping[str, str], footnotes: Footnotes) -> Figure | None:
    """The cell of a condition: of the run that a row is about, or an average of several."""
    for one in spec.averages:
        if one["row"] == wanted.get("task"):
            by_task = {run.task: run for run in runs}
            some = [by_task[task] for task in one["tasks"] if task in by_task]
            figures = [figure for run in some if (figure := run.figure(decimals=spec.decimals, scale=spec.scale))]
            if len(figures) < len(one["tasks"]):
                return None
            weights = [run.value(one["weights"]) or 0 for run in some] if "weights" in one else []
            return average(figures, weights, spec.decimals)
    found = [run for run in runs if run.has(wanted)]
    return cell_of(spec, spec.cell, found, footnotes) if found else None
