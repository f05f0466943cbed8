"""LilyPond's own reading of scores: measures, keys, metres, voices, and where in the text each note stands."""

from fractions import Fraction

import pytest
from music21 import converter, corpus

from music_evals.notation.lilypond.compiler import compile_text, modernise, musicxml_to_lilypond
from music_evals.notation.lilypond.source import read_text
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structure, read_structures
from music_evals.notation.scores.preparing import score_to_musicxml
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia

pytestmark = pytest.mark.usefixtures("lilypond_runs")

TWO_STAVES = r"""\version "2.24.0"
melody = \relative c'' {
  \key bes \major \time 3/4 \partial 4 d4 | g,8 a bes c d4 | \grace { es16 } g4 g g ~ | g2. | R2.*2 |
  \repeat volta 2 { a4 bes c } \alternative { { d2. } { d2. } } \key e \minor \time 2/4 c2 fis4
}
\score { << \new Staff \melody \new Staff { \clef bass \partial 4 r4 c2. d2 } >> \layout { } }
\score { \unfoldRepeats \melody \midi { } }
"""


@pytest.fixture(scope="module")
def two_staves(lilypond_runs: None) -> Structure:
    return read_structure(TWO_STAVES)


def test_measures_are_numbered_as_lilypond_does(two_staves: Structure) -> None:
    read = two_staves
    # By hand: three written measures, two of rest, one repeated, two endings, c2 and fis4.
    assert (read.measures, read.pickup, read.scores, read.problems) == (10, True, 1, ())
    assert [(key.name, key.moment) for key in read.keys] == [("B-flat major", 0), ("E minor", Fraction(25, 4))]
    assert [(metre.name, metre.moment) for metre in read.metres] == [("3/4", 0), ("2/4", Fraction(25, 4))]


def test_notes_know_their_place_in_the_music_and_in_the_text(two_staves: Structure) -> None:
    melody = [event for event in two_staves.events if event.staff == 1]
    assert [(event.name, event.measure) for event in melody[:8]] == [
        ("d''", 0),
        *[("g'", 1), ("a'", 1), ("bes'", 1), ("c''", 1), ("d''", 1)],
        *[("ees''", 2), ("g''", 2)],
    ]
    assert melody[0].position == Fraction(-1, 4)
    assert melody[6].grace
    assert not melody[7].grace
    assert [event.tied for event in melody[7:10]] == [False, False, True]
    assert TWO_STAVES[melody[3].offset :].startswith("bes c d4")
    assert [(event.name, event.measure, event.duration) for event in two_staves.events if event.staff == 2] == [
        ("r", 0, Fraction(1, 4)),
        ("c", 1, Fraction(3, 4)),
        ("d", 2, Fraction(1, 2)),
    ]


def test_bar_checks_are_not_counted() -> None:
    texts = {
        "{ c'1 c'1 c'1 }": 3,
        "{ c'2 | c'2 | c'1 | }": 2,
        "<< { c'1 | d' } \\\\ { c1 | d } >>": 2,
        "{ \\repeat percent 4 { c'1 } \\repeat unfold 3 { d'1 } }": 7,
        "{ R1*12 | c'2 }": 13,
    }
    assert [getattr(read, "measures", None) for read in read_structures(texts)] == list(texts.values())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{ c'1 \\cadenzaOn d'1 \\cadenzaOff e'1 }", "it has unmeasured music"),
        ("{ \\set Score.currentBarNumber = 12 c'1 d'1 }", "it numbers its measures otherwise"),
        ("\\score { { c'1 } } \\score { { d'1 } }", "it holds 2 scores"),
        ("{ c'2 \\partial 4 c'4 | c'1 }", "it has an incomplete measure inside"),
    ],
)
def test_what_has_no_plain_count_says_so(text: str, problem: str) -> None:
    assert problem in read_structure(text).problems


def test_modes_are_named() -> None:
    names = ["c \\major", "a \\minor", "d \\dorian", "fis \\minor", "es \\major", "b \\phrygian", "as \\mixolydian"]
    read = read_structure("{ " + " ".join(f"\\key {name} c'1" for name in names) + " }")
    full = ["C major", "A minor", "D dorian", "F-sharp minor", "E-flat major", "B phrygian", "A-flat mixolydian"]
    assert [key.name for key in read.keys] == full


def test_offsets_hold_after_accents_tabs_and_windows_line_ends() -> None:
    text = "\\markup \"é\tü\"\n\t{ %{ ïï %} c'4\td'4 }\r\n{ e'1 }"
    read = read_structure(text)
    assert [text[event.offset : event.offset + 2] for event in read.events] == ["c'", "d'"]


def test_a_text_without_music_is_an_error_that_says_why() -> None:
    with pytest.raises(StructureError, match="there is no music in the text"):
        read_structure('\\markup "nothing"')
    with pytest.raises(StructureError, match=r"score\.ly:1:1: error"):
        read_structure("} nonsense {")
    table = "score\\t1\\tlayout\\nnote\\tx"
    forged = f'#(call-with-output-file "score-structure.tsv" (lambda (port) (display "{table}" port)))'
    with pytest.raises(StructureError, match="cannot be read"):
        read_structure(f"{forged} #(primitive-_exit 0)")
    readings = read_structures(["{ c'1 }", "no score", "{ d'1 e'1 }"])
    assert [getattr(read, "measures", None) for read in readings] == [1, None, 2]


def test_counts_of_scores_are_music21s() -> None:
    score = corpus.parse("bach/bwv66.6")
    measures = [measure.number for measure in score.parts[0].getElementsByClass("Measure")]
    read = read_structure(musicxml_to_lilypond(score_to_musicxml(score)))
    assert read.measures == max(measures)
    assert read.pickup == (measures[0] == 0)
    assert sum(event.kind == "note" and event.staff == 1 for event in read.events) > 10


# Pieces of one metre and without pickup and repeats, so that MIDI's length in measures is the score's.
@needs_mutopia
@pytest.mark.parametrize(
    ("piece", "measures"), [("BachJS/BWV940/bwv-940/bwv-940.ly", 10), ("AbtF/Vocalise1/Vocalise1.ly", 16)]
)
def test_counts_of_mutopia_pieces_are_those_of_their_midi(piece: str, measures: int) -> None:
    text = modernise(read_text(MUTOPIA / piece))
    read = read_structure(text)
    (midi, *_) = compile_text(text).midi
    heard = converter.parseData(midi, format="midi")
    assert read.measures == max(len(part.getElementsByClass("Measure")) for part in heard.parts) == measures
    assert (read.problems, read.pickup, len(read.metres)) == ((), False, 1)
