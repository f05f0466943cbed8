"""LilyPond on harmless texts: its MIDI and messages, the same without engraving and in one process,
and the cache.
"""

import io
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path

import mido
import pytest
from music21 import converter

from music_evals.notation.lilypond import compiler, converters
from music_evals.notation.lilypond.compiler import (
    Compiled,
    LilyPondError,
    compile_text,
    compile_texts,
)
from music_evals.notation.lilypond.converters import (
    ConversionError,
    midi_to_lilypond,
    modernise,
    musicxml_to_lilypond,
)
from music_evals.notation.lilypond.sandbox import Limits
from music_evals.notation.scores.preparing import score_to_musicxml
from music_evals.notation.subprocesses import ELSEWHERE, Elsewhere

pytestmark = pytest.mark.usefixtures("lilypond_runs")

SCALE = r'\version "2.24.3" \score { { c4 d e f } \midi { } }'
SHARED = tomllib.loads(Path(__file__).with_name("shared.toml").read_text(encoding="utf-8"))
SEVERAL = tomllib.loads(Path(__file__).with_name("several.toml").read_text(encoding="utf-8"))


def pitches(midi):
    messages = mido.MidiFile(file=io.BytesIO(midi))
    return [message.note for message in messages if message.type == "note_on" and message.velocity]


def notes_of(compiled):
    return [pitches(midi) for midi in compiled.midi]


def test_a_scale_with_and_without_a_midi_block():
    compiled = compile_text(SCALE)
    assert compiled == Compiled(0, None, "", compiled.midi)
    # c without a mark is the C below middle C, MIDI's 48.
    assert notes_of(compiled) == [[48, 50, 52, 53]]
    assert compile_text(r'\version "2.24.3" { c4 d e f }') == Compiled(0, None, "")
    settings = (
        '#(define (default-toplevel-book-handler book) (call-with-output-file "seen.txt" newline))'
    )
    own = compile_text(SCALE, settings=settings, collect=["*.txt"])
    assert own == Compiled(0, None, "", (), {"seen.txt": b"\n"})


def test_messages_name_the_text_alone():
    compiled = compile_text('\\version "2.24.3"\n\\score {\n  { c4 d e cause }\n  \\midi { }\n}\n')
    assert compiled.messages.startswith("score.ly:3:12: error: ")
    assert (compiled.problem or "").startswith("exit status 1: score.ly:3:12: error: ")
    assert "/" not in compiled.messages
    missing = compile_text(r'\version "2.24.3" \include "no-such.ily"')
    assert "lilypond/share/lilypond" in missing.messages  # where it looked, the same on any machine
    assert str(Path(compiler.__file__).parents[3]) not in missing.messages


def test_nothing_changes_without_engraving_and_files_keep_their_order():
    many = "".join(f"\\score {{ {{ {note} }} \\midi {{ }} }}" for note in "cdefgabcdefgab")
    texts = [f'\\version "2.24.3" {text}' for text in (*SEVERAL.values(), many)]
    quick, engraved = (
        list(compile_texts(texts, together=True, **more)) for more in ({}, {"settings": ""})
    )
    assert [(run.status, run.midi) for run in quick] == [(run.status, run.midi) for run in engraved]
    assert all(run.midi for run in quick)
    notes = dict(zip((*SEVERAL, "many"), map(notes_of, quick), strict=True))
    assert notes["scores"] == [[48], [52]]
    # Explicit books come where they are, and scores outside of books last, in one book for all.
    assert notes["books"] == [[50], [52], [55], [55], [57], [48], [59]]
    assert notes["many"] == [[48], [50], [52], [53], [55], [57], [59]] * 2


def test_many_texts_keep_their_order_and_are_taken_as_needed():
    taken = []

    def texts():
        for note in cycle("cdefgab"):
            taken.append(note)
            yield f'\\version "2.24.3" \\score {{ {{ {note} }} \\midi {{ }} }}'

    results = compile_texts(texts(), workers=2)
    assert [notes_of(result) for result in islice(results, 3)] == [[[48]], [[50]], [[52]]]
    results.close()
    assert len(taken) < 50


def test_work_elsewhere_does_the_same():
    texts = [SCALE, "{ d'4 "]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        before = ELSEWHERE.set(Elsewhere(executor, 1))
        try:
            results = list(compile_texts(texts))
        finally:
            ELSEWHERE.reset(before)
    assert results == list(compile_texts(texts))


