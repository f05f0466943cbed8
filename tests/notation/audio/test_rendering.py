"""Rendered audio: exact length, level, the same bytes everywhere; and what is said about WAV files."""

import hashlib
import io
import os
import random
import subprocess
import sys
from pathlib import Path

import librosa
import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from music_evals.datasets_builders.muse.chords import INTERVALS, QUALITIES, ROOTS, compose_chord
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS, SLOTS, compose_drum_loop
from music_evals.datasets_builders.muse.melodies import INSTRUMENTS, Melody, compose_pair
from music_evals.notation.audio.rendering import AudioInfo, describe_wav, render_wav
from music_evals.notation.audio.soundfont import SAMPLE_RATE, default_soundfont
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import Note, Performance


def _midi(pitch: int = 60, velocity: int = 80, program: int = 0, ticks: int = 960, onset: int = 0) -> bytes:
    return write_midi(Performance((Note(onset, pitch, ticks, velocity),), 120, (4, 4), None, program=program))


def _samples(wav: bytes) -> npt.NDArray[np.float64]:
    samples, _ = soundfile.read(io.BytesIO(wav))
    return samples


def _stimuli() -> dict[str, tuple[bytes, float]]:
    melody = compose_pair(foil=None, instrument="guitar", rng=random.Random(2)).first.performance
    assert melody.length is not None
    return {
        "drums": (write_midi(compose_drum_loop(8, random.Random(3)).performance), 8.0),
        "melody": (write_midi(melody), melody.length / 480 * 60 / melody.tempo),
        "chord": (write_midi(compose_chord("Eb", "dominant").performance), 8.6),
    }


@pytest.mark.parametrize("name", ["drums", "melody", "chord"])
def test_level_and_length(name: str) -> None:
    midi, seconds = _stimuli()[name]
    wav = render_wav(midi, seconds=seconds)
    info = describe_wav(wav)
    assert (info.sample_rate, info.channels, info.encoding) == (44_100, 1, "PCM_16")
    assert abs(info.seconds - seconds) <= 0.5 / 44_100
    samples = _samples(wav)
    loudness = 20 * np.log10(np.sqrt(np.mean(samples**2)))
    # The published recordings lie between -24.3 and -19.7 dB, with peaks up to 0.93.
    assert -24.3 <= loudness <= -19.7
    assert np.abs(samples).max() <= 0.9301


def test_louder_velocity_is_louder_and_notes_start_on_time() -> None:
    # One performance, so that both notes get the same gain.
    notes = (Note(0, 60, 480, 40), Note(1920, 60, 480, 80))
    samples = _samples(render_wav(write_midi(Performance(notes, 120, (4, 4), None))))
    soft, loud = (np.sqrt(np.mean(samples[start : start + 20_000] ** 2)) for start in (0, 88_200))
    assert loud / soft == pytest.approx(4, rel=0.05)  # 40 dB a decade of velocity
    # A short hit cannot reach the loudness below the peak limit: it is left softer.
    hit = write_midi(Performance((Note(0, 36, 60, 127),), 30, (4, 4), None, percussion=True))
    assert np.abs(_samples(render_wav(hit))).max() <= 0.9301
    samples = _samples(render_wav(_midi(onset=960)))
    assert np.abs(samples[: 44_100 - 10]).max() == 0
    assert np.abs(samples[44_100 : 44_100 + 2000]).max() > 0.01


def test_cut_sound_fades_and_short_sound_is_padded() -> None:
    cut = _samples(render_wav(_midi(ticks=9600), seconds=1.0))
    assert len(cut) == 44_100
    assert abs(cut[-1]) < 1e-3
    padded = _samples(render_wav(_midi(ticks=100), seconds=4.0))
    assert len(padded) == 4 * 44_100
    assert not padded[-44_100:].any()
    free = _samples(render_wav(_midi(ticks=100)))
    assert np.array_equal(free, padded[: len(free)])


_PROGRAM = """
import hashlib, sys
from music_evals.notation.audio.rendering import render_wav
data = sys.stdin.buffer.read()
if sys.argv[1] == "warm":
    render_wav(data, seconds=0.3)
    render_wav(data, seconds=30)
print(hashlib.sha256(render_wav(data, seconds=6)).hexdigest())
"""


@pytest.mark.parametrize(("threads", "state"), [("1", "cold"), ("7", "warm")])
def test_same_bytes_in_any_process(threads: str, state: str) -> None:
    midi, _ = _stimuli()["chord"]
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")
    environment = os.environ | dict.fromkeys(variables, threads)
    printed = subprocess.check_output([sys.executable, "-c", _PROGRAM, state], input=midi, env=environment)
    assert printed.decode().strip() == hashlib.sha256(render_wav(midi, seconds=6)).hexdigest()


def test_bad_requests_are_rejected(tmp_path: Path) -> None:
    for seconds in (0, float("nan"), 601):
        with pytest.raises(ValueError, match=f"seconds is {seconds}"):
            render_wav(_midi(), seconds=seconds)
    silence = write_midi(Performance((), 120, (4, 4), None))
    for midi, problem in (
        (b"MThd", "header of a MIDI file"),
        (silence, "no notes"),
        (_midi(ticks=960 * 601), "than 600 s"),
    ):
        with pytest.raises(ValueError, match=problem):
            render_wav(midi)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        render_wav(_midi(), soundfont=tmp_path / "none.sf2")
    for content in (b"RIFF\0\0\0\0WAVE", default_soundfont().read_bytes()[:100_000]):
        (tmp_path / f"{len(content)}.sf2").write_bytes(content)
        with pytest.raises(ValueError, match=r"\.sf2 cannot be read"):
            render_wav(_midi(), soundfont=tmp_path / f"{len(content)}.sf2")


