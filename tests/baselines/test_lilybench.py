"""The reader of LilyBench's scores through LilyPond's MIDI: against counts by hand, and LilyPond's
own structure.
"""

from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

from symusic import Score

from music_evals.baselines.lilybench import _SETTINGS, _common_key, count_measures, perform
from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.converters import modernise
from music_evals.notation.lilypond.structure import StructureError, read_structures

MUTOPIA = Path(__file__).parents[3] / "shared" / "data" / "mutopia" / "ftp"

# Numbered by hand: what LilyPond's structure must count, and with a plus, what its MIDI tells as
# well.
COUNTS = [
    (r"{ c'1 d'2 }", 2, True),
    (r"{ \partial 4 c'4 d'1 e'2. }", 2, True),
    (r"{ \time 6/8 \partial 8*3 c'4. d'2. e'4. }", 2, True),
    (r"{ \repeat volta 2 { c'1 d' } \alternative { { e'1 } { f'1 } } g'1 }", 5, True),
    (r"{ \repeat unfold 3 { c'1 } \alternative { { d'1 } { e'1 } } }", 6, True),
    (r"{ \repeat percent 4 { c'4 d' e' f' } \repeat tremolo 8 { c'16 d'16 } }", 5, True),
    (r"{ \time 6/8 R2.*3 \time 2/4 c'2 d' s4 }", 6, True),
    (r"{ \tuplet 3/2 { c'4 d' e' } \times 2/3 { f'2 g' a' } c'2 c'1*3/4 d'4 e'\breve }", 5, True),
    (r"<< { c'1 d' } { e'1 f' g' a' } >>", 4, True),
    (r"m = { \tag #'a { c'1 } \tag #'b { d'1 e' } } { \keepWithTag #'b \m }", 2, True),
    (r"\drums { hh8 hh bd4 sn2 | bd1 }", 2, True),
    # Of these MIDI says less.
    (r"{ c'1 \partial 2 d'2 e'1 }", 3, False),
    (r"{ \cadenzaOn c'4 d' e' f' g' \cadenzaOff c'1 d' }", 2, False),
    (r"\score { { c'1 } \midi { } } \score { { c'1 d' } \layout { } }", 2, False),
]


def test_measures_counted_by_hand():
    texts = [text for text, *_ in COUNTS]
    read_texts = zip(COUNTS, read_structures(texts), strict=True)
    for number, ((text, measures, by_midi), read) in enumerate(read_texts):
        assert not isinstance(read, StructureError)
        assert read.measures == measures, text
        if by_midi and number % 2 == 0:  # each is a run of LilyPond
            assert count_measures(text, perform(text)) == measures, text


@pytest.mark.parametrize(
    ("text", "key", "metre"),
    [
        (r"{ c'1 }", "C major", (4, 4)),
        (r"{ \key fis \minor \time 3/8 c'4. }", "F-sharp minor", (3, 8)),
        (r"\score { { r1 \time 3/4 \key bes \major c'2. } \layout { } }", "B-flat major", (4, 4)),
    ],
)
def test_key_and_metre(text, key, metre):
    assert perform(text)[1:] == (key, metre)


@pytest.mark.parametrize(
    ("option", "score", "name"),
    [
        (r"bes \major", "{ c1 }", "B-flat major"),
        (r"fis \minor", "{ c1 }", "F-sharp minor"),
        (r"sol \major", '\\language "italiano" { do1 }', "G major"),
        (r"sol \major", '\\language "klingon" { do1 }', r"sol \major"),
        ("C major", "{ c1 }", "C major"),
        ("3/4", "{ c1 }", "3/4"),
    ],
)
def test_keys_of_the_papers_rows(option, score, name):
    assert _common_key(option, score) == name


@pytest.mark.parametrize(
    "text", ["Dear reader, there is no music here.", "", "{ c'1", '\\header { title = "Air" }']
)
def test_what_has_no_music_is_an_error(text):
    with pytest.raises(ValueError, match="LilyPond makes no MIDI of the score"):
        perform(text)


PIECES = (
    "BachJS/BWV773/bach-invention-02/bach-invention-02.ly",
    "SorF/O45/sorf-op45n02/sorf-op45n02.ly",
)


@pytest.mark.skipif(not MUTOPIA.is_dir(), reason="no copy of Mutopia in ../shared/data/mutopia")
def test_the_notes_of_the_structure_are_those_of_the_midi():
    """By symusic's parser: what checks LilyPond's structure, which is the ground truth, note by
    note.
    """
    texts = [modernise((MUTOPIA / name).read_text(encoding="utf-8")) for name in PIECES]
    compiled = compile_texts(texts, settings=_SETTINGS)
    for name, text, midi, read in zip(PIECES, texts, compiled, read_structures(texts), strict=True):
        assert not isinstance(read, StructureError)
        heard = Score.from_midi(midi.midi[0])
        whole = 4 * heard.tpq
        played = {
            (Fraction(note.time, whole), note.pitch)
            for track in heard.tracks
            for note in track.notes
        }
        tied = {
            (event.moment + event.duration, event.degree, event.voice)
            for event in read.events
            if event.tied
        }
        written = {
            (
                event.moment,
                (0, 2, 4, 5, 7, 9, 11)[event.step or 0]
                + int(event.alteration)
                + 12 * event.octave
                + 60,
            )
            for event in read.events
            if event.step is not None
            and not event.grace
            and (event.moment, event.degree, event.voice) not in tied
        }
        # Grace notes are played as well.
        assert written <= played, name
        assert len(played) <= 1.02 * len(written), name
        assert read.measures == count_measures(text, perform(text)), name
