"""The offline reader of LilyPond: against scores worked by hand, music21's corpus, and LilyPond itself."""

import ast
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.baselines.lilybench.errors import wrong_measures
from music_evals.baselines.lilybench.parser import parse_measure
from music_evals.baselines.lilybench.score import (
    Score,
    UnreadableScoreError,
    count_measures,
    metadata,
    next_measure,
    order_measures,
    read_score,
)
from music_evals.notation.lilypond import compiler
from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement
from music_evals.notation.lilypond.structure import read_structure

ROOT = Path(__file__).parents[2]
MUTOPIA = Path(__file__).parents[3] / "shared" / "data" / "mutopia" / "ftp"


def runs_lilypond() -> bool:
    try:
        compiler.lilypond_version()
        available_confinement()
    except (compiler.LilyPondError, SandboxError):
        return False
    return True


needs_lilypond = pytest.mark.skipif(not runs_lilypond(), reason="LilyPond is not installed or cannot be confined")
needs_mutopia = pytest.mark.skipif(not MUTOPIA.is_dir(), reason="no copy of Mutopia in ../shared/data/mutopia")


def notes(score: Score) -> Counter[tuple[int, Fraction, int, int]]:
    """Measure, position in it, steps of the staff from middle C, and semitones of alteration of all notes."""
    return Counter(
        (event.measure, event.position, pitch.degree, int(pitch.alteration))
        for voice in score.voices
        for event in voice.events
        if event.duration
        for pitch in event.pitches
    )


def heights(text: str) -> list[int]:
    """Of one voice, the steps of the staff from middle C of the first note of every chord."""
    return [event.pitches[0].degree for voice in read_score(text).voices for event in voice.events if event.pitches]


def test_the_reader_is_independent_of_the_ground_truth() -> None:
    for path in (ROOT / "music_evals/baselines/lilybench").glob("*.py"):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imported = {node.module or "" for node in tree if isinstance(node, ast.ImportFrom)}
        for name in imported:
            assert not any(word in name for word in ("music21", "datasets_builders", "structure", "compiler", "syntax"))


# Numbered by hand.
COUNTS = [
    ("{ c'1 d' e' }", 3),
    ("{ c'1 d'2 }", 2),
    (r"{ \time 3/4 c'2. d' }", 2),
    (r"{ \partial 4 c'4 d'1 e'2. }", 2),
    (r"{ \repeat volta 2 { c'1 d' } \alternative { { e'1 } { f'1 } } g'1 }", 5),
    (r"{ \repeat volta 2 { c'1 \alternative { { e'1 } { f'1 } } } }", 3),
    (r"{ \repeat unfold 3 { c'1 d' } }", 6),
    (r"{ \repeat unfold 3 { c'1 } \alternative { { d'1 } { e'1 } } }", 6),
    (r"{ \repeat percent 4 { c'4 d' e' f' } }", 4),
    (r"{ \repeat tremolo 8 { c'16 d'16 } }", 1),
    ("{ R1*4 s1*2 c'4 }", 7),
    (r"{ \time 6/8 R2.*3 \time 2/4 c'2 d' }", 5),
    (r"{ \tuplet 3/2 { c'4 d' e' } \times 2/3 { f'2 g' a' } c'2 }", 2),
    (r"{ c'1*3/4 d'4 e'\breve }", 3),
    (r"{ \grace { c'8 d' } c'1 \acciaccatura d'8 e'1 \afterGrace f'1 { e'16 f' } }", 3),
    (r"<< { c'1 d' } { e'1 f' g' a' } >>", 4),
    (r"{ << { c'1 } \\ { e'2 } >> d'1 }", 2),
    (r"{ <c' e'>2. <d' f'>4 q1 q }", 3),
    (r"{ c'4 4 8 8 4 | 1 }", 2),
    (r"{ <> c'1 <>^'x' d'1 }".replace("'x'", '"x"'), 2),
    (r"tune = { c'1 d' } { \tune \tune }", 4),
    (r"\new Staff \relative { \key g \major c'1 | d1 }", 2),
    (r"\score { << \new Staff { c'1 } \new Staff { d'1 e' } >> \layout { } }", 2),
    (r"\score { { c'1 } \midi { } } \score { { c'1 d' } \layout { } }", 2),
    (r"\drums { hh8 hh bd4 sn2 | bd1 }", 2),
    (r"<< \chords { c1:m7 g:7/b } \new Staff { c'1 d' } >>", 2),
    (r"<< \new Voice = a { c'1 d' } \new Lyrics \lyricsto a { one two 3 } >>", 2),
    (r"{ c'1 } \addlyrics { a b c d e f }", 1),
    (r"{ \override Stem.length = #(+ 1 2) c'2 -\tweak X-offset -1.5 \p \once \hide Stem d'2 | e'1 }", 2),
    (r"{ \set Staff.midiInstrument = #" + '"flute" \\tempo "Allegro" 4. = 60-70 c\'1 \\mark 5 d\'1 }', 2),
    (r"{ c'1^\markup { \bold { c d } e } d'1_\markup \italic dolce | e'1 }", 3),
    (r"{ c'1 % d'1" "\n %{ e'1 \n f'1 %} g'1 }", 2),
    (r'#(define x "{ c1 c1 c1") { c' + "'1 d' }", 2),
    (r"\transpose c d { c'1 e' }", 2),
    (r"{ \cadenzaOn c'4 d' e' f' g' \cadenzaOff c'1 d' }", 2),
    (r"{ c'1 \partial 2 d'2 e'1 }", 3),
    (r"m = { \tag #'a { c'1 } \tag #'b { d'1 e' } } { \keepWithTag #'b \m }", 2),
    (r"f = #(define-music-function (n music) (number? ly:music?) music) { \f 5 { c'1 d' } }", 2),
]


