"""Figures as SVG: panels of lines or points, heat maps, and labelled points on two axes.

The same values give the same text, whatever the machine's settings of matplotlib. Published series are grey, measured
ones coloured; figures carry their intervals, and a key below says what is what. They have no background, and ink that
is light where the reader prefers dark pages.
"""

import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Final, NamedTuple

from matplotlib import colormaps, style
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from matplotlib.transforms import Bbox

from music_evals.reports.tables import Figure

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
# What colours without a hue become on a dark page, where published series recede, too.
_INKS: Final = {
    "#000000": "#e4e7ea", DARK: "#b4bcc4", "#a6a6a6": "#7a7a7a", "#bfbfbf": "#666666", "#e6e6e6": "#343b43",
}  # fmt: skip
_RULES: Final = "\n".join(
    f'[style*="{what}: {ink}"] {{{what}: {on_dark} !important}}'
    for ink, on_dark in _INKS.items()
    for what in ("stroke", "fill")
)
# Text without a colour of its own is black; that on coloured cells is white and stays so.
_ON_DARK: Final = f"""
@media (prefers-color-scheme: dark) {{
text {{fill: #e4e7ea}}
{_RULES}
[style*="stroke: #ffffff"] {{stroke: #15181c !important}}
path[style*="fill: #ffffff"], use[style*="fill: #ffffff"] {{fill: #15181c !important}}
}}
"""
# Cividis and viridis look the same to colour-blind readers; the ends of viridis are lost on white or on black.
_SHARES: Final = ListedColormap(colormaps["cividis"].resampled(256)(range(256)))
_RATES: Final = LinearSegmentedColormap.from_list("rates", colormaps["viridis"]([0.82, 0.65, 0.48, 0.3]))

_LEFT, _TOP, _GAP, _AXIS, _LINE, _SIGN = 0.7, 0.35, 0.3, 0.5, 0.19, 0.45  # inches
_NARROWEST: Final = 7.2  # inches; room for a key
_CHARACTERS_AN_INCH: Final = 14
_MARK: Final = 4.5  # points
_SPREAD: Final = 0.46  # of the distance between two ticks, over which marks in one place are spread


class Series(NamedTuple):
    """Points of one colour and mark in a panel; those of the same label look alike in all panels."""

    label: str
    x: Sequence[Figure]  # places on the axis, or numbers of ticks
    y: Sequence[Figure | None]  # as many; None or an undefined one is left out, one with a mark is hollow
    measured: bool = True  # here, and not published
    second: bool = False  # its line is dashed and its marks are hollow


class Panel(NamedTuple):
    """A panel: its title, its series, what stands on its axes, and where a dotted line is drawn."""

    title: str
    series: Sequence[Series]
    x: str = ""
    y: str = ""
    floor: float | None = None


class Point(NamedTuple):
    """A labelled point: its marker says of which kind it is, its colour is a rate from 0 to 100."""

    label: str
    kind: str
    x: Figure
    y: Figure
    rate: float
    measured: bool


