"""Rendered audio: pitches, level, exact length, the same bytes everywhere; and the description of
WAV files.
"""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from music_evals.datasets_builders.muse.chords import compose_chord
from music_evals.notation.audio.clips import check_clip
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.audio.soundfont import default_soundfont
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import Note, Performance


def note_midi(pitch=60, velocity=80, ticks=960, onset=0):
    return write_midi(Performance((Note(onset, pitch, ticks, velocity),), 120, (4, 4), None))


def samples_of(wav):
    samples, _ = soundfile.read(io.BytesIO(wav))
    return samples


CHORD = write_midi(compose_chord("Eb", "dominant").performance)


def test_cut_sound_fades_and_short_sound_is_padded():
    cut = samples_of(render_wav(note_midi(ticks=9600), seconds=1.0))
    assert len(cut) == 44_100
    assert abs(cut[-1]) < 1e-3
    padded = samples_of(render_wav(note_midi(ticks=100), seconds=4.0))
    assert len(padded) == 4 * 44_100
    assert not padded[-44_100:].any()
    free = samples_of(render_wav(note_midi(ticks=100)))
    assert np.array_equal(free, padded[: len(free)])


PROGRAM = """
import sys
from music_evals.notation.audio.rendering import render_wav
data = sys.stdin.buffer.read()
render_wav(data, seconds=0.3)
sys.stdout.buffer.write(render_wav(data, seconds=6))
"""


def test_same_bytes_in_any_process():
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")
    environment = os.environ | dict.fromkeys(variables, "7")
    output = subprocess.check_output([sys.executable, "-c", PROGRAM], input=CHORD, env=environment)
    assert output == render_wav(CHORD, seconds=6)


def test_bad_requests_are_rejected(tmp_path):
    for seconds in (0, float("nan"), 601):
        with pytest.raises(ValueError, match=f"seconds is {seconds}"):
            render_wav(note_midi(), seconds=seconds)
    silence, too_long = write_midi(Performance((), 120, (4, 4), None)), note_midi(ticks=960 * 601)
    for midi, problem in (
        (b"MThd", "no MIDI file"),
        (silence, "no notes"),
        (too_long, "than 600 s"),
    ):
        with pytest.raises(ValueError, match=problem):
            render_wav(midi)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        render_wav(note_midi(), soundfont=tmp_path / "none.sf2")
    for content in (b"RIFF\0\0\0\0WAVE", default_soundfont().read_bytes()[:100_000]):
        (tmp_path / f"{len(content)}.sf2").write_bytes(content)
        with pytest.raises(ValueError, match=r"\.sf2 cannot be read"):
            render_wav(note_midi(), soundfont=tmp_path / f"{len(content)}.sf2")


def random_wav(subtype, frames=4410):
    buffer = io.BytesIO()
    samples = np.random.default_rng(0).uniform(-0.5, 0.5, (frames, 2))
    soundfile.write(buffer, samples, 22_050, subtype=subtype, format="WAV")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *(
            (random_wav("PCM_24")[:-lost], "it ends after")
            for lost in (1, 5, 6, 1000, 26_400, 26_460)
        ),
        (b"", "cannot be decoded"),
        (b"ID3" + bytes(100), "cannot be decoded"),
        (random_wav("PCM_16", frames=0), "holds no samples"),
        (random_wav("PCM_16")[:40], "it ends after 40 of"),
        (
            b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0" + bytes(16) + b"data\4\0\0\0abcd",
            "cannot be decoded",
        ),
    ],
)
def test_unusable_audio_is_rejected_with_the_reason(data, problem):
    with pytest.raises(ValueError, match=problem):
        check_clip(data)