def _wav(subtype: str, frames: int = 4410, channels: int = 2) -> bytes:
    buffer = io.BytesIO()
    samples = np.random.default_rng(0).uniform(-0.5, 0.5, (frames, channels))
    soundfile.write(buffer, samples, 22_050, subtype=subtype, format="WAV")
    return buffer.getvalue()


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT"])
def test_description_of_a_wav(subtype: str) -> None:
    assert describe_wav(_wav(subtype)) == AudioInfo(22_050, 2, 0.2, subtype)


@pytest.mark.parametrize("lost", [1, 5, 6, 1000, 26_400, 26_460])
def test_truncated_wav_is_rejected(lost: int) -> None:
    with pytest.raises(ValueError, match="truncated"):
        describe_wav(_wav("PCM_24")[:-lost])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not a WAV"),
        (b"ID3" + bytes(100), "not a WAV"),
        (_wav("PCM_16", frames=0), "holds no samples"),
        (_wav("PCM_16")[:40], "no data chunk"),
        (b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0" + bytes(16) + b"data\4\0\0\0abcd", "cannot be decoded"),
    ],
)
def test_unusable_audio_is_rejected_with_the_reason(data: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        describe_wav(data)


# The stimuli sound like what they are: signal analysis, which knows nothing of how the audio was made beyond the tempo
# and where notes start, recovers the answers far above chance.


def _played(performance: Performance, seconds: float) -> npt.NDArray[np.float32]:
    return _samples(render_wav(write_midi(performance), seconds=seconds)).astype(np.float32)


def hear_chord(samples: npt.NDArray[np.float32]) -> tuple[str, str]:
    """Root and quality whose chord tones, as a 0-1 template, are nearest to the mean chroma (chance: 1 in 48)."""
    low = librosa.resample(samples, orig_sr=SAMPLE_RATE, target_sr=22_050)
    chroma = librosa.feature.chroma_cqt(y=low, sr=22_050, hop_length=1024, fmin=librosa.note_to_hz("C2"), n_octaves=5)
    mean = chroma.mean(axis=1)

    def likeness(chord: tuple[str, str]) -> float:
        root = librosa.note_to_midi(chord[0] + "4") % 12
        template = np.zeros(12)
        template[[(root + tone) % 12 for tone in INTERVALS[chord[1]]]] = 1
        return float(mean @ template / np.linalg.norm(template))

    return max(((root, quality) for root in ROOTS for quality in QUALITIES), key=likeness)


def hear_drums(samples: npt.NDArray[np.float32]) -> list[str]:
    """K, S or - for each slot, from the energy at the bottom (kick) and in the body of the snare (chance: 1 in 3)."""
    hop = 220
    power = np.abs(librosa.stft(samples, n_fft=1024, hop_length=hop)) ** 2
    frequency = librosa.fft_frequencies(sr=SAMPLE_RATE, n_fft=1024)
    energy = np.zeros((SLOTS, 2))
    for slot in range(SLOTS):
        start = round(slot * 0.25 * SAMPLE_RATE / hop)
        part = power[:, start : start + 18]  # 90 ms
        for band, (low, high) in enumerate(((30, 120), (150, 350))):
            energy[slot, band] = part[(frequency >= low) & (frequency < high)].sum()
    # The hi-hat, which sounds in every slot, has next to nothing in these bands.
    is_struck = energy.sum(axis=1) > energy.sum(axis=1).max() / 1000
    return [("K" if a > b else "S") if struck else "-" for (a, b), struck in zip(energy, is_struck, strict=True)]


def hear_melody(samples: npt.NDArray[np.float32], melody: Melody) -> list[int]:
    """Nearest MIDI pitch in the middle of each note."""
    found = []
    for note in sorted(melody.performance.notes):
        start, stop = (
            round(tick / 480 * 60 / melody.tempo * SAMPLE_RATE)
            for tick in (note.onset + note.duration // 8, note.onset + note.duration)
        )
        frequency = librosa.yin(
            samples[start:stop], fmin=70, fmax=1200, sr=SAMPLE_RATE, frame_length=4096, center=False
        )
        found.append(round(float(np.median(librosa.hz_to_midi(frequency)))))
    return found


def test_chroma_recovers_chords() -> None:
    # Every quality and most roots; all 48 chords in the first variants are too slow for here.
    chords = [compose_chord(ROOTS[i], QUALITIES[i % 4], variant=i % 3) for i in range(8)]
    heard = [hear_chord(_played(chord.performance, 8.6)) for chord in chords]
    assert sum(chord == (made.root, made.quality) for chord, made in zip(heard, chords, strict=True)) >= 7


def test_band_energy_recovers_drums_and_level() -> None:
    loops = [compose_drum_loop(OFFBEATS[i % 5], random.Random(f"heard/{i}")) for i in range(10)]
    heard = [hear_drums(_played(loop.performance, 8.0)) for loop in loops]
    right = levels = 0
    for loop, found in zip(loops, heard, strict=True):
        strokes = ["K" if slot in loop.kick else "S" if slot in loop.snare else "-" for slot in range(1, SLOTS + 1)]
        right += sum(a == b for a, b in zip(strokes, found, strict=True))
        levels += sum(stroke != "-" for stroke in found[1::2]) == loop.offbeats
    assert right > 0.98 * len(loops) * SLOTS
    assert levels >= 9


def test_pitch_tracking_recovers_melodies() -> None:
    right = total = 0
    for i in range(4):
        pair = compose_pair(foil=None, instrument=INSTRUMENTS[i % 2], rng=random.Random(i))
        for melody in (pair.first, pair.second):
            found = hear_melody(_played(melody.performance, 10.0), melody)
            right += sum(a == b for a, b in zip(found, melody.pitches, strict=True))
            total += len(melody.pitches)
    assert right > 0.9 * total
