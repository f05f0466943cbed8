"""The rendered stimuli sound like what they are: plain signal analysis recovers the answers, far above chance.

The analyses know nothing of how the audio was made, beyond the tempo and where notes start.
"""

import io
import random

import librosa
import numpy as np
import numpy.typing as npt
import soundfile

from music_evals.datasets_builders.muse.chords import INTERVALS, QUALITIES, ROOTS, compose_chord
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS, SLOTS, DrumLoop, compose_drum_loop
from music_evals.datasets_builders.muse.melodies import INSTRUMENTS, Melody, compose_pair
from music_evals.notation.audio import render_wav
from music_evals.notation.midi import write_midi
from music_evals.notation.performance import Performance
from music_evals.notation.soundfont import SAMPLE_RATE

_Samples = npt.NDArray[np.float32]


def _play(performance: Performance, seconds: float) -> _Samples:
    samples, _ = soundfile.read(io.BytesIO(render_wav(write_midi(performance), seconds=seconds)), dtype="float32")
    return samples


def hear_chord(samples: _Samples) -> tuple[str, str]:
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


def hear_drums(samples: _Samples) -> list[str]:
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


def _slots(loop: DrumLoop) -> list[str]:
    return ["K" if slot in loop.kick else "S" if slot in loop.snare else "-" for slot in range(1, SLOTS + 1)]


def hear_melody(samples: _Samples, melody: Melody) -> list[int]:
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
    heard = [hear_chord(_play(chord.performance, 8.6)) for chord in chords]
    assert sum(chord == (made.root, made.quality) for chord, made in zip(heard, chords, strict=True)) >= 7


def test_band_energy_recovers_drums_and_level() -> None:
    loops = [compose_drum_loop(OFFBEATS[i % 5], random.Random(f"heard/{i}")) for i in range(10)]
    heard = [hear_drums(_play(loop.performance, 8.0)) for loop in loops]
    slots = [a == b for loop, found in zip(loops, heard, strict=True) for a, b in zip(_slots(loop), found, strict=True)]
    levels = [
        sum(stroke != "-" for stroke in found[1::2]) == loop.offbeats for loop, found in zip(loops, heard, strict=True)
    ]
    assert sum(slots) > 0.98 * len(slots)
    assert sum(levels) >= 9


def test_pitch_tracking_recovers_melodies() -> None:
    right = total = 0
    for i in range(4):
        pair = compose_pair(foil=None, instrument=INSTRUMENTS[i % 2], rng=random.Random(i))
        for melody in (pair.first, pair.second):
            found = hear_melody(_play(melody.performance, 10.0), melody)
            right += sum(a == b for a, b in zip(found, melody.pitches, strict=True))
            total += len(melody.pitches)
    assert right > 0.9 * total
