"""MUSE's figure: accuracy from audio against accuracy from MIDI, by task and strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.figures import STYLE, svg
from music_evals.reports.looks import DARK, Key, Look, add_key, draw, key_height, looks_of
from music_evals.reports.muse_runs import CHANCE, MODALITIES, SHOTS, STRATEGIES, Cell
from music_evals.reports.tables import Figure

_STRATEGY_WORDS: Final = {"standalone": "Standalone", "cot": "CoT", "logiclm": "LogicLM"}
_LINES: Final[Mapping[str, str]] = {"zero": "-", "few": "--"}
_PANEL, _HEIGHT, _LEFT, _TOP, _GAP, _AXIS = 2.5, 1.9, 0.85, 0.35, 0.2, 0.45  # inches
_SPREAD: Final = 0.46  # of the distance between audio and MIDI, over which marks in one place are spread


@dataclass(frozen=True, slots=True)
class Series:
    """What one model earns.

    Args:
        label: what the key calls it.
        figures: cell → accuracy in percent.
        measured: whether it was measured here, and not published.
    """

    label: str
    figures: Mapping[Cell, Figure]
    measured: bool


def modality_gap(series: Sequence[Series], tasks: Sequence[str]) -> str:
    """Draw accuracy from audio and from MIDI, joined by a line: steep where a model reads better than it hears.

    Args:
        series: the models; published ones are drawn in grey.
        tasks: which tasks, a column of panels each.

    Returns:
        The figure as SVG.

    Source: arXiv 2510.22455, section 3 and Figure 1A.

    Example:
        >>> cells = [Cell("syncopation", modality, "zero", "cot") for modality in MODALITIES]
        >>> text = modality_gap([Series("m", dict.fromkeys(cells, Figure(50.0)), measured=True)], ["syncopation"])
        >>> text.count("<svg "), "Syncopation" in text
        (1, True)
    """
    looks = looks_of([one.measured for one in series])
    key = _key(series, looks)
    width = _LEFT + len(tasks) * _PANEL + (len(tasks) - 1) * _GAP + 0.1
    bottom = _AXIS + key_height(key)
    height = _TOP + len(STRATEGIES) * _HEIGHT + (len(STRATEGIES) - 1) * _GAP + bottom
    with style.context(["default", dict(STYLE)]):
        drawing = Drawing(figsize=(width, height), dpi=72)
        for (row, strategy), (column, task) in product(enumerate(STRATEGIES), enumerate(tasks)):
            left = _LEFT + column * (_PANEL + _GAP)
            low = height - _TOP - (row + 1) * _HEIGHT - row * _GAP
            axes = drawing.add_axes((left / width, low / height, _PANEL / width, _HEIGHT / height))
            _draw(axes, series, looks, task, strategy)
            if row == 0:
                axes.set_title(task.replace("_", " ").capitalize(), loc="left", fontsize=10)
            axes.tick_params(labelbottom=row == len(STRATEGIES) - 1, labelleft=column == 0, length=0)
            if column == 0:
                axes.set_ylabel(f"{_STRATEGY_WORDS[strategy]}\naccuracy (%)")
        add_key(drawing, key, _LEFT, bottom - _AXIS)
        return svg(drawing, "MUSE: accuracy from audio and from MIDI")


def _draw(axes: Axes, series: Sequence[Series], looks: Sequence[Look], task: str, strategy: str) -> None:
    axes.set_ylim(-4, 104)
    axes.set_yticks(range(0, 101, 25))
    axes.set_xlim(-0.4, 1.4)
    axes.set_xticks([0, 1], ["Audio", "MIDI"])
    axes.grid(visible=False, axis="x")
    axes.axhline(100 * CHANCE[task], color=DARK, linewidth=0.8, linestyle=":", zorder=1)
    lines = list(product(range(len(series)), SHOTS))
    for place, (number, shots) in enumerate(lines):
        one, look = series[number], looks[number]
        shift = _SPREAD * ((place + 0.5) / len(lines) - 0.5)
        cells = [Cell(task, modality, shots, strategy) for modality in MODALITIES]
        known = [(x + shift, one.figures[cell]) for x, cell in enumerate(cells) if cell in one.figures]
        if not known:
            continue
        places = [x for x, _ in known]
        draw(axes, places, [figure for _, figure in known], look, dashes=_LINES[shots], hollow=shots == "few")


def _key(series: Sequence[Series], looks: Sequence[Look]) -> Key:
    zero = Line2D([], [], color=DARK, linewidth=1.0, marker="o", markersize=4.5)
    few = Line2D([], [], color=DARK, linewidth=1.0, marker="o", markersize=4.5, linestyle="--", markerfacecolor="white")
    chance = Line2D([], [], color=DARK, linewidth=1.0, linestyle=":")
    return [
        *(
            (look.sign, one.label if one.measured else f"{one.label} (paper)")
            for one, look in zip(series, looks, strict=True)
        ),
        (zero, "zero-shot"),
        (few, "few-shot"),
        (chance, "chance"),
    ]
