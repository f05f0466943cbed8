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

from music_evals.notation.lilypond import compiler
from music_evals.notation.lilypond.compiler import (
    LilyPondError,
    compile_text,
    compile_texts,
)
from music_evals.notation.lilypond.sandbox import Limits
from music_evals.notation.subprocesses import ELSEWHERE, Elsewhere

pytestmark = pytest.mark.usefixtures("lilypond_runs")

SCALE = r'\version "2.24.3" \score { { c4 d e f } \midi { } }'
SHARED = tomllib.loads(Path(__file__).with_name("shared.toml").read_text(encoding="utf-8"))


def pitches(midi):
    messages = mido.MidiFile(file=io.BytesIO(midi))
    return [message.note for message in messages if message.type == "note_on" and message.velocity]


def notes_of(compiled):
    return [pitches(midi) for midi in compiled.midi]


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


def test_no_lilypond(monkeypatch):
    def missing(name):
        raise compiler.PackageNotFoundError(name)

    compiler.lilypond_folder.cache_clear()
    monkeypatch.setattr(compiler, "version", missing)
    with pytest.raises(LilyPondError, match=r"pip install -e '.\[lilypond\]'"):
        compile_text(SCALE)
    compiler.lilypond_folder.cache_clear()
