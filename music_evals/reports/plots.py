"""Figures as SVG: panels of lines.

The same values give the same text, whatever the machine's settings of matplotlib. Published series are grey, measured
ones coloured; measured points carry their intervals. Figures have no background, and their ink turns light where the
reader prefers dark pages.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from music_evals.notation.extras import require
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
_WIDE, _HIGH, _LINE = 3.6, 2.3, 0.19  # inches: a panel, and a line of the key
_SPREAD: Final = 0.46  # of the distance between two ticks, over which marks at one tick are spread


class Series(NamedTuple):
    """Values of one colour and mark, one per tick; series of the same label look alike in all panels."""

    label: str
    y: Sequence[Estimate | None]
    is_measured: bool = True


def panels_figure(
    title: str,
    panels: Mapping[str, Sequence[Series]],
    ticks: Sequence[str],
    y: str,
    *,
    top: float = 100,
    floor: float | None = None,
) -> str:
    """Draw series in panels, two in a row, as lines over ticks; return SVG.

    Args:
        title: of the figure.
        panels: title of each panel → its series.
        ticks: what stands on the x axis.
        y: label of the y axis.
        top: the highest value on the y axis.
        floor: where a dotted line is drawn, at chance.
    """
    with _style():
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        measured = {series.label: series.is_measured for group in panels.values() for series in group}
        looks = _looks(dict(sorted(measured.items(), key=lambda item: item[1])))
        across = min(2, len(panels))
        down = -(-len(panels) // across)
        drawing = Figure(figsize=(across * _WIDE + 0.8, down * _HIGH + _LINE * (len(looks) + 2)), dpi=72)
        grid = drawing.subplots(down, across, squeeze=False).flatten()
        for axes in grid[len(panels) :]:
            axes.remove()
        for axes, (heading, group) in zip(grid, panels.items(), strict=False):
            axes.set_title(heading, loc="left", fontsize=9)
            axes.set_ylabel(y, fontsize=8)
            axes.set_ylim(-0.04 * top, 1.04 * top)
            axes.set_xticks(range(len(ticks)), ticks, fontsize=8)
            if floor is not None:
                axes.axhline(floor, color=DARK, linewidth=0.8, linestyle=":")
            for place, series in enumerate(group):
                shift = _SPREAD * ((place + 0.5) / len(group) - 0.5)
                points = [(at + shift, value) for at, value in enumerate(series.y) if value is not None]
                _draw_points(axes, points, *looks[series.label])
        signs = [Line2D([], [], color=colour, marker=marker, label=label) for label, (colour, marker) in looks.items()]
        signs += [Line2D([], [], color=DARK, linestyle=":", label="chance")] if floor is not None else []
        drawing.tight_layout()
        drawing.legend(handles=signs, loc="upper left", bbox_to_anchor=(0.02, 0), fontsize=8, frameon=False)
        return _svg(title, drawing)


def _style() -> Any:
    require("matplotlib", "plots")
    from matplotlib import style

    return style.context(["default", dict(_STYLE)])


def _svg(title: str, drawing: Any) -> str:
    """A figure as SVG text, with the title for readers who do not see it."""
    out = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Title": title}
    drawing.savefig(out, format="svg", transparent=True, metadata=metadata, bbox_inches="tight")
    head, start, rest = out.getvalue().partition("<defs>")
    return f"{head}<style>{_ON_DARK}</style>{start}{rest}"


def _draw_points(axes: Any, points: Sequence[tuple[float, Estimate]], colour: str, marker: str) -> None:
    at, values = [where for where, _ in points], [value.value for _, value in points]
    axes.plot(at, values, color=colour, marker=marker, markersize=4.5, linewidth=1)
    for where, value in points:
        if value.low is not None and value.high is not None:
            axes.plot([where, where], [value.low, value.high], color=colour, linewidth=1)


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
