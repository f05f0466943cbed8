"""MSU-Bench's figure: accuracy at each level, and the scores of which all is right up to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.figures import STYLE, svg
from music_evals.reports.looks import DARK, Key, Look, add_key, draw, key_height, looks_of
from music_evals.reports.tables import Figure

_PANEL, _HEIGHT, _LEFT, _TOP, _ACROSS, _DOWN, _AXIS = 3.6, 2.3, 0.65, 0.35, 0.75, 0.55, 0.55  # inches
_SPREAD: Final = 0.5  # of the distance between levels, over which marks in one place are spread


@dataclass(frozen=True, slots=True)
class Series:
    """What one model earns, in percent.

    Args:
        label: what the key calls it.
        figures: a figure for each level, from the first; None where there is none.
        measured: whether it was measured here, and not published.
    """

    label: str
    figures: Sequence[Figure | None]
    measured: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of the figure.

    Args:
        title: what stands above it.
        axis: what its figures are.
        series: the models; one that another panel has too is drawn alike in both.
    """

    title: str
    axis: str
    series: Sequence[Series]


def levels_figure(panels: Sequence[Panel]) -> str:
    """Draw figures by level, a line a model; a figure with a mark, which its table explains, is hollow.

    Args:
        panels: two a row.

    Returns:
        The figure as SVG.

    Source: arXiv 2511.20697, section 5.2 and Figure 6.

    Example:
        >>> panel = Panel("textual", "accuracy (%)", [Series("m", [Figure(50.0, 40.0, 60.0), None], measured=True)])
        >>> text = levels_figure([panel, panel])
        >>> text.count("<svg "), text.count("accuracy (%)")
        (1, 2)
    """
    all_series = {series.label: series for panel in panels for series in panel.series}
    ordered = sorted(all_series.values(), key=lambda series: series.measured)
    looks = dict(
        zip((series.label for series in ordered), looks_of([series.measured for series in ordered]), strict=True)
    )
    key = _key(panels, looks)
    rows = (len(panels) + 1) // 2
    width = _LEFT + 2 * _PANEL + _ACROSS + 0.1
    bottom = _AXIS + key_height(key)
    height = _TOP + rows * _HEIGHT + (rows - 1) * _DOWN + bottom
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        for place, panel in enumerate(panels):
            row, column = divmod(place, 2)
            left = _LEFT + column * (_PANEL + _ACROSS)
            low = height - _TOP - (row + 1) * _HEIGHT - row * _DOWN
            axes = drawing.add_axes((left / width, low / height, _PANEL / width, _HEIGHT / height))
            _draw(axes, panel, looks)
            if row == rows - 1:
                axes.set_xlabel("level")
        add_key(drawing, key, _LEFT, bottom - _AXIS)
        return svg(drawing, "MSU-Bench: accuracy and success by level")


def _draw(axes: Axes, panel: Panel, looks: dict[str, Look]) -> None:
    levels = max(len(series.figures) for series in panel.series)
    axes.set_title(panel.title.capitalize(), loc="left", fontsize=10)
    axes.set_ylabel(panel.axis)
    axes.set_ylim(-4, 104)
    axes.set_yticks(range(0, 101, 25))
    axes.set_xlim(0.5, levels + 0.5)
    axes.set_xticks(range(1, levels + 1))
    axes.tick_params(length=0)
    axes.grid(visible=False, axis="x")
    for place, series in enumerate(panel.series):
        shift = _SPREAD * ((place + 0.5) / len(panel.series) - 0.5)
        known = [
            (level + shift, figure)
            for level, figure in enumerate(series.figures, start=1)
            if figure is not None and not isnan(figure.value)
        ]
        look = looks[series.label]
        draw(axes, [x for x, _ in known], [figure for _, figure in known], look, hollow=False)
        marked = [(x, figure) for x, figure in known if figure.mark]
        for x, figure in marked:
            draw(axes, [x], [figure], look, hollow=True)


def _key(panels: Sequence[Panel], looks: dict[str, Look]) -> Key:
    entries = [(look.sign, label) for label, look in looks.items()]
    if any(figure and figure.mark for panel in panels for series in panel.series for figure in series.figures):
        hollow = Line2D([], [], color=DARK, linestyle="", marker="o", markersize=4.5, markerfacecolor="white")
        entries.append((hollow, "hollow: of the scores that can be judged, which are not all"))
    return entries
