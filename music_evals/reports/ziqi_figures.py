"""ZIQI-Eval's figure: accuracy by theme as a heat map, models down and themes across."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib import colormaps, style
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle

from music_evals.reports.figures import STYLE, svg
from music_evals.reports.tables import Figure

# Cividis looks the same to colour-blind readers; its dark end is for low shares, and its bright one not too bright.
_COLOURS: Final = ListedColormap(colormaps["cividis"].resampled(256)(range(256)))
_ABSENT: Final = "#767676"
_DARK_UP_TO: Final = 55.0  # percent; the text of darker cells is white

_WIDE, _HIGH, _SET_APART, _TOP, _LEFT, _LINE = 0.68, 0.31, 0.14, 1.0, 2.0, 0.19  # inches
_CHARACTERS_A_INCH: Final = 16
_LONGEST_LABEL: Final = 30


@dataclass(frozen=True, slots=True)
class Line:
    """A model's line.

    Args:
        label: its name.
        cells: a figure in percent for each theme; None for one that is not known.
        measured: whether it was measured here, and not published.
    """

    label: str
    cells: Sequence[Figure | None]
    measured: bool


def heat_map(title: str, themes: Sequence[str], lines: Sequence[Line], keys: Sequence[str]) -> str:
    """Draw shares as coloured cells with their numbers, those of measured models with intervals and set apart.

    Args:
        title: what is shown.
        themes: headings.
        lines: the models, the published ones first.
        keys: what must be said of them, a paragraph each, below.

    Returns:
        The figure as SVG.

    Example:
        >>> text = heat_map("T", ["popular music"], [Line("GPT4", [Figure(89.15)], measured=False)], [])
        >>> "GPT4" in text, "89" in text
        (True, True)
    """
    width = _LEFT + len(themes) * _WIDE + 0.1
    written = [line for key in keys for line in textwrap.wrap(key, int(width * _CHARACTERS_A_INCH))]
    apart = _SET_APART if {line.measured for line in lines} == {True, False} else 0.0
    height = _TOP + len(lines) * _HIGH + apart + 0.15 + len(written) * _LINE + 0.05
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        # One unit is an inch, and y grows downwards.
        axes = drawing.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        for place, theme in enumerate(themes):
            axes.text(
                _LEFT + (place + 0.35) * _WIDE, _TOP - 0.08, textwrap.fill(theme[0].upper() + theme[1:], 14),
                rotation=45, rotation_mode="anchor", ha="left", va="bottom", fontsize=7.5, linespacing=0.95,
            )  # fmt: skip
        for number, line in enumerate(lines):
            y = _TOP + number * _HIGH + (apart if line.measured else 0.0)
            axes.text(
                _LEFT - 0.08, y + _HIGH / 2, textwrap.shorten(line.label, _LONGEST_LABEL, placeholder=" …"),
                ha="right", va="center", fontsize=8, fontweight="bold" if line.measured else "normal",
            )  # fmt: skip
            for place, figure in enumerate(line.cells):
                x = _LEFT + place * _WIDE
                if figure is None:
                    axes.text(x + _WIDE / 2, y + _HIGH / 2, "–", ha="center", va="center", fontsize=8, color=_ABSENT)
                    continue
                colour = "white" if figure.value < _DARK_UP_TO else "black"
                axes.add_patch(
                    Rectangle((x, y), _WIDE, _HIGH, facecolor=_COLOURS(figure.value / 100), edgecolor="white")
                )
                has_interval = figure.low is not None and figure.high is not None
                axes.text(
                    x + _WIDE / 2, y + _HIGH * (0.34 if has_interval else 0.5), f"{figure.value:.0f}", color=colour,
                    ha="center", va="center", fontsize=8, fontweight="bold" if line.measured else "normal",
                )  # fmt: skip
                if has_interval:
                    axes.text(
                        x + _WIDE / 2, y + _HIGH * 0.75, f"{figure.low:.0f}–{figure.high:.0f}", color=colour,
                        ha="center", va="center", fontsize=6,
                    )  # fmt: skip
        for number, text in enumerate(written):
            axes.text(0.1, height - 0.05 - (len(written) - number - 0.5) * _LINE, text, va="center", fontsize=8)
        return svg(drawing, title)
