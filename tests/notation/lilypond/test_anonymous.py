"""Leak-free texts: what goes, what stays, and that LilyPond plays the same notes."""

import io
import re
from contextlib import suppress

import mido
import pytest

from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.source import SourceError, resolve_includes
from music_evals.notation.lilypond.syntax import Kind, definitions, read_header, scheme_tokens, tokens
from music_evals.notation.lilypond.upgrade import mend, upgrade
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia


def clean(text: str) -> str:
    """The text in its leak-free form, on one line."""
    once = anonymise(text)
    assert anonymise(once) == once
    return " ".join(once.split())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('\\header { title = "}" } { c4 }', "{ c4 }"),
        ("{ c4 % Bach\n d %{ J. S. %} e }", "{ c4 d e }"),
        (
            '\\score { { c4 } \\header { piece = "I" } \\layout { } \\midi { } }',
            "\\score { { c4 } \\layout { } \\midi { } }",
        ),
        ('\\paper { top-margin = 1 } \\book { { c4 } \\paper { } }', "\\book { { c4 } }"),
        ('\\version "2.24.3" \\language "deutsch" { h4 }', '\\version "2.24.3" { b4 }'),
        ('\\include "english.ly" { \\key bf \\major bf4 }', "{ \\key bes \\major bes4 }"),
        ('\\language "english" { df4 } \\drummode { hh4 }', '\\language "english" { df4 } \\drummode { hh4 }'),
        ('\\include "articulate.ly" { c4 }', '\\include "articulate.ly" { c4 }'),
        ('\\bookOutputName "bwv1" \\markup { By Bach } #(set-default-paper-size "a4") { c4 }', "{ c4 }"),
        # Texts on notes.
        ('{ c4^"a"d_\\markup { b } e-\\markup \\italic "c"-1 f-"g" ( a) }', "{ c4 d e -1 f ( a) }"),
        ('{ c4-\\tweak color #red ^"a" d-\\tweak font-size #3 -4 }', "{ c4 d-\\tweak font-size #3 -4 }"),
        ("{ c4\\tweak text \"a\" \\startTextSpan d-\\tag #'x ^\"b\" }", "{ c4 \\startTextSpan d }"),
        ('{ c4-\\footnote "1" #\'(0 . 1) "a" d \\footnote #\'(1 . 2) \\markup { b } e }', "{ c4 d e }"),
        ("{ c4\\f\\< d-> e-. f\\! \\trill }", "{ c4\\f\\< d-> e-. f\\! \\trill }"),
        # Tempi and marks.
        (
            '{ \\tempo "Largo" 4. = 40 c \\tempo "Presto" d \\tempo 2 = 60 e }',
            "{ \\tempo 4. = 40 c d \\tempo 2 = 60 e }",
        ),
        ("{ \\tempo \\markup { Largo } 4 = 40-50 c }", "{ \\tempo 4 = 40-50 c }"),
        (
            '{ \\mark \\default c \\mark "A" d \\mark \\markup { B } e \\mark 3 f }',
            "{ \\mark \\default c d e \\mark 3 f }",
        ),
        # Properties.
        ('{ \\set Staff.instrumentName = "Flute" c \\set Score.timing = ##t d }', "{ c \\set Score.timing = ##t d }"),
        ('{ \\once \\override TextScript.text = \\markup { a } c4 }', "{ c4 }"),
        ("{ \\once \\override Stem.length = #3 c4 \\revert Stem.length \\break }", "{ c4 }"),
        (
            '\\new Staff \\with { instrumentName = "Flute" fontSize = #2 } { c4 }',
            "\\new Staff \\with { fontSize = #2 } { c4 }",
        ),
        ("{ \\set Score.repeatCommands = #'((volta \"1.\") start-repeat) c }",) * 2,
        ('{ \\clef "treble_8" \\bar "|." \\repeat volta 2 { c } }',) * 2,
        # Names.
        (
            'bach = { c4 } { \\bach } "b 2" = { d } { \\"b 2" }',
            "voiceA = { c4 } { \\voiceA } voiceB = { d } { \\voiceB }",
        ),
        (
            'bwv.1 = { c4 } { \\bwv.1 } \\new Staff = "bwv" { \\change Staff = bwv c }',
            'voiceA.1 = { c4 } { \\voiceA.1 } \\new Staff = "partA" { \\change Staff = partA c }',
        ),
        ('\\new Staff = "up" { \\autochange { c4 } }',) * 2,
        (
            "{ \\tag #'flute c4 \\tag #'(flute horn) d } \\keepWithTag #'horn { e }",
            "{ \\tag #'tagA c4 \\tag #'(tagA tagB) d } \\keepWithTag #'tagB { e }",
        ),
        (
            '\\addQuote "horn" { c4 } { \\quoteDuring "horn" { s4 } \\cueDuring #"horn" #UP { s4 } }',
            '\\addQuote "cueA" { c4 } { \\quoteDuring "cueA" { s4 } \\cueDuring #"cueA" #UP { s4 } }',
        ),
        # Variables with text go with their uses.
        (
            'p = \\markup { dolce } rit = _"rit." a = { c4^\\p d\\rit \\set Staff.x = \\p \\mark \\p e }',
            "voiceA = { c4 d e }",
        ),
        ('p = #(make-dynamic-script "p dolce") { c4\\p d-\\p e }', "{ c4 d e }"),
        ("air = \\markup \\italic rit.\nb = { c4-\\air }", "voiceA = { c4 }"),
        ('name = "flute" \\new Staff = \\name { c4 } ', '\\new Staff = "partA" { c4 }'),
        ('loud = \\set Staff.x = "a" { \\loud c4 }', "voiceA = { } { \\voiceA c4 }"),
        # Lyrics.
        ('\\new Voice = "v" { c4 } \\addlyrics { la -- la } \\addlyrics { lo }', '\\new Voice = "partA" { c4 }'),
        (
            'w = \\lyricmode { la } << \\new Voice = "v" { c4 } \\new Lyrics \\with { x = 1 } \\lyricsto "v" \\w >>',
            '<< \\new Voice = "partA" { c4 } >>',
        ),
        ("<< { c4 } \\context Lyrics = x \\lyricmode { la4 la } \\lyrics { lo } >>", "<< { c4 } >>"),
        ("<< \\context Lyrics = x \\context Staff = y << { c4 } >> >>", "<< \\context Staff = partA << { c4 } >> >>"),
        # Layouts with text are emptied.
        ('\\layout { \\context { \\Staff \\consists "Ambitus_engraver" } }', "\\layout { }"),
        ('\\score { { c4 } \\layout { \\own "text" indent = 1 } }', "\\score { { c4 } \\layout { } }"),
        # Scheme.
        (
            'grand = #(define-music-function (m) (ly:music?) "Bach\'s" #{ \\bwv $m ^"a" % b\n #}) bwv = { d }',
            "voiceA = #(define-music-function (m) (ly:music?) #{ \\bwv $m #}) voiceB = { d }",
        ),
        (
            "#(define bwv '(bwv . 3)) { \\set Staff.transposition = #bwv }",
            "#(define voiceA '(bwv . 3)) { \\set Staff.transposition = #voiceA }",
        ),
        ('#(define-markup-command (bwv layout props a) (markup?) "x" a) { c4^\\markup \\bwv "y" }', "{ c4 }"),
    ],
)  # fmt: skip
def test_what_goes_and_what_stays(text: str, left: str) -> None:
    assert clean(text) == left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{ c4 \\own "Bach" }', "line 1 has the string '\"Bach\"'"),
        ('{\n \\clef "by Bach" }', r"line 2 has \\clef with the string"),
        ('{ #(f "Bach") }', "has Scheme with the string '\"Bach\"'"),
        ('f = #(define-music-function (m) (ly:music?) (g "Bach" m))', "has Scheme with the string"),
        ('\\include "bach.ly"', "has the included file '\"bach.ly\"'"),
        ('a = "x" a = { c4 }', "'a' holds text here and music there"),
        ('"\\\\<" = { c4 }', "gives .* a meaning of its own"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"cannot be made leak-free: .*{message}|{message}"):
        anonymise(text)


