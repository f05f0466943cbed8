"""Rendered audio: pitches, level, exact length, the same bytes everywhere; and the description of
WAV files.
"""

import io
import os
import random
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from music_evals.datasets_builders.muse.chords import compose_chord
from music_evals.datasets_builders.muse.drum_loops import compose_drum_loop
from music_evals.datasets_builders.muse.melodies import INSTRUMENTS, compose_pair
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
STIMULI = [(write_midi(compose_drum_loop(8, random.Random(3)).performance), 8.0), (CHORD, 8.6)]


@pytest.mark.parametrize(("midi", "seconds"), STIMULI)
def test_level_and_length(midi, seconds):
    wav = render_wav(midi, seconds=seconds)
    info = soundfile.info(io.BytesIO(wav))
    assert (info.samplerate, info.channels, info.subtype) == (44_100, 1, "PCM_16")
    assert abs(info.duration - seconds) <= 0.5 / 44_100
    samples = samples_of(wav)
    loudness = 20 * np.log10(np.sqrt(np.mean(samples**2)))
    # The published recordings lie between -24.3 and -19.7 dB, with peaks up to 0.93.
    assert -24.3 <= loudness <= -19.7
    assert np.abs(samples).max() <= 0.9301


def fundamental(samples):
    """MIDI pitch, by the distance at which the sound is most like itself."""
    spectrum = np.abs(np.fft.rfft(samples, 2 * len(samples))) ** 2
    likeness = np.fft.irfft(spectrum)[:632] / (len(samples) - np.arange(632))
    lags = range(44_100 // 1200, 44_100 // 70)
    best = likeness[lags].max()
    lag = next(
        lag for lag in lags if likeness[lag] > 0.9 * best and likeness[lag] >= likeness[lag + 1]
    )
    return float(69 + 12 * np.log2(44_100 / lag / 440))


def test_notes_sound_at_their_pitch_and_time():
    for instrument in INSTRUMENTS:
        melody = compose_pair(foil=None, instrument=instrument, rng=random.Random(2)).first
        samples = samples_of(render_wav(write_midi(melody.performance), seconds=10.0))
        ticks = 44_100 * 60 / melody.tempo / 480
        spans = [
            (note.onset + note.duration // 8, note.onset + note.duration)
            for note in melody.performance.notes
        ]
        heard = [round(fundamental(samples[round(a * ticks) : round(b * ticks)])) for a, b in spans]
        assert sum(a == b for a, b in zip(heard, melody.pitches, strict=True)) > 0.9 * len(heard)


def test_louder_velocity_is_louder_and_notes_start_on_time():
    # One performance: both notes get the same gain.
    notes = (Note(0, 60, 480, 40), Note(1920, 60, 480, 80))
    samples = samples_of(render_wav(write_midi(Performance(notes, 120, (4, 4), None))))
    soft, loud = (np.sqrt(np.mean(samples[start : start + 20_000] ** 2)) for start in (0, 88_200))
    assert loud / soft == pytest.approx(4, rel=0.05)  # 40 dB a decade of velocity
    # A short hit cannot reach the loudness below the peak limit.
    hit = write_midi(Performance((Note(0, 36, 60, 127),), 30, (4, 4), None, percussion=True))
    assert np.abs(samples_of(render_wav(hit))).max() <= 0.9301
    samples = samples_of(render_wav(note_midi(onset=960)))
    assert np.abs(samples[: 44_100 - 10]).max() == 0
    assert np.abs(samples[44_100 : 44_100 + 2000]).max() > 0.01


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


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT"])
def test_sound_audio_passes_and_cut_audio_does_not(subtype):
    data = random_wav(subtype)
    check_clip(data)
    with pytest.raises(ValueError, match=f"it ends after {len(data) - 8} of {len(data)} bytes"):
        check_clip(data[:-8])


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
