"""Figures as SVG: the same values give the same text, whatever the machine's settings of matplotlib."""

import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib import colormaps, style
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.tables import Figure

MARKERS: Final[Mapping[str, str]] = {"Zero-shot": "o", "Few-shot": "s", "Ablation": "^"}

# Text stays text, so that it can be searched and read aloud; the salt makes the names within the file the same.
STYLE: Final[Mapping[str, Any]] = {
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
# Without its brightest end, which is lost on white.
_RATES: Final = LinearSegmentedColormap.from_list("rates", colormaps["viridis"]([0.82, 0.55, 0.28, 0.0]))
_GREY: Final = "#444444"

_PANEL, _HEIGHT, _LEFT, _GAP, _BAR, _TOP, _AXIS, _LINE = 4.3, 4.0, 0.65, 0.65, 0.95, 0.4, 0.6, 0.17  # inches
_KEY_CHARACTERS: Final = 95  # a line and a panel, at the size of the key
_MARKER, _LABEL = 8.0, 8.0  # points

Ends = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


@dataclass(frozen=True, slots=True)
class Point:
    """A cell of LilyBench's Table 2 against one reference.

    Args:
        key: short text beside it, which the figure's key explains.
        regime: one of `MARKERS`.
        fmd: Fréchet Music Distance.
        js: similarity of the descriptors, from 0 to 100.
        compile_rate: in percent.
        measured: whether it was measured here, and not published.
    """

    key: str
    regime: str
    fmd: Figure
    js: Figure
    compile_rate: float
    measured: bool


def js_against_fmd(title: str, panels: Mapping[str, Sequence[Point]], keys: Sequence[str]) -> str:
    """Draw JS against FMD, the compile rate as colour: what is near the reference in both is at the top right.

    Args:
        title: what is shown.
        panels: name of a reference → its points, one panel each.
        keys: what the texts beside the points stand for, a line each.

    Returns:
        The figure as SVG.

    Source: arXiv 2606.08722, section 5, which reads the three figures together.

    Example:
        >>> point = Point("1", "Few-shot", Figure(0.7), Figure(75.0), 35.0, measured=True)
        >>> svg = js_against_fmd("One run", {"test": [point]}, ["1: some/model"])
        >>> svg.count("<svg "), "1: some/model" in svg
        (1, True)
    """
    kinds = {point.measured for points in panels.values() for point in points}
    lines = [line for key in keys for line in textwrap.wrap(key, _KEY_CHARACTERS * len(panels), break_on_hyphens=False)]
    legends = [_regimes(), *([_fillings()] if len(kinds) > 1 else [])]
    bottom = _AXIS + _LINE * (len(legends) + len(lines) + 1)
    width = _LEFT + len(panels) * _PANEL + (len(panels) - 1) * _GAP + _BAR
    height = _TOP + _HEIGHT + bottom
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        for place, (reference, points) in enumerate(panels.items()):
            left = _LEFT + place * (_PANEL + _GAP)
            axes = drawing.add_axes((left / width, bottom / height, _PANEL / width, _HEIGHT / height))
            _draw(axes, reference, points)
        bar = drawing.add_axes(((width - _BAR + 0.2) / width, bottom / height, 0.15 / width, _HEIGHT / height))
        drawing.colorbar(ScalarMappable(Normalize(0, 100), _RATES), cax=bar, label="Compile rate (%)")
        for number, handles in enumerate(legends):
            drawing.legend(
                handles=handles,
                loc="center left",
                bbox_to_anchor=(_LEFT / width, (bottom - _AXIS - _LINE * (number + 0.5)) / height),
                ncols=len(handles),
                fontsize=_LABEL,
                frameon=False,
                borderpad=0,
                borderaxespad=0,
                handletextpad=0.2,
            )
        for number, line in enumerate(lines, start=len(legends)):
            middle = bottom - _AXIS - _LINE * (number + 0.7)
            drawing.text(_LEFT / width, middle / height, line, va="center_baseline", fontsize=_LABEL)
        return svg(drawing, title)


def svg(drawing: Drawing, title: str) -> str:
    """Write a figure as SVG, without a date.

    Args:
        drawing: the figure.
        title: what it shows, for the file's metadata.

    Returns:
        The text of the file.
    """
    out = io.StringIO()
    drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    return out.getvalue()


def _draw(axes: Axes, reference: str, points: Sequence[Point]) -> None:
    axes.set_title(f"against {reference}", loc="left", fontsize=10)
    axes.set_title("better ↗", loc="right", fontsize=9, color=_GREY)
    axes.set_xlabel("FMD, reversed: lower is better")
    axes.set_ylabel("JS similarity: higher is better")
    for point in points:
        for x, y in _bars(point):
            axes.plot(x, y, color=_GREY, linewidth=0.8, zorder=2)
        colour = _RATES(point.compile_rate / 100)
        axes.plot(
            point.fmd.value,
            point.js.value,
            marker=MARKERS[point.regime],
            markersize=_MARKER,
            markeredgewidth=1.8,
            markeredgecolor=colour,
            markerfacecolor=colour if point.measured else "none",
            zorder=3,
        )
    axes.margins(0.09)
    axes.invert_xaxis()
    _label(axes, points)


def _bars(point: Point) -> Iterator[tuple[Ends, Ends]]:
    """The ends of a point's intervals, as two x and two y."""
    if point.fmd.low is not None and point.fmd.high is not None:
        yield (point.fmd.low, point.fmd.high), (point.js.value, point.js.value)
    if point.js.low is not None and point.js.high is not None:
        yield (point.fmd.value, point.fmd.value), (point.js.low, point.js.high)


def _label(axes: Axes, points: Sequence[Point]) -> None:
    """Put the keys beside the points, each where it covers the least of markers, intervals and keys before it."""

    def box(x: Ends, y: Ends, margin: float) -> Box:
        (left, bottom), (right, top) = axes.transData.transform(list(zip(x, y, strict=True)))
        return min(left, right) - margin, bottom - margin, max(left, right) + margin, top + margin

    half = _MARKER / 2 + 1
    middles = [axes.transData.transform((point.fmd.value, point.js.value)) for point in points]
    taken: list[Box] = [(x - half, y - half, x + half, y + half) for x, y in middles]
    taken += [box(x, y, margin=1) for point in points for x, y in _bars(point)]
    for point, (x, y) in zip(points, middles, strict=True):
        wide, high = 0.65 * _LABEL * len(point.key), 0.8 * _LABEL
        away = half + 1
        places = [
            (x + across * (away + wide / 2), y + up * (away + high / 2))
            for across, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 0.7), (-1, 0.7), (1, -0.7), (-1, -0.7))
        ]
        boxes: list[Box] = [(cx - wide / 2, cy - high / 2, cx + wide / 2, cy + high / 2) for cx, cy in places]
        best = min(range(len(boxes)), key=lambda place: sum(_shared(boxes[place], other) for other in taken))
        taken.append(boxes[best])
        axes.annotate(
            point.key,
            places[best],
            xycoords="figure pixels",
            ha="center",
            va="center_baseline",
            fontsize=_LABEL,
            fontweight="bold" if point.measured else "normal",
            zorder=4,
        )


def _shared(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def _regimes() -> list[Line2D]:
    return [_entry(regime, marker, "none") for regime, marker in MARKERS.items()]


def _fillings() -> list[Line2D]:
    return [_entry("hollow: paper", "D", "none"), _entry("filled: measured", "D", _GREY)]


def _entry(label: str, marker: str, face: str) -> Line2D:
    return Line2D([], [], linestyle="", marker=marker, markersize=6, color=_GREY, markerfacecolor=face, label=label)
