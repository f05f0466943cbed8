"""The published procedure by hand: bars, and draws that hardly depend on the corpus.

`tests/oracles/test_lilybench_published.py` compares it with the outputs of another implementation.
"""

import random
from collections import Counter

import pytest

from music_evals.datasets_builders.lilybench.paper import corrupt, make_rows, split_bars
from music_evals.datasets_builders.lilybench.rows import (
    CORRUPTIONS,
    TASKS,
    Piece,
)
from music_evals.notation.lilypond.syntax.header import read_header

MUTOPIA_TASKS = tuple(task for task in TASKS if task != "emotion_recognition")
KEYS = ("c \\major", "g \\major", "bes \\major", "a \\minor", "fis \\minor")
METRES = ("4/4", "3/4", "6/8", "2/2", "3/16")
COMPOSERS = ("Ann Abel", "Bo Berg", "Cy Cole", "Di Dove", "Ed Emm")
STYLES = ("Baroque", "Classical", "Folk", "Jazz", "March")


def text(number):
    """One piece of two voices; it says its title twice, and has nine bars, one of them of a
    comment.
    """
    return rf"""\version "2.18.2" % made by hand | on paper
\header {{
  title = "Tune No. {number}" mutopiatitle = "Tune No. {number}" subtitle = "a | b"
  composer = "{COMPOSERS[number % 5]}"
  style = "{STYLES[number // 5 % 5]}"
}}
\paper {{ line = "|" indent = 0 }}
upper = \relative c'' {{ \key {KEYS[number % 5]} \time {METRES[number // 3 % 5]} c4 d | e f |
  \key d \dorian g a | b c | }}
lower = {{ \time 2/4 c,2 | b,4 a, | g,1 \bar "||" | | f,1 | }}
"""


def piece(number):
    return Piece(f"composer/tune-{number:02d}", text(number), read_header(text(number)))


PIECES = [piece(number) for number in range(60)]


@pytest.mark.parametrize(
    ("source", "bars"),
    [
        ("", []),
        ("c1", []),
        ("c | d", ["c"]),
        (" | |", []),
        ('"a | \n b|', ['"a', "b"]),  # a string that is not closed ends with its line
        ('\\header { a = "|" } c |', ["c"]),
        (
            "\\header { a { | } } | c |",
            ["\\header { a {", "} }", "c"],
        ),  # as published: no braces within a block
        ("\\paper{ | } \\header never closed | |", ["\\header never closed"]),
        ('\\bar\n"|\n|" c \\mark "|" | % d | e', ['c \\mark ""', "% d"]),
    ],
)
def test_bars_by_hand(source, bars):
    assert split_bars(source) == bars


def test_hostile_texts_end():
    for hostile in (
        r"\header{",
        '"',
        r"\header ",
        r"\key c ",
        r"\time 1",
        r'\bar "',
        "title=",
        r'\header{title="',
    ):
        source = hostile * (100_000 // len(hostile)) + " " * 50_000 + "1" * 50_000
        assert split_bars(source) == []
        assert corrupt(source, "invalid_bar_duration", random.Random(1)) is None
        header = {"composer": "A", "style": "B"}
        for task in MUTOPIA_TASKS:
            assert make_rows(task, [Piece("piece", source, header)], 1) == []


def test_fewer_pieces_make_fewer_rows_or_none():
    assert len(make_rows("bar_count", PIECES, 1)) == 60
    assert Counter(row["kind"] for row in make_rows("error_detection", PIECES, 1)) == dict.fromkeys(
        CORRUPTIONS, 12
    )
    # Only pieces that state a composer and a style count, and four values are needed.
    bare = [Piece(piece.id, piece.text, {"composer": "Ann Abel"}) for piece in PIECES]
    assert make_rows("bar_count", bare, 1) == make_rows("composer_recognition", PIECES[:3], 1) == []
    with pytest.raises(ValueError, match=r"emotion_recognition.*its rows come from EMOPIA"):
        make_rows("emotion_recognition", PIECES, 1)
