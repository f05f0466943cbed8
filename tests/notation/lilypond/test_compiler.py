"""LilyPond on harmless texts: what it makes and says, that leaving out engraving changes nothing, and the cache."""

import io
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path

import mido
import pytest
from music21 import converter

from music_evals.notation.lilypond import compiler
from music_evals.notation.lilypond.compiler import (
    Compiled,
    ConversionError,
    LilyPondError,
    compile_text,
    compile_texts,
    midi_to_lilypond,
    modernise,
    modernise_together,
    musicxml_to_lilypond,
)
from music_evals.notation.lilypond.sandbox import Limits
from music_evals.notation.noise import noise_text
from music_evals.notation.scores.preparing import score_to_musicxml
from music_evals.notation.subprocesses import ELSEWHERE, Elsewhere

pytestmark = pytest.mark.usefixtures("lilypond_runs")

SCALE = r'\version "2.24.3" \score { { c4 d e f } \midi { } }'


def pitches(midi: bytes) -> list[int]:
    messages = mido.MidiFile(file=io.BytesIO(midi))
    return [message.note for message in messages if message.type == "note_on" and message.velocity]


def test_a_scale_with_and_without_a_midi_block() -> None:
    compiled = compile_text(SCALE)
    assert compiled == Compiled(0, None, "", compiled.midi)
    assert compiled.problem is None
    # c without a mark is the C below middle C, MIDI's 48.
    assert [pitches(midi) for midi in compiled.midi] == [[48, 50, 52, 53]]
    assert compile_text(r'\version "2.24.3" { c4 d e f }') == Compiled(0, None, "")
    settings = '#(define (default-toplevel-book-handler book) (call-with-output-file "seen.txt" newline))'
    own = compile_text(SCALE, settings=settings, collect=["*.txt"])
    assert own == Compiled(0, None, "", (), {"seen.txt": b"\n"})


def test_messages_name_the_text_alone() -> None:
    compiled = compile_text('\\version "2.24.3"\n\\score {\n  { c4 d e cause }\n  \\midi { }\n}\n')
    assert compiled.status == 1
    assert compiled.messages.startswith("score.ly:3:12: error: ")
    assert (compiled.problem or "").startswith("exit status 1: score.ly:3:12: error: ")
    assert "/" not in compiled.messages
    missing = compile_text(r'\version "2.24.3" \include "no-such.ily"')
    assert "lilypond/share/lilypond" in missing.messages  # where it looked, as it were on any machine
    assert str(Path(compiler.__file__).parents[3]) not in missing.messages


