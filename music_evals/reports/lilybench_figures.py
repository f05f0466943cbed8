"""LilyBench's figure: how near the numbers of measures come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib import style
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.figures import STYLE, svg
from music_evals.reports.looks import DARK, add_key, draw, key_height, looks_of
from music_evals.reports.tables import Figure

_WIDTH, _HEIGHT, _LEFT, _TOP, _AXIS, _KEY = 4.6, 2.6, 0.65, 0.15, 0.55, 7.6  # inches
_SPREAD: Final = 0.3  # of the distance between two errors, over which the marks of several models are spread


@dataclass(frozen=True, slots=True)
class Curve:
    """What one model's answers come to.

    Args:
        label: what the key calls it.
        shares: of the answers within each error, from 0 to 1.
    """

    label: str
    shares: Sequence[Figure]


def within_errors(errors: Sequence[int], curves: Sequence[Curve], paper: tuple[float, float]) -> str:
    """Draw the share of answers within an error, cumulative: the higher and the further to the left, the nearer.

    Args:
        errors: in measures, rising.
        curves: of each model, as many shares as there are errors.
        paper: the lowest and the highest share of the paper's models within the last error.

    Returns:
        The figure as SVG.

    Source: arXiv 2606.08722, section 4.2.

    Example:
        >>> text = within_errors([0, 10], [Curve("some/model", [Figure(0.1, 0.05, 0.2), Figure(0.4)])], (0.06, 0.18))
        >>> "some/model" in text, "exact" in text
        (True, True)
    """
    looks = looks_of([True] * len(curves))
    last = len(errors) - 1
    key = [(look.sign, curve.label) for look, curve in zip(looks, curves, strict=True)]
    low, high = paper
    key.append(
        (
            Line2D([], [], color=DARK, marker="_", markersize=9, linewidth=0),
            f"Paper, section 4.2: its models have {low:.2f} to {high:.2f} within {errors[-1]}, on scores of its own.",
        )
    )
    if any("†" in curve.label for curve in curves):
        key.append(
            (Line2D([], [], linestyle=""), "†: not the paper's procedure, and not to be compared with its figures.")
        )
    key.append((Line2D([], [], linestyle=""), "Bars: 95% intervals. Answers that cannot be read are within no error."))
    width, height = _KEY, _TOP + _HEIGHT + _AXIS + key_height(key)
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        bottom = key_height(key) + _AXIS
        axes = drawing.add_axes((_LEFT / width, bottom / height, _WIDTH / width, _HEIGHT / height))
        for number, (curve, look) in enumerate(zip(curves, looks, strict=True)):
            aside = _SPREAD * ((number + 0.5) / len(curves) - 0.5)
            draw(axes, [place + aside for place in range(len(errors))], curve.shares, look, hollow=False)
        beside = last + 0.3
        axes.plot([beside, beside], paper, color=DARK, marker="_", markersize=9, linewidth=1.2)
        axes.set_xticks(range(len(errors)), ["exact" if not error else f"within {error}" for error in errors])
        axes.set_xlim(-0.4, last + 0.5)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("Error in measures")
        axes.set_ylabel("Share of answers")
        add_key(drawing, key, _LEFT, key_height(key) - 0.1)
        return svg(drawing, "LilyBench: errors of bar_count")