@pytest.mark.parametrize(("text", "measures"), COUNTS)
def test_measures_counted_by_hand(text: str, measures: int) -> None:
    assert count_measures(text) == measures


def test_relative_octaves() -> None:
    # The Notation Reference's own rule: the nearest, up or down, and then octave marks.
    assert heights(r"\relative c' { c g' c, f b f }") == [0, 4, 0, 3, 6, 3]
    assert heights(r"\relative { c'' b g }") == [7, 6, 4]
    assert heights(r"\relative c' { <c e g> <e' g> c }") == [0, 9, 7]
    assert heights(r"\relative c' { c'4 d | r q }") == [7, 8, 8]
    assert heights(r"\fixed c'' { c d, }") == [7, 1]
    assert heights(r"up = \relative c'' { c } \relative c' { g' \up g }") == [4, 7, 4]


def test_transposing_moves_keys_and_notes() -> None:
    text = r"\transpose c es { \key a \minor c'4 fis' b }"
    assert metadata(text)["key"] == "C minor"
    pitches = [event.pitches[0] for event in read_score(text).voices[0].events]
    assert [(pitch.step, int(pitch.alteration), pitch.octave) for pitch in pitches] == [
        (2, -1, 0),
        (5, 0, 0),
        (1, 0, 0),
    ]


@pytest.mark.parametrize(
    ("text", "key", "metre"),
    [
        ("{ c'1 }", "C major", "4/4"),
        (r"{ \key fis \minor \time 3/8 c'4. }", "F-sharp minor", "3/8"),
        (r"\language " + '"english" { \\key ef \\dorian \\time 2/2 c\'1 }', "E-flat dorian", "2/2"),
        (r"\include " + '"deutsch.ly" { \\key b \\major \\time 2,3 5/8 h8 }', "B-flat major", "5/8"),
        (r"{ c'1 \time 3/4 \key g \major c'2. }", "G major", "4/4"),
    ],
)
def test_metadata(text: str, key: str, metre: str) -> None:
    assert metadata(text) == {"key": key, "metre": metre, "note_length": metre.partition("/")[2]}


@needs_lilypond
@pytest.mark.parametrize("name", ["bach/bwv66.6", "bach/bwv7.7"])
def test_music21_has_the_same_notes_in_the_same_measures(name: str) -> None:
    from music21 import converter, corpus
    from music21.musicxml.m21ToXml import GeneralObjectExporter

    score = corpus.parse(name)
    score = score.scores[0] if hasattr(score, "scores") else score
    xml = GeneralObjectExporter(score).parse().decode()
    score = converter.parse(xml, format="musicxml")
    text = compiler.musicxml_to_lilypond(xml)
    expected: Counter[tuple[int, int, int]] = Counter()
    for measure in score.recurse().getElementsByClass("Measure"):
        for note in measure.recurse().notes:
            for pitch in note.pitches:
                accidental = int(pitch.accidental.alter) if pitch.accidental else 0
                expected[measure.number, pitch.diatonicNoteNum - 29, accidental] += 1
    read = read_score(text)
    assert read.measures == max(measure for measure, _, _ in expected)
    found = Counter({(m, degree, sign): 0 for m, _, degree, sign in notes(read)})
    for (measure_number, _, degree, sign), count in notes(read).items():
        found[measure_number, degree, sign] += count
    assert found == expected


PIECES = (
    "SchreckG/DergrimmigTod/DergrimmigTod.ly",
    "BachJS/BWV773/bach-invention-02/bach-invention-02.ly",
    "SorF/O45/sorf-op45n02/sorf-op45n02.ly",
    "BachJS/BWV1087/bwv-1087-07/bwv-1087-07.ly",
    "AguadoD/O3/aguado-op03n05/aguado-op03n05.ly",
    "MuellerW/Abschied/Abschied.ly",
    "SchumannR/O68/schumann-op68-11-sicilienne/schumann-op68-11-sicilienne.ly",
)


