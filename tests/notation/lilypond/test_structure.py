"""LilyPond's own reading of scores: measures, keys, metres, voices, and the place of each note in
the text.
"""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from music_evals.notation.lilypond.structure import (
    StructureError,
    read_structure,
    read_structures,
)

pytestmark = pytest.mark.usefixtures("lilypond_runs")

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TWO_STAVES = CASES["two_staves"]


def test_measures_are_numbered_as_lilypond_does_and_notes_have_their_places():
    read = read_structure(TWO_STAVES)
    # By hand: three written measures, two of rest, one repeated, two endings, c2 and fis4.
    assert (read.measures, read.pickup, read.scores, read.problems) == (10, True, 1, ())
    assert [(key.name, key.moment) for key in read.keys] == [
        ("B-flat major", 0),
        ("E minor", Fraction(25, 4)),
    ]
    assert [(metre.name, metre.moment) for metre in read.metres] == [
        ("3/4", 0),
        ("2/4", Fraction(25, 4)),
    ]
    melody = [event for event in read.events if event.staff == 1]
    assert [(event.name, event.measure) for event in melody[:8]] == [
        ("d''", 0),
        *[("g'", 1), ("a'", 1), ("bes'", 1), ("c''", 1), ("d''", 1)],
        *[("ees''", 2), ("g''", 2)],
    ]
    assert melody[0].position == Fraction(-1, 4)
    assert [event.grace for event in melody[6:8]] == [True, False]
    assert [event.tied for event in melody[7:10]] == [False, False, True]
    assert [
        (event.name, event.measure, event.duration) for event in read.events if event.staff == 2
    ] == [
        ("r", 0, Fraction(1, 4)),
        ("c", 1, Fraction(3, 4)),
        ("d", 2, Fraction(1, 2)),
    ]


def test_a_text_without_music_is_an_error_that_says_why():
    table = "score\\t1\\tlayout\\nnote\\tx"
    forged = (
        f'#(call-with-output-file "score-structure.tsv" (lambda (port) (display "{table}" port)))'
    )
    texts = [
        "{ c'1 }",
        '\\markup "nothing"',
        "} nonsense {",
        f"{forged} #(primitive-_exit 0)",
        "{ d'1 e'1 }",
    ]
    first, *errors, last = read_structures(texts)
    assert [getattr(read, "measures", None) for read in (first, last)] == [1, 2]
    for error, why in zip(
        errors, ("there is no music", "score.ly:1:1: error", "cannot be read"), strict=True
    ):
        assert isinstance(error, StructureError)
        assert why in str(error)