@pytest.mark.parametrize(
    "piece", ["{", "<<", "^", "-\\tweak a ", "\\new Lyrics ", "\\once ", "a = ", '"', "\\markup ", "#("]
)
def test_time_grows_with_the_text_alone(piece: str) -> None:
    with suppress(ValueError):
        assert len(anonymise(piece * 3_000)) <= len(piece) * 3_000 + 1_000


def test_names_hold_letters_only() -> None:
    text = anonymise("".join(f"{chr(97 + number % 26)}{'x' * (number // 26)} = {{ c4 }}\n" for number in range(60)))
    names = re.findall(r"^(\S+) =", text, re.MULTILINE)
    assert [names[0], *names[25:28]] == ["voiceA", "voiceZ", "voiceAA", "voiceAB"]
    assert len(set(names)) == 60


def some_pieces() -> list[str]:
    """Eight pieces of the Mutopia Project in one file each, in the current syntax."""
    paths = sorted(path for path in MUTOPIA.rglob("*.ly") if "-lys" not in str(path) and path.stat().st_size < 12_000)
    chosen = []
    for path in paths[:: len(paths) // 8]:
        with suppress(SourceError, ValueError):
            chosen.append(resolve_includes(path, convert=upgrade).text)
    return chosen


def notes(midi: bytes) -> list[tuple[int, int]]:
    """When which notes begin, in ticks. How long they sound, settings of MIDI output decide that go."""
    found = []
    for track in mido.MidiFile(file=io.BytesIO(midi)).tracks:
        now = 0
        for message in track:
            now += message.time
            if message.type == "note_on" and message.velocity > 0:
                found.append((now, message.note))
    return sorted(found)


@needs_mutopia
@pytest.mark.usefixtures("lilypond_runs")
def test_real_pieces_play_the_same_notes_and_keep_no_word() -> None:
    pieces, kept = some_pieces(), []
    for piece in pieces:
        with suppress(ValueError):
            kept.append((piece, anonymise(piece)))
    assert len(kept) >= 0.9 * len(pieces)
    compared = 0
    before, after = compile_texts(piece for piece, _ in kept), compile_texts(text for _, text in kept)
    for (piece, text), one, other in zip(kept, before, after, strict=True):
        assert anonymise(text) == text
        assert mend(text) == text
        assert one.status != 0 or other.status == 0, other.problem
        assert [notes(each) for each in one.midi] == [notes(each) for each in other.midi]
        compared += len(one.midi)
        fields = {name: value for name, value in read_header(piece).items() if name not in ("footer", "tagline")}
        words = {word.lower() for value in fields.values() for word in re.findall(r"[^\W\d_]{4,}", value)}
        assert not words & (words_of(text) - OF_MUSIC)
    assert compared >= 6


OF_MUSIC = {"treble", "bass", "alto", "tenor", "soprano"}
"""Words for clefs, which a header may use too."""


def words_of(text: str) -> set[str]:
    """Words in the comments and strings of a text, and in the names that it gives to variables and contexts."""
    found = list(tokens(text))
    told = [token.text for token in found if token.kind in (Kind.COMMENT, Kind.STRING)]
    told = [each for each in told if not re.fullmatch(r'"[A-Za-z_]+_(engraver|performer)"', each)]
    for token in found:
        if token.kind is Kind.SCHEME:
            told += [part.text for part in scheme_tokens(text, token) if part.kind in (Kind.COMMENT, Kind.STRING)]
    told += [definition.name for definition in definitions(text)]
    told += re.findall(r"\\(?:new|context|change)\s+\w+\s*=\s*(\S+)", text)
    return {word.lower() for each in told for word in re.findall(r"[^\W\d_]{4,}", each)}
