"""How figures of several models look: a colour and a mark for each, marks with intervals, and a key below."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.tables import Figure

# Okabe and Ito's colours without the yellow, which is lost on white: told apart by colour-blind readers too.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
GREYS: Final = ("#8c8c8c", "#a6a6a6", "#bfbfbf", "#737373")
DARK: Final = "#444444"
MARKERS: Final = "os^vD<>"

_CHARACTERS: Final = 105  # a line of the key, beside its sign
_SIGN, _LINE = 0.45, 0.19  # inches
_MARK: Final = 4.5  # points

Key = Sequence[tuple[Line2D, str]]
"""Sign and text of each entry."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn."""

    colour: str
    marker: str
    measured: bool

    @property
    def width(self) -> float:
        """How thick its lines are, in points."""
        return 1.6 if self.measured else 0.9

    @property
    def sign(self) -> Line2D:
        """A sample of it, for a key."""
        return Line2D([], [], color=self.colour, marker=self.marker, markersize=_MARK, linewidth=self.width)


def looks_of(measured: Sequence[bool]) -> list[Look]:
    """Give each series a colour and a mark, in order: greys to the published, colours to the measured.

    Args:
        measured: of each series, whether it was measured.

    Returns:
        As many looks, no two alike for some dozens of series.

    Example:
        >>> [look.colour for look in looks_of([False, True])]
        ['#8c8c8c', '#0072B2']
    """
    looks, numbers = [], {True: 0, False: 0}
    for is_measured in measured:
        colours = COLOURS if is_measured else GREYS
        number = numbers[is_measured]
        # Another mark with every colour, and another pairing of the two in the next round of colours.
        marker = MARKERS[(number + number // len(colours)) % len(MARKERS)]
        looks.append(Look(colours[number % len(colours)], marker, is_measured))
        numbers[is_measured] += 1
    return looks


def add_key(drawing: Drawing, key: Key, left: float, top: float) -> None:
    """Write a key below the panels, an entry below another.

    Args:
        drawing: the figure.
        key: sign and text of each entry; a long text goes on in the next line.
        left: where it begins, in inches.
        top: where its first line begins, in inches from the bottom.
    """
    width, height = drawing.get_size_inches()
    line = 0
    for sign, label in key:
        y = (top - _LINE * (line + 0.5)) / height
        drawing.add_artist(sign)
        sign.set_transform(drawing.transFigure)
        sign.set_data([left / width, (left + _SIGN / 2) / width, (left + _SIGN) / width], [y, y, y])
        sign.set_markevery([1])
        for text in _wrapped(label):
            middle = (top - _LINE * (line + 0.5)) / height
            drawing.text((left + _SIGN + 0.1) / width, middle, text, va="center_baseline", fontsize=8)
            line += 1


def key_height(key: Key) -> float:
    """How much room a key takes, in inches."""
    return _LINE * (sum(len(_wrapped(label)) for _, label in key) + 0.5)


def draw(
    axes: Axes, places: Sequence[float], figures: Sequence[Figure], look: Look, *, dashes: str = "-", hollow: bool
) -> None:
    """Draw figures as marks that a line joins, with their intervals.

    Args:
        axes: where.
        places: where on the x axis, one for each figure.
        figures: the figures, none of them undefined.
        look: how.
        dashes: matplotlib's style of the line.
        hollow: whether the marks are.
    """
    order = 4 if look.measured else 2
    axes.plot(
        places, [figure.value for figure in figures], color=look.colour, linewidth=look.width, linestyle=dashes,
        marker=look.marker, markersize=_MARK, markerfacecolor="white" if hollow else look.colour, zorder=order,
    )  # fmt: skip
    for x, figure in zip(places, figures, strict=True):
        if figure.low is not None and figure.high is not None:
            axes.plot([x, x], [figure.low, figure.high], color=look.colour, linewidth=1.0, zorder=order - 1)


def _wrapped(label: str) -> list[str]:
    return textwrap.wrap(label, _CHARACTERS, break_on_hyphens=False)