@needs_lilypond
@needs_mutopia
@pytest.mark.parametrize("name", PIECES)
def test_lilypond_has_the_same_notes_in_the_same_measures(name: str) -> None:
    text = compiler.modernise((MUTOPIA / name).read_text(encoding="utf-8"))
    truth = read_structure(text)
    read = read_score(text)
    assert read.measures == truth.measures
    assert notes(read) == Counter(
        (event.measure, event.position, event.degree, int(event.alteration))
        for event in truth.events
        if event.kind == "note" and not event.grace and event.degree is not None
    )


READERS: tuple[Callable[[str], object], ...] = (
    read_score,
    count_measures,
    metadata,
    wrong_measures,
    lambda text: order_measures([text, "c'4", text]),
    lambda text: next_measure(text, [text, "c'4"]),
)

HOSTILE = [
    "{" * 50_000,
    "<<" * 100_000,
    "{ " + "\\relative " * 50_000,
    "{ c'" + "'" * 100_000,
    "{ c4" + "*999999/999998" * 50_000,
    "{ \\repeat unfold 999999 { \\repeat unfold 999999 { c1 } } }",
    "{ R1*999999 }",
    "{ c1*9999999999999999999999 }",
    "{ " + "".join(f"c4*1/{prime} " for prime in range(99_001, 109_001, 2)) + "}",
    'a = "' + "\\" * 500_000,
    "{ #(" * 50_000,
    "#{" * 100_000,
    "a = { c1 }\n" + "".join(f"{chr(98 + i)} = {{ \\{chr(97 + i)} \\{chr(97 + i)} }}\n" for i in range(24)) + "{ \\y }",
    "{ \\tuplet 999999/999998 " * 70 + "c",
    "%{" * 300_000,
    "{ \\override " + "a." * 100_000,
    "{ \\transpose c " + "c'" * 20_000,
    "c-" * 500_000,
    "x" * 2_000_001,
    "",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20])
def test_hostile_text_is_refused_or_read_in_time(text: str) -> None:
    start = time.process_time()
    try:
        count_measures(text)
    except UnreadableScoreError as error:
        assert len(str(error)) < 300  # noqa: PT017 -- reading it is as good
    assert time.process_time() - start < 20


TOKENS = r"""{ } << >> < > \\ | ~ c d' e,, fis 4 8. 16*2/3 R1*2 r s q \relative \fixed \repeat volta unfold 2
\alternative \tuplet 3/2 \times \grace \afterGrace \key \major \time 3/4 3/5 \clef bass "treble" trebel \partial
\new Staff = x \context Voice \change \set a.b = #(x) #'y \tweak \markup \lyricmode \drummode \chordmode \transpose \tag
\keepWithTag \unfoldRepeats zq4 @ %{ %} \score \midi \layout \header name \name \cadenzaOn \parallelMusic
\tempo \mark \skip - ^ _ -. -1"""


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(TOKENS.split()), max_size=40).map(" ".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in READERS:
        try:
            outcome: object = reader(text)
        except UnreadableScoreError as refusal:
            outcome = str(refusal)
        assert outcome not in (None, "")


@given(st.permutations([0, 1, 2, 3]))
def test_a_scale_is_put_in_order_however_it_is_shuffled(order: list[int]) -> None:
    scale = ["c'4 d' e' f'", "g' a' b' c''", "d'' c'' b' a'", "g'2 g'"]
    assert order_measures([scale[place] for place in order]) == [order.index(place) for place in range(4)]


def test_order_goes_by_slurs_and_by_lengths_left_unsaid() -> None:
    assert order_measures(["e') d' c'2", "c'4 d' e' f'(", "c'1"]) == [1, 0, 2]
    # Only after an eighth note does the measure of eight notes fill its metre.
    assert order_measures(["c' c' c' c' c' c' c' c'", "c'4 c' c' c'(", "d'2.) c'8 c'"]) == [1, 2, 0]


def test_the_next_measure_goes_by_ties_and_lengths() -> None:
    assert next_measure("c'4 d' e' f' | g'1 ~", ["a'1", "g'2 e'", "f'2 g'"]) == 1
    assert next_measure("c'4 d' e' f'", ["g'", "g' a' b' c''"]) == 1
    with pytest.raises(ValueError, match="at most 6"):
        order_measures(["c'1"] * 7)


def test_every_order_has_all_measures() -> None:
    for segments in permutations(["", "zq", "{", "c'1"]):
        assert sorted(order_measures(list(segments))) == [0, 1, 2, 3]


def test_a_measure_alone_takes_the_length_before() -> None:
    music, last = parse_measure("c' d' e'8", Fraction(1, 2))
    assert [part.length for part in getattr(music, "parts", ())] == [Fraction(1, 2), Fraction(1, 2), Fraction(1, 8)]
    assert last == Fraction(1, 8)
