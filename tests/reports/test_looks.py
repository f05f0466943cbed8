"""How figures of several models look: told apart, and a key that stays within the picture."""

from itertools import pairwise

from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from music_evals.reports.looks import COLOURS, GREYS, MARKERS, add_key, draw, key_height, looks_of
from music_evals.reports.tables import Figure


def test_no_two_series_look_alike_and_colours_come_first() -> None:
    kinds = [False] * len(GREYS) * 5 + [True] * len(COLOURS) * len(MARKERS)
    looks = looks_of(kinds)
    assert len({(look.colour, look.marker) for look in looks}) == len(kinds)
    measured = [look.colour for look in looks if look.measured]
    assert len({*measured[: len(COLOURS)]}) == len(COLOURS)
    assert not {*measured} & {look.colour for look in looks if not look.measured}


def test_a_long_key_goes_on_in_lines_of_its_own_within_its_height() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    key = [(Line2D([], []), words), (Line2D([], []), "short")]
    height = key_height(key)
    drawing = Drawing(figsize=(9, height), dpi=72)
    add_key(drawing, key, 0.5, height)
    texts = [text.get_text() for text in drawing.texts]
    assert " ".join(texts) == f"{words} short"
    ends = [text.get_window_extent() for text in drawing.texts]
    assert all(above.y0 > below.y1 for above, below in pairwise(ends))
    assert min(end.y0 for end in ends) >= 0
    assert max(end.x1 for end in ends) <= 9 * 72


def test_an_interval_is_drawn_where_there_is_one() -> None:
    axes = Drawing().add_subplot()
    draw(axes, [1.0, 2.0], [Figure(50.0, 40.0, 65.0), Figure(30.0)], looks_of([True])[0], hollow=True)
    joined, interval = axes.lines
    assert list(joined.get_ydata()) == [50.0, 30.0]
    assert (list(interval.get_xdata()), list(interval.get_ydata())) == ([1.0, 1.0], [40.0, 65.0])
    assert joined.get_markerfacecolor() == "white"
