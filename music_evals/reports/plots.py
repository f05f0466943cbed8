"""The figures of a report as SVG: a panel per column of a table, a line per row, a point with its
interval per cell.

The same table gives the same text, whatever the machine's settings of matplotlib. Published rows
are grey; a model has one colour and one mark in all panels. Figures have no background, and their
ink turns light where the reader prefers dark pages.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import cycle
from math import ceil
from typing import Any

from music_evals.reports.run_metadata import DEFAULT
from music_evals.reports.table import PUBLISHED, Cell, Table
from music_evals.scorers.metrics.estimates import Estimate

# Okabe and Ito's colours without the yellow, which is lost on white; three are darker, so that each
# has a contrast of 3:1 with white and with dark pages. Colour-blind readers can tell them apart.
# Their number and that of the marks have no common divisor, so that 35 rows look different.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C0679A", "#3393CC", "#B87A00", "#444444")
MARKS = "os^Dv"
GREY = "#8c8c8c"
_BAND = "#ececec"
MOST_DRAWN = 60
"""Rows that a figure has."""
_MARGIN = 4  # percentage points beside a panel's ends
_UNNAMED = ("Source", "Data", "Below 50% from")  # columns of text that do not name a row

# Text stays text, so that it can be searched and read aloud; the salt makes the names within the
# file the same.
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "music-evals",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9,
    "text.parse_math": False,  # a name may hold dollar signs
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
}
_INKS = {"#000000": "#e4e7ea", "#444444": "#b4bcc4", "#e6e6e6": "#343b43", _BAND: "#2a3038"}
_RULES = "\n".join(
    f'[style*="{what}: {ink}"] {{{what}: {on_dark} !important}}'
    for ink, on_dark in _INKS.items()
    for what in ("stroke", "fill")
)
_ON_DARK = f"@media (prefers-color-scheme: dark) {{\ntext {{fill: #e4e7ea}}\n{_RULES}\n}}\n"
_PANEL, _LINE = 3.0, 0.24  # inches: width of a panel, height of a row
_ACROSS = 4  # panels beside each other


def table_figure(
    table: Table, floors: Mapping[str, float] = {}, published: Mapping[str, Sequence[float]] = {}
) -> str:
    """Draw the percentages of a table, whose rows are named by their text; return SVG, or nothing
    without matplotlib.

    Args:
        table: what is drawn.
        floors: heading → what is earned without the music, a band.
        published: heading → scores of published models, a last row of grey ticks.
    """
    if find_spec("matplotlib") is None:
        return ""
    from matplotlib import style
    from matplotlib.figure import Figure

    ordered = table.measured_first()
    left_out = len(ordered.rows) - MOST_DRAWN
    ordered = replace(ordered, rows=ordered.rows[:MOST_DRAWN], kinds=ordered.kinds[:MOST_DRAWN])
    numeric = ordered.is_numeric()
    panels = [place for place, is_number in enumerate(numeric) if is_number]
    names = _row_names(ordered)
    if left_out > 0:
        names.append(f"{left_out} more in the table")
    if published:
        names.append("published models")
    looks = _looks(ordered)
    with style.context(["default", dict(_STYLE)]):
        across = min(_ACROSS, len(panels))
        down = ceil(len(panels) / across)
        height = 0.5 + _LINE * len(names)
        drawing = Figure(figsize=(_PANEL * across, down * height), dpi=72)
        spaces = {"wspace": 0.12, "hspace": 0.7 / height}
        grid = drawing.subplots(down, across, squeeze=False, sharey=True, gridspec_kw=spaces).flat
        for axes in grid[len(panels) :]:
            axes.remove()
        for axes, column in zip(grid, panels, strict=False):
            heading = table.columns[column]
            axes.set_title(heading.replace(": ", ":\n"), loc="left", fontsize=9)
            axes.set(ylim=(len(names) - 0.4, -0.6), xticks=(0, 50, 100))
            axes.set_yticks(range(len(names)), names)
            axes.tick_params(length=0)
            for place, (row, look) in enumerate(zip(ordered.rows, looks, strict=True)):
                _draw_cell(axes, row[column], place, *look)
            scores = published.get(heading, ())
            places = [len(names) - 1] * len(scores)
            axes.plot(scores, places, color=GREY, marker="|", markersize=8, linestyle="")
            axes.margins(x=0)
            left, right = axes.get_xlim()  # of what was drawn
            left = min(left, 0) - _MARGIN
            axes.set_xlim(left, max(right, 100) + _MARGIN)
            if heading in floors:
                axes.axvspan(left, floors[heading], color=_BAND, linewidth=0, zorder=0)
        return _svg(table.title, drawing)


def curves_figure(scores: str) -> str:
    """Draw scores by step, a panel per curve, with a band for the intervals; return SVG, or nothing
    without matplotlib.

    Args:
        scores: the table of `music_evals.reports.curves` as CSV.
    """
    if not find_spec("matplotlib"):
        return ""
    import pandas as pd
    from matplotlib import style
    from matplotlib.figure import Figure

    curves = [*pd.read_csv(io.StringIO(scores)).groupby("Curve")]
    with style.context(["default", dict(_STYLE)]):
        drawing = Figure(figsize=(7.5, 2.5 * len(curves)), layout="tight")
        for place, (curve, rows) in enumerate(curves, 1):
            axes = drawing.add_subplot(len(curves), 1, place)
            axes.set(title=curve, xlabel="step", ylabel="score (%)", ylim=(0, 100))
            axes.plot("Step", "Score", "o-", data=rows)
            axes.fill_between("Step", "Score low", "Score high", data=rows, alpha=0.2)
        return _svg("Scores by step", drawing)


def _row_names(table: Table) -> list[str]:
    """What the text of each row says, without source and data."""
    columns = [
        place
        for place, numeric in enumerate(table.is_numeric())
        if not numeric and table.columns[place] not in _UNNAMED
    ]
    names = []
    for row in table.rows:
        words = [str(row[place]) for place in columns if row[place] not in (None, DEFAULT)]
        names.append(", ".join(words))
    return names


def _looks(table: Table) -> list[tuple[str, str]]:
    """Colour and mark of each row; those of a model are the same in all rows."""
    place = list(table.columns).index("Model")
    rows = [*zip(table.rows, table.kinds, strict=True)]
    models = dict.fromkeys(row[place] for row, kind in rows if kind != PUBLISHED)
    looks = dict(zip(models, zip(cycle(COLOURS), cycle(MARKS), strict=False), strict=False))
    return [(GREY, "|") if kind == PUBLISHED else looks[row[place]] for row, kind in rows]


def _draw_cell(axes: Any, cell: Cell, place: int, colour: str, mark: str) -> None:
    """Draw a point and its interval."""
    if not isinstance(cell, Estimate):
        return
    axes.plot(cell.value, place, color=colour, marker=mark, markersize=5)
    if cell.low is not None and cell.high is not None:
        axes.plot([cell.low, cell.high], [place, place], color=colour, linewidth=1.2)


def _svg(title: str, drawing: Any) -> str:
    """A figure as SVG text, with the title for readers who do not see it."""
    out = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Title": title}
    drawing.savefig(out, format="svg", transparent=True, metadata=metadata, bbox_inches="tight")
    head, start, rest = out.getvalue().partition("<defs>")
    return f"{head}<style>{_ON_DARK}</style>{start}{rest}"
