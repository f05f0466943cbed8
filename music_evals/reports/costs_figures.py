"""The figure of scores against what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from music_evals.reports.figures import STYLE, svg
from music_evals.reports.looks import Look, add_key, key_height, looks_of
from music_evals.reports.tables import Figure

_ACROSS: Final = 4  # panels
_PANEL, _HEIGHT, _LEFT, _GAP, _TOP, _AXIS = 2.1, 1.9, 0.6, 0.25, 0.35, 0.45  # inches
_WIDEST_KEY: Final = 7.2  # inches


@dataclass(frozen=True, slots=True)
class Spent:
    """A run.

    Args:
        model: its name, which gives it its look.
        cost: above 0.
        score: in percent.
    """

    model: str
    cost: Figure
    score: float


def score_against_cost(title: str, label: str, panels: Mapping[str, Sequence[Spent]]) -> str:
    """Draw scores against costs on a logarithmic axis, a panel for each task: better to the top, cheaper to the left.

    Args:
        title: what is shown.
        label: what the cost is.
        panels: name of a task → its runs.

    Returns:
        The figure as SVG.

    Example:
        >>> panels = {"textual": [Spent("some/model", Figure(12.0, 10.0, 15.0), 44.0)]}
        >>> text = score_against_cost("T", "Seconds", panels)
        >>> "some/model" in text, "Textual" in text
        (True, True)
    """
    models = sorted({run.model for runs in panels.values() for run in runs})
    looks = dict(zip(models, looks_of([True] * len(models)), strict=True))
    key = [
        *((_dot(look), model) for model, look in looks.items()),
        (
            Line2D([], [], linestyle=""),
            "A point is a run, under whatever condition; bars: 95% intervals of the median.",
        ),
    ]
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    width = max(_WIDEST_KEY, _LEFT + across * (_PANEL + _GAP))
    height = down * (_TOP + _HEIGHT + _AXIS) + key_height(key)
    ends = _ends([run for runs in panels.values() for run in runs])
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        for place, (task, runs) in enumerate(panels.items()):
            row, column = divmod(place, across)
            left = _LEFT + column * (_PANEL + _GAP)
            bottom = height - (row + 1) * (_TOP + _HEIGHT) - row * _AXIS
            axes = drawing.add_axes((left / width, bottom / height, _PANEL / width, _HEIGHT / height))
            axes.set_title(task.replace("_", " ").capitalize(), loc="left", fontsize=9)
            _draw(axes, runs, looks, ends)
            axes.tick_params(labelleft=column == 0, labelbottom=place + across >= len(panels), labelsize=8)
            if column == 0:
                axes.set_ylabel("Mean score (%)", fontsize=8)
            if place + across >= len(panels):
                axes.set_xlabel(label, fontsize=8)
        add_key(drawing, key, _LEFT, key_height(key) - 0.1)
        return svg(drawing, title)


def _draw(axes: Axes, runs: Sequence[Spent], looks: Mapping[str, Look], ends: tuple[float, float]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(-4, 104)
    # Decades where there are several, and steps between them where there is hardly one.
    wide = ends[1] / ends[0] > 30
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=6))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    for run in runs:
        look = looks[run.model]
        if run.cost.low is not None and run.cost.high is not None:
            axes.plot((run.cost.low, run.cost.high), (run.score, run.score), color=look.colour, linewidth=1.0)
        # See-through, because runs often lie upon one another at 0 and at 100.
        axes.plot(
            run.cost.value, run.score, marker=look.marker, markersize=6, color=look.colour,
            markerfacecolor=(look.colour, 0.4), linestyle="", clip_on=False,
        )  # fmt: skip


def _ends(runs: Sequence[Spent]) -> tuple[float, float]:
    """Where the axis of all panels begins and ends."""
    low = min((run.cost.low or run.cost.value for run in runs), default=inf)
    high = max(run.cost.high or run.cost.value for run in runs)
    return low / 1.4, high * 1.4


def _dot(look: Look) -> Line2D:
    return Line2D(
        [], [], linestyle="", marker=look.marker, markersize=6, color=look.colour, markerfacecolor=(look.colour, 0.4)
    )
