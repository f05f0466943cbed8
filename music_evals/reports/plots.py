"""Figures as SVG: panels of lines, heat maps.

The same values give the same text, whatever the machine's settings of matplotlib. Published series are grey, measured
ones coloured; measured points carry their intervals. Figures have no background, and their ink turns light where the
reader prefers dark pages.
"""

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final, NamedTuple, ParamSpec

from music_evals.notation.extras import require
from music_evals.reports.table import MEASURED, Table
from music_evals.scorers.metrics.estimates import Estimate

# Okabe and Ito's colours without the yellow, which is lost on white: told apart by colour-blind readers too.
DARK: Final = "#444444"
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", DARK)
GREYS: Final = ("#8c8c8c", "#a6a6a6", "#bfbfbf", "#737373")
MARKERS: Final = "os^vD<>"

# Text stays text, so that it can be searched and read aloud; the salt makes the names within the file the same.
_STYLE: Final[Mapping[str, Any]] = {
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
_INKS: Final = {"#000000": "#e4e7ea", DARK: "#b4bcc4", "#a6a6a6": "#7a7a7a", "#bfbfbf": "#666666", "#e6e6e6": "#343b43"}
_RULES: Final = "\n".join(
    f'[style*="{what}: {ink}"] {{{what}: {on_dark} !important}}'
    for ink, on_dark in _INKS.items()
    for what in ("stroke", "fill")
)
_ON_DARK: Final = f"""
@media (prefers-color-scheme: dark) {{
text {{fill: #e4e7ea}}
{_RULES}
}}
"""
_P = ParamSpec("_P")
_WIDE, _HIGH, _LINE = 3.6, 2.3, 0.19  # inches: a panel, and a line of the key
_SPREAD: Final = 0.46  # of the distance between two ticks, over which marks at one tick are spread


class Series(NamedTuple):
    """Values of one colour and mark, one per tick; series of the same label look alike in all panels."""

    label: str
    y: Sequence[Estimate | None]
    is_measured: bool = True


def _figure(draw: Callable[_P, Any]) -> Callable[_P, str]:
    """Draw in the style of this module, as SVG text with the title for readers who do not see it."""

    @wraps(draw)
    def svg(*arguments: _P.args, **options: _P.kwargs) -> str:
        require("matplotlib", "plots")
        from matplotlib import style

        with style.context(["default", dict(_STYLE)]):
            drawing = draw(*arguments, **options)
            out = io.StringIO()
            metadata = {"Date": None, "Creator": None, "Title": arguments[0]}
            drawing.savefig(out, format="svg", transparent=True, metadata=metadata, bbox_inches="tight")
        head, start, rest = out.getvalue().partition("<defs>")
        return f"{head}<style>{_ON_DARK}</style>{start}{rest}"

    return svg


@_figure
def panels_figure(
    title: str,
    panels: Mapping[str, Sequence[Series]],
    ticks: Sequence[str],
    y: str,
    *,
    top: float = 100,
    floor: float | None = None,
) -> Any:
    """Draw series in panels, two in a row, as lines over ticks.

    Args:
        title: of the figure.
        panels: title of each panel → its series.
        ticks: what stands on the x axis.
        y: label of the y axis.
        top: the highest value on the y axis.
        floor: where a dotted line is drawn, at chance.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    measured = {series.label: series.is_measured for some in panels.values() for series in some}
    looks = _looks(dict(sorted(measured.items(), key=lambda item: item[1])))
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    drawing = Figure(figsize=(across * _WIDE + 0.8, down * _HIGH + _LINE * (len(looks) + 2)), dpi=72)
    grid = drawing.subplots(down, across, squeeze=False).flatten()
    for axes in grid[len(panels) :]:
        axes.remove()
    for axes, (heading, some) in zip(grid, panels.items(), strict=False):
        axes.set_title(heading, loc="left", fontsize=9)
        axes.set_ylabel(y, fontsize=8)
        axes.set_ylim(-0.04 * top, 1.04 * top)
        axes.set_xticks(range(len(ticks)), ticks, fontsize=8)
        if floor is not None:
            axes.axhline(floor, color=DARK, linewidth=0.8, linestyle=":")
        for place, series in enumerate(some):
            colour, marker = looks[series.label]
            shift = _SPREAD * ((place + 0.5) / len(some) - 0.5)
            points = [(at + shift, value) for at, value in enumerate(series.y) if value is not None]
            at, values = [where for where, _ in points], [value.value for _, value in points]
            axes.plot(at, values, color=colour, marker=marker, markersize=4.5, linewidth=1)
            for where, value in points:
                if value.low is not None and value.high is not None:
                    axes.plot([where, where], [value.low, value.high], color=colour, linewidth=1)
    signs = [Line2D([], [], color=colour, marker=marker, label=label) for label, (colour, marker) in looks.items()]
    signs += [Line2D([], [], color=DARK, linestyle=":", label="chance")] if floor is not None else []
    drawing.tight_layout()
    drawing.legend(handles=signs, loc="upper left", bbox_to_anchor=(0.02, 0), fontsize=8, frameon=False)
    return drawing


@_figure
def heat_map(title: str, table: Table) -> Any:
    """Draw the percentages of a table as coloured cells with their numbers; rows of measured models in bold."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    columns = [name for name, numeric in zip(table.columns, table.is_numeric(), strict=True) if numeric]
    ordered = table.measured_first()
    start = len(table.columns) - len(columns)
    width, height = 2.6 + 0.68 * len(columns), 1.1 + 0.31 * len(ordered.rows)
    drawing = Figure(figsize=(width, height), dpi=72)
    axes = drawing.add_axes((0, 0, 1, 1), xlim=(-2.6 / 0.68, len(columns)), ylim=(len(ordered.rows), -1.1 / 0.31))
    axes.axis("off")
    for place, heading in enumerate(columns):
        words = textwrap.fill(heading, 14)
        axes.text(place + 0.35, -0.2, words, rotation=45, rotation_mode="anchor", va="bottom", fontsize=7.5)
    for number, (row, kind) in enumerate(zip(ordered.rows, ordered.kinds, strict=True)):
        weight = "bold" if kind == MEASURED else "normal"
        label = ", ".join(str(row[place]) for place in (0, 2) if row[place])
        name = textwrap.shorten(label, 30, placeholder=" …")
        axes.text(-0.12, number + 0.5, name, ha="right", va="center", fontsize=8, fontweight=weight)
        for place, cell in enumerate(row[start:]):
            if not isinstance(cell, Estimate):
                continue
            face = colormaps["cividis"](cell.value / 100)
            axes.add_patch(_rectangle(place, number, face))
            colour = "white" if cell.value < 55 else "#010101"  # darker cells have light text
            style: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "fontweight": weight}
            axes.text(place + 0.5, number + 0.5, f"{cell.value:.0f}", fontsize=8, **style)
    return drawing


def _rectangle(x: float, y: float, face: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, facecolor=face, edgecolor="white")


def _looks(measured: Mapping[str, bool]) -> dict[str, tuple[str, str]]:
    """Give each series a colour and a mark: greys to the published, colours to the measured."""
    looks: dict[str, tuple[str, str]] = {}
    counts = {True: 0, False: 0}
    for label, is_measured in measured.items():
        colours, at = (COLOURS if is_measured else GREYS), counts[is_measured]
        # Another mark with every colour, and another pairing of the two in the next round of colours.
        looks[label] = colours[at % len(colours)], MARKERS[(at + at // len(colours)) % len(MARKERS)]
        counts[is_measured] += 1
    return looks