SEVERAL = tomllib.loads(Path(__file__).with_name("several.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SEVERAL)
def test_nothing_changes_without_engraving(name: str) -> None:
    text = f'\\version "2.24.3" {SEVERAL[name]}'
    quick, plain = compile_text(text), compile_text(text, settings="")
    assert (quick.status, quick.midi) == (plain.status, plain.midi)
    assert plain.midi


def test_order_of_midi_files() -> None:
    (c, e) = compile_text(f'\\version "2.24.3" {SEVERAL["scores"]}').midi
    assert (pitches(c), pitches(e)) == ([48], [52])
    books = compile_text(f'\\version "2.24.3" {SEVERAL["books"]}').midi
    # Explicit books are done where they stand, and what stands outside of books last, in one book for all.
    assert [pitches(midi) for midi in books] == [[50], [52], [55], [55], [57], [48], [59]]
    many = "".join(f"\\score {{ {{ {note} }} \\midi {{ }} }}" for note in "cdefgabcdefgab")
    midi = compile_text(f'\\version "2.24.3" {many}').midi
    assert [pitches(file) for file in midi] == [[48], [50], [52], [53], [55], [57], [59]] * 2


def test_many_texts_keep_their_order_and_are_taken_as_needed() -> None:
    taken = []
    texts = (f'\\version "2.24.3" \\score {{ {{ {note} }} \\midi {{ }} }}' for note in cycle("cdefgab"))
    results = compile_texts((taken.append(text) or text for text in texts), workers=2)
    assert [pitches(result.midi[0]) for result in islice(results, 5)] == [[48], [50], [52], [53], [55]]
    assert len(taken) < 50
    results.close()


def test_random_music_compiles() -> None:
    text = '\\version "2.24.3" \\score { << \\new Staff { c\'4 %s } \\new Staff { c4 } >> }' % ("d' e' f' " * 60)
    compiled = compile_text(noise_text(text, "lilypond").replace("\\score {", "\\score { \\midi {}"))
    assert compiled.succeeded, compiled.messages
    assert sum(map(len, map(pitches, compiled.midi))) > 30


def test_work_elsewhere_does_the_same() -> None:
    texts = [SCALE, SCALE.replace("{ c4", "{ c8"), "{ d'4 "]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        before = ELSEWHERE.set(Elsewhere(executor, 1))
        try:
            found = list(compile_texts(texts))
        finally:
            ELSEWHERE.reset(before)
    assert found == list(compile_texts(texts))


def test_limits_are_told_and_what_they_ended_is_not_kept(tmp_path: Path) -> None:
    assert compile_text("#(kill (getpid) SIGKILL)", cache=tmp_path).status == -9
    slow = compile_text("#(while #t #t)", cache=tmp_path, limits=Limits(seconds=1))
    assert (slow.status, slow.stopped, slow.succeeded) == (None, "time", False)
    assert slow.problem == "stopped after 1 s of CPU time"
    large = compile_text("%" + "x" * 2000, cache=tmp_path, limits=Limits(file_bytes=1024))
    assert large.problem == "not started: a text of more than 1 KiB"
    assert not list(tmp_path.iterdir())


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [SCALE, "{ wrong", r'\version "2.24.3" #(call-with-output-file "é.txt" newline)']
    first = list(compile_texts(texts, cache=tmp_path / "new", collect=["*.txt"]))
    entries = sorted((tmp_path / "new").iterdir())
    assert len(entries) == 3
    assert first[2].files == {"é.txt": b"\n"}

    def never(*arguments: object, **options: object) -> object:
        raise AssertionError("LilyPond runs")

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "run_confined", never)
        assert list(compile_texts(texts, cache=tmp_path / "new", collect=["*.txt"])) == first
        # A longer time would not have changed what ended in time; nothing else may differ.
        (again,) = compile_texts([SCALE], cache=tmp_path / "new", collect=["*.txt"], limits=Limits(seconds=99))
        assert (again.midi, again.limits) == (first[0].midi, Limits(seconds=99))
        for other in ({"settings": ""}, {"collect": ()}, {"limits": Limits(memory=1 << 29)}):
            with pytest.raises(AssertionError, match="LilyPond runs"):
                compile_text(SCALE, **{"cache": tmp_path / "new", "collect": ["*.txt"], **other})
        patch.setattr(compiler, "lilypond_version", lambda: "2.99.0")
        with pytest.raises(AssertionError, match="LilyPond runs"):
            compile_text(SCALE, cache=tmp_path / "new", collect=["*.txt"])

    for damage in (b"", b"x" * 100, entries[0].read_bytes()[:-1], entries[0].read_bytes() + b"more"):
        for entry in entries:
            entry.write_bytes(damage)
        assert compile_text(texts[1], cache=tmp_path / "new", collect=["*.txt"]) == first[1]
    assert sorted((tmp_path / "new").iterdir()) == entries


def test_texts_that_share_a_lilypond_come_out_as_alone() -> None:
    texts = [
        SCALE,
        r'\language "english" \score { { cs4 } \midi { } }',
        r"\score { { cis'4 } \midi { } }",  # of which nothing is left in the next language
        "} nonsense {",
        '\\score { { c4 \\set tempWholes = #1 d } \\midi { } }\n{ \\foo "00score.ly"',
        "",
        r'\bookOutputName "00score" \score { { g4 } \midi { } }',
        r"#(set! ly:parser-output-name (lambda () \"00score\")) \score { { e4 } \midi { } }",
        r"#(primitive-_exit 0)",
        r"\score { { c4 } \midi { } } \score { { d4 } \midi { } }",
        SCALE,
    ]
    alone = list(compile_texts(texts))
    assert {one.status for one in alone} == {0, 1}
    assert list(compile_texts(texts, together=True)) == alone
    # A text that uses up what all may use harms no other.
    limits = Limits(seconds=2)
    endless = r"x = { c4 c } x = { \repeat unfold 99999 \x } \score { \repeat unfold 9999 \x \midi { } }"
    found = list(compile_texts([SCALE, endless, SCALE], together=True, limits=limits))
    assert [one.succeeded for one in found] == [True, False, True]


def test_many_old_texts_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = [
        r'\version "2.12.0" { \times 2/3 { c4 d e } }',
        "no version",
        r'\version "2.16.0" { \times 2/3 { c8 d e } }',
    ]
    alone = [modernise(text) for text in texts[::2]]
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    modernise_together(texts[::2])
    monkeypatch.setattr(compiler, "_convert", None)  # nothing is left to do
    assert [modernise(text, cache=True) for text in texts[::2]] == alone
    monkeypatch.undo()
    modernise_together(texts)
    with pytest.raises(ConversionError):
        modernise(texts[1], cache=True)


def test_no_lilypond(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise compiler.PackageNotFoundError(name)

    compiler._lilypond.cache_clear()
    monkeypatch.setattr(compiler, "version", missing)
    with pytest.raises(LilyPondError, match=r"pip install 'music-evals\[lilypond\]'"):
        list(compile_texts([SCALE]))
    compiler._lilypond.cache_clear()


def test_midi_to_lilypond_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (midi,) = compile_text(SCALE).midi
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    text = midi_to_lilypond(midi)
    assert list(tmp_path.rglob("lilypond/bytecode/**/lilylib.cpython-310.pyc"))
    assert midi_to_lilypond(midi) == text
    assert [pitches(again) for again in compile_text(modernise(text)).midi] == [[48, 50, 52, 53]]


def test_musicxml_to_lilypond() -> None:
    text = musicxml_to_lilypond(score_to_musicxml(converter.parse("tinyNotation: 3/4 c4 f'#4 B-4")))
    assert "\\relative" in text
    compiled = compile_text(text.replace("\\layout {}", "\\midi {}").replace("% \\midi {}", ""))
    assert [pitches(midi) for midi in compiled.midi] == [[60, 78, 58]]
    with pytest.raises(ConversionError, match="musicxml2ly ended with 1"):
        musicxml_to_lilypond("<nothing/>")