def looks_of(measured: Sequence[bool]) -> list[tuple[str, str]]:
    """Give each series a colour and a mark, in order: greys to the published, colours to the measured."""
    looks: list[tuple[str, str]] = []
    for place, is_measured in enumerate(measured):
        colours = COLOURS if is_measured else GREYS
        number = measured[:place].count(is_measured)
        # Another mark with every colour, and another pairing of the two in the next round of colours.
        looks.append((colours[number % len(colours)], MARKERS[(number + number // len(colours)) % len(MARKERS)]))
    return looks


_styled = style.context(["default", dict(_STYLE)])


@_styled
def panels_figure(
    title: str,
    panels: Sequence[Panel],
    ticks: Sequence[str] = (),
    *,
    across: int = 2,
    size: tuple[float, float] = (3.4, 2.1),
    top: float = 100,
    notes: Sequence[str] = (),
    second: str = "",
    hollow: str = "",
) -> str:
    """Draw series in panels: as lines over ticks, or as points on a logarithmic axis where there are no ticks.

    Series name ticks by their numbers from 0. Panels have a `size` in inches, `across` of them in a row; `top` is the
    highest value on the y axis. The key also says what dashed lines (`second`) and `hollow` marks are, and the notes.
    """
    kinds = {series.label: series.measured for panel in panels for series in panel.series}
    labels = sorted(kinds, key=lambda label: kinds[label])
    looks = dict(zip(labels, looks_of([kinds[label] for label in labels]), strict=True))
    key = [
        _sign(label, color=colour, marker=marker, markerfacecolor=colour, linestyle="-" if ticks else "")
        for label, (colour, marker) in looks.items()
    ]
    if second:
        key.append(_sign(second, linestyle="--", marker="o"))
    if hollow and any(y and y.mark for panel in panels for series in panel.series for y in series.y):
        key.append(_sign(hollow, marker="o"))
    if any(panel.floor is not None for panel in panels):
        key.append(_sign("chance", linestyle=":"))
    key += map(_sign, notes)
    across = min(across, len(panels))
    drawing, every = _grid(len(panels), across, size, key)
    costs = [x for panel in panels for series in panel.series for x in series.x]
    for place, (panel, axes) in enumerate(zip(panels, every, strict=True)):
        _draw(axes, panel, looks, ticks)
        axes.set_ylim(-0.04 * top, 1.04 * top)
        if ticks:
            axes.set_xlim(-0.5, len(ticks) - 0.5)
            axes.set_xticks(range(len(ticks)), ticks)
            axes.grid(visible=False, axis="x")
        else:
            _make_logarithmic(axes, costs)
        axes.tick_params(length=0, labelbottom=place + across >= len(panels), labelsize=8)
        axes.set_xlabel(panel.x if place + across >= len(panels) else "", fontsize=8)
    return _svg(drawing, title)


@_styled
def heat_map(
    title: str,
    headings: Sequence[str],
    lines: Sequence[tuple[str, Sequence[Figure | None], bool]],
    notes: Sequence[str],
) -> str:
    """Draw percentages as coloured cells with their numbers, those of measured models with intervals and set apart.

    A line has a label, a figure for each heading (None where it is not known), and whether it was measured; the
    published ones come first. Below stand the notes, a paragraph each.
    """
    wide, high, left, top, set_apart = 0.68, 0.31, 2.0, 1.0, 0.14  # inches
    width = left + len(headings) * wide + 0.1
    written = [line for note in notes for line in textwrap.wrap(note, int(width * _CHARACTERS_AN_INCH))]
    apart = set_apart if {measured for *_, measured in lines} == {True, False} else 0.0
    height = top + len(lines) * high + apart + 0.2 + len(written) * _LINE
    drawing = Drawing(figsize=(width, height), dpi=72)
    # One unit is an inch, and y grows downwards.
    axes = drawing.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    middle: Mapping[str, Any] = {"ha": "center", "va": "center"}
    for place, heading in enumerate(headings):
        axes.text(
            left + (place + 0.35) * wide, top - 0.08, textwrap.fill(heading, 14),
            rotation=45, rotation_mode="anchor", ha="left", va="bottom", fontsize=7.5, linespacing=0.95,
        )  # fmt: skip
    for number, (label, figures, measured) in enumerate(lines):
        y = top + number * high + (apart if measured else 0.0)
        weight = "bold" if measured else "normal"
        name = textwrap.shorten(label, 30, placeholder=" …")
        axes.text(left - 0.08, y + high / 2, name, ha="right", va="center", fontsize=8, fontweight=weight)
        for x, figure in zip((left + place * wide for place in range(len(headings))), figures, strict=True):
            if figure is None:
                axes.text(x + wide / 2, y + high / 2, "–", fontsize=8, color="#767676", **middle)
                continue
            axes.add_patch(Rectangle((x, y), wide, high, facecolor=_SHARES(figure.value / 100), edgecolor="white"))
            colour = "white" if figure.value < 55 else "#010101"  # darker cells have light text
            ends = "" if figure.low is None or figure.high is None else f"{figure.low:.0f}–{figure.high:.0f}"
            at = y + high * (0.34 if ends else 0.5)
            axes.text(x + wide / 2, at, f"{figure.value:.0f}", color=colour, fontsize=8, fontweight=weight, **middle)
            axes.text(x + wide / 2, y + high * 0.75, ends, color=colour, fontsize=6, **middle)
    for number, text in enumerate(reversed(written)):
        axes.text(0.1, height - 0.05 - (number + 0.5) * _LINE, text, va="center", fontsize=8)
    return _svg(drawing, title)


@_styled
def labelled_points(
    title: str, panels: Mapping[str, Sequence[Point]], axes_labels: tuple[str, str], rate: str, notes: Sequence[str]
) -> str:
    """Draw labelled points with intervals, a panel each title, hollow where they are published.

    The colour is a rate. The x axis is reversed, so that better is up and to the right. The notes say what labels are.
    """
    kinds = dict.fromkeys(point.kind for points in panels.values() for point in points)
    markers = dict(zip(kinds, MARKERS, strict=False))
    key = [_sign(kind, marker=marker) for kind, marker in markers.items()]
    if len({point.measured for points in panels.values() for point in points}) > 1:
        key += [_sign("hollow: paper", marker="D"), _sign("filled: measured", marker="D", markerfacecolor=DARK)]
    drawing, every = _grid(len(panels), len(panels), (4.2, 4.0), [*key, *map(_sign, notes)], right=0.95)
    for axes, (name, points) in zip(every, panels.items(), strict=True):
        axes.set_title(name, loc="left", fontsize=10)
        axes.set_title("better ↗", loc="right", fontsize=9, color=DARK)
        axes.set_xlabel(axes_labels[0])
        axes.set_ylabel(axes_labels[1])
        for point in points:
            colour = _RATES(point.rate / 100)
            for bar in _bars(point.x, point.y):
                axes.plot(*bar, color=DARK, linewidth=0.8, zorder=2)
            axes.plot(
                point.x.value, point.y.value, marker=markers[point.kind], markersize=8, markeredgewidth=1.8,
                markeredgecolor=colour, markerfacecolor=colour if point.measured else "none", zorder=3,
            )  # fmt: skip
        axes.margins(0.09)
        axes.invert_xaxis()
        _label(axes, points)
    box = every[-1].get_position()
    width = drawing.get_size_inches()[0]
    scale = drawing.add_axes((box.x1 + 0.2 / width, box.y0, 0.15 / width, box.height))
    drawing.colorbar(ScalarMappable(Normalize(0, 100), _RATES), cax=scale, label=rate)
    return _svg(drawing, title)


def _sign(label: str, **given: Any) -> Line2D:
    """An entry of the key, whose sign is hollow and dark unless it is told otherwise."""
    look: dict[str, Any] = {"color": DARK, "linestyle": "", "markersize": _MARK, "markerfacecolor": "white"}
    return Line2D([], [], label=label, **(look | given))


def _grid(
    panels: int, across: int, size: tuple[float, float], key: Sequence[Line2D], right: float = 0.1
) -> tuple[Drawing, list[Axes]]:
    """A figure with empty panels, so many in a row, and the key below them."""
    down, gap = -(-panels // across), _GAP + _AXIS / max(across - 1, 1)
    end = _LEFT + across * (size[0] + gap) - gap
    width = max(_NARROWEST, end + _GAP + right)
    room = int((width - _LEFT - _SIGN) * _CHARACTERS_AN_INCH)
    texts = [textwrap.wrap(str(sign.get_label()), room, break_on_hyphens=False) for sign in key]
    below = _LINE * sum(map(len, texts)) + 0.1
    height = down * (_TOP + size[1]) + _AXIS + below
    drawing = Drawing(figsize=(width, height), dpi=72)
    sides = {"left": _LEFT / width, "right": end / width, "bottom": (below + _AXIS) / height, "top": 1 - _TOP / height}
    spaces = {"wspace": gap / size[0], "hspace": _TOP / size[1]}
    every = drawing.subplots(down, across, squeeze=False, gridspec_kw=sides | spaces).flatten().tolist()
    for axes in every[panels:]:
        axes.remove()
    drawing.legend(
        key, ["\n".join(lines) for lines in texts], loc="upper left", bbox_to_anchor=(_LEFT / width, below / height),
        fontsize=8, frameon=False, borderpad=0, borderaxespad=0, handlelength=72 * _SIGN / 8, labelspacing=0.6,
    )  # fmt: skip
    return drawing, every[:panels]


def _draw(axes: Axes, panel: Panel, looks: Mapping[str, tuple[str, str]], ticks: Sequence[str]) -> None:
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set_ylabel(panel.y, fontsize=8)
    if panel.floor is not None:
        axes.axhline(panel.floor, color=DARK, linewidth=0.8, linestyle=":", zorder=1)
    for place, series in enumerate(panel.series):
        colour, marker = looks[series.label]
        order = 4 if series.measured else 2
        shift = _SPREAD * ((place + 0.5) / len(panel.series) - 0.5) if ticks else 0.0
        known = [(x, y) for x, y in zip(series.x, series.y, strict=True) if y is not None and not isnan(y.value)]
        if ticks:
            places, values = [x.value + shift for x, _ in known], [y.value for _, y in known]
            width, line = 1.6 if series.measured else 0.9, "--" if series.second else "-"
            axes.plot(places, values, color=colour, linewidth=width, linestyle=line, zorder=order)
        for x, y in known:
            at, fill = x.value + shift, "white" if series.second or y.mark else colour
            # See-through where runs often lie upon one another.
            axes.plot(
                at, y.value, color=colour, linestyle="", zorder=order, marker=marker, clip_on=bool(ticks),
                markersize=_MARK if ticks else 6, markerfacecolor=fill if ticks else (colour, 0.4),
            )  # fmt: skip
            for bar in _bars(replace(x, value=at), y):
                axes.plot(*bar, color=colour, linewidth=1.0, zorder=order - 1)


def _make_logarithmic(axes: Axes, costs: Sequence[Figure]) -> None:
    low = min(cost.low or cost.value for cost in costs) / 1.4
    high = max(cost.high or cost.value for cost in costs) * 1.4
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    # Decades where there are several, and steps between them where there is hardly one.
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 30 else (1.0, 2.0, 5.0), numticks=6))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _bars(x: Figure, y: Figure) -> Iterator[tuple[list[float], list[float]]]:
    """The ends of a point's intervals, as two x and two y."""
    if x.low is not None and x.high is not None:
        yield [x.low, x.high], [y.value] * 2
    if y.low is not None and y.high is not None:
        yield [x.value] * 2, [y.low, y.high]


def _label(axes: Axes, points: Sequence[Point]) -> None:
    """Put the labels beside the points, each where it covers the least of markers, intervals and labels before it."""
    half, size = 5.0, 8.0  # points
    middles = [axes.transData.transform((point.x.value, point.y.value)) for point in points]
    taken = [Bbox.from_bounds(x - half, y - half, 2 * half, 2 * half) for x, y in middles]
    bars = [bar for point in points for bar in _bars(point.x, point.y)]
    taken += [Bbox(axes.transData.transform(list(zip(*bar, strict=True)))).padded(1) for bar in bars]
    for point, (x, y) in zip(points, middles, strict=True):
        wide, high, away = 0.65 * size * len(point.label), 0.8 * size, half + 1
        boxes = [
            Bbox.from_bounds(x + side * (away + wide / 2) - wide / 2, y + up * (away + high / 2) - high / 2, wide, high)
            for side, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 0.7), (-1, 0.7), (1, -0.7), (-1, -0.7))
        ]
        best = min(boxes, key=lambda box: sum(_shared(box, other) for other in taken))
        taken.append(best)
        axes.annotate(
            point.label, ((best.x0 + best.x1) / 2, (best.y0 + best.y1) / 2), xycoords="figure pixels", ha="center",
            va="center_baseline", fontsize=size, fontweight="bold" if point.measured else "normal", zorder=4,
        )  # fmt: skip


def _shared(one: Bbox, other: Bbox) -> float:
    shared = Bbox.intersection(one, other)
    return shared.width * shared.height if shared else 0.0


def _svg(drawing: Drawing, title: str) -> str:
    """Write a figure as SVG, without a date or background, and with what it shows in its metadata."""
    out = io.StringIO()
    drawing.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Title": title})
    return out.getvalue().replace("</style>", f"{_ON_DARK}</style>", 1)