def test_limits_are_named_and_stopped_results_are_not_kept(tmp_path):
    assert compile_text("#(kill (getpid) SIGKILL)", cache=tmp_path).status == -9
    slow = compile_text("#(while #t #t)", cache=tmp_path, limits=Limits(seconds=1))
    assert (slow.status, slow.stopped, slow.succeeded) == (None, "time", False)
    assert slow.problem == "stopped after 1 s of CPU time"
    large = compile_text("%" + "x" * 2000, cache=tmp_path, limits=Limits(file_bytes=1024))
    assert large.problem == "not started: a text of more than 1 KiB"
    assert not list(tmp_path.iterdir())


def test_cache(tmp_path, monkeypatch):
    texts = [SCALE, "{ wrong", r'\version "2.24.3" #(call-with-output-file "é.txt" newline)']
    options = {"cache": tmp_path / "new", "collect": ["*.txt"]}
    first = list(compile_texts(texts, **options))
    entries = sorted((tmp_path / "new").iterdir())
    assert len(entries) == 3
    assert first[2].files == {"é.txt": b"\n"}

    def never(*arguments, **options):
        raise AssertionError("LilyPond runs")

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "run_confined", never)
        assert list(compile_texts(texts, **options)) == first
        # A longer time would not have changed the result; any other option may.
        longer = compile_text(SCALE, **options, limits=Limits(seconds=99))
        assert (longer.midi, longer.limits) == (first[0].midi, Limits(seconds=99))
        for other in ({"settings": ""}, {"collect": ()}, {"limits": Limits(memory=1 << 29)}):
            with pytest.raises(AssertionError, match="LilyPond runs"):
                compile_text(SCALE, **{**options, **other})
        patch.setattr(compiler, "lilypond_version", lambda: "2.99.0")
        with pytest.raises(AssertionError, match="LilyPond runs"):
            compile_text(SCALE, **options)
        patch.undo()
        patch.setattr(compiler._Job, "run", lambda job, content: first[1])
        (entry,) = [
            entry for entry in entries if b"TVRo" in entry.read_bytes()
        ]  # the MIDI file in Base64
        kept = entry.read_bytes()
        other_note = kept.replace(b"TVRo", b"TVRp")
        for damage in (b"", b"x" * 100, kept[:-1], other_note, b"[0, null, 3, [], {}]"):
            for entry in entries:
                entry.write_bytes(damage)
            assert compile_text(SCALE, **options) == first[1]
    assert sorted((tmp_path / "new").iterdir()) == entries


def test_texts_that_share_a_lilypond_come_out_as_alone():
    scores, others = SHARED["scores"], [*SHARED["wrong"], *SHARED["programs"]]
    results = list(compile_texts([*scores, *others], together=True))
    assert [notes_of(run) for run in results[: len(scores)]] == list(scores.values())
    assert [run.status for run in results[: len(scores)]] == [0] * len(scores)
    assert results[len(scores) :] == list(compile_texts(others))
    # A text that uses up what all may use harms no other.
    results = compile_texts(
        [SCALE, r"\foo " * 99], together=True, limits=Limits(output_bytes=1_000)
    )
    assert [run.stopped for run in results] == [None, "output"]


def test_old_texts_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    text = r'\version "2.12.0" { \times 2/3 { c4 d e } }'
    modern = modernise(text)
    assert r"\tuplet 3/2" in modern
    with monkeypatch.context() as patch:
        patch.setattr(converters, "_convert", None)  # nothing is left to do
        assert modernise(text) == modern
    with pytest.raises(ConversionError):
        modernise("no version")


def test_no_lilypond(monkeypatch):
    def missing(name):
        raise compiler.PackageNotFoundError(name)

    compiler.lilypond_folder.cache_clear()
    monkeypatch.setattr(compiler, "version", missing)
    with pytest.raises(LilyPondError, match=r"pip install -e '.\[lilypond\]'"):
        compile_text(SCALE)
    compiler.lilypond_folder.cache_clear()


def test_midi_to_lilypond_and_back(tmp_path, monkeypatch):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    text = midi_to_lilypond(compile_text(SCALE).midi[0])
    assert list(tmp_path.rglob("lilypond/bytecode/**/lilylib.cpython-310.pyc"))
    assert notes_of(compile_text(modernise(text))) == [[48, 50, 52, 53]]


def test_musicxml_to_lilypond():
    text = musicxml_to_lilypond(score_to_musicxml(converter.parse("tinyNotation: 3/4 c4 f'#4 B-4")))
    assert "\\relative" in text
    compiled = compile_text(text.replace("\\layout {}", "\\midi {}").replace("% \\midi {}", ""))
    assert notes_of(compiled) == [[60, 78, 58]]
    with pytest.raises(ConversionError, match="musicxml2ly ended with 1"):
        musicxml_to_lilypond("<nothing/>")
