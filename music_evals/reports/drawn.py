"""Figures that ``benchmark.toml`` declares for its tables: heat maps, and lines over columns."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan

from music_evals.benchmarks import published
from music_evals.reports.declared import cell_of, columns_of
from music_evals.reports.figures import Panel, Point, Series, heat_map, labelled_points, panels_figure
from music_evals.reports.parts import Drawing, Spec
from music_evals.reports.runs import Run
from music_evals.reports.tables import Cell, Figure, Footnotes, Table

Row = Mapping[str, Cell]


def drawn(spec: Spec, figure: Drawing, table: Table, runs: Sequence[Run]) -> str:
    """Draw the figure of a declared table; `runs` are those of its measured rows, in order. Nothing of no figures."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    numeric = [name for name, numbers in zip(table.columns, table.numeric(), strict=True) if numbers]
    paper = [row for row in rows if not str(row["Source"]).startswith("measured")]
    measured = [row for row in rows if row not in paper]
    if not numeric:
        return ""
    if figure.kind == "points":
        return _points(figure, paper, measured)
    columns = figure.columns or numeric
    if figure.kind == "heat":
        return _heat(spec, figure, columns, paper, list(zip(measured, runs, strict=True)))
    rows_of_kinds = [(row, False) for row in paper] + [(row, True) for row in measured]
    return _lines(figure, columns, runs[0].part.benchmark, rows_of_kinds)


def _points(figure: Drawing, paper: Sequence[Row], measured: Sequence[Row]) -> str:
    models = dict.fromkeys(str(row["Model"]) for row in paper)
    notes = [f"Paper: {', '.join(f'{model[0]} {model}' for model in models)}"] if models else []
    labelled = [(str(row["Model"])[0], row, False) for row in paper]
    drawable = [row for row in measured if any(_coordinates(figure, row, name) for name in figure.columns)]
    for number, row in enumerate(drawable, start=1):
        labelled.append((str(number), row, True))
        notes.append(f"{number}: {row['Model']} ({row['Source']}; {row['Condition']})")
    panels: dict[str, list[Point]] = {}
    for name, (label, row, is_measured) in product(figure.columns, labelled):
        if known := _coordinates(figure, row, name):
            point = Point(label, str(row[figure.marker]), known[0], known[1], known[2].value, is_measured)
            panels.setdefault(f"against {name}", []).append(point)
    if not panels:
        return ""
    axes = f"{figure.x}, reversed: lower is better", f"{figure.y}: higher is better"
    return labelled_points(figure.title, panels, axes, figure.rate, [*notes, *figure.notes])


def _coordinates(figure: Drawing, row: Row, name: str) -> list[Figure]:
    """X, y and the rate of a point; nothing where one of them is not known."""
    cells = [row[heading] for heading in (f"{figure.x} ({name})", f"{figure.y} ({name})", figure.rate)]
    known = [cell for cell in cells if isinstance(cell, Figure) and not isnan(cell.value)]
    return known if len(known) == 3 else []


def _heat(
    spec: Spec, figure: Drawing, columns: Sequence[str], paper: Sequence[Row], measured: Sequence[tuple[Row, Run]]
) -> str:
    runs = [run for _, run in measured]
    # What the published test does not have: columns in the figure alone.
    more = list(columns_of(runs[0].part, Spec(columns=[figure.more]), runs)) if figure.more else []
    more = [column for column in more if column.heading not in columns]
    lines = [(str(row["Model"]), [*_figures(row, columns), *[None] * len(more)], False) for row in paper]
    notes = list(figure.notes)
    for number, (row, run) in enumerate(measured, start=1):
        others = [cell_of(spec, column, [run], Footnotes()) for column in more]
        lines.append((f"{number}: {run.model}", [*_figures(row, columns), *others], True))
        notes.append(f"{number}: {run.model} ({run.source}; {run.condition})")
    return heat_map(figure.title, [*columns, *(column.heading for column in more)], lines, notes)


def _lines(figure: Drawing, columns: Sequence[str], benchmark: str, rows: Sequence[tuple[Row, bool]]) -> str:
    panels: dict[str, list[Series]] = {}
    asked = {str(row.get(figure.panels, "")) for row, is_measured in rows if is_measured}
    shown = {tuple(row.labels.values()) for row in published(benchmark, figure.models).rows} if figure.models else None
    places = [Figure(place) for place in range(len(columns))]
    for row, is_measured in rows:
        panel = str(row.get(figure.panels, ""))
        if panel not in asked or not (is_measured or shown is None or (panel, row["Model"]) in shown):
            continue
        texts = [cell for name, cell in row.items() if isinstance(cell, str) and name not in ("Model", figure.panels)]
        label = f"{row['Model']} ({'; '.join(texts if is_measured else texts[:1])})"
        panels.setdefault(panel, []).append(Series(label, places, _figures(row, columns), is_measured))
    for one in figure.reference:
        if (panel := one.get("panel", "")) in asked:
            series = Series(one["label"], [*map(Figure, one["x"])], [*map(Figure, one["y"])], measured=False)
            panels.setdefault(panel, []).append(series)
    made = [Panel(name.capitalize(), some, figure.x, figure.y) for name, some in panels.items()]
    return panels_figure(figure.title, made, columns, top=figure.top, notes=figure.notes, hollow=figure.hollow)


def _figures(row: Row, columns: Sequence[str]) -> list[Figure | None]:
    return [cell if isinstance(cell := row[name], Figure) else None for name in columns]
