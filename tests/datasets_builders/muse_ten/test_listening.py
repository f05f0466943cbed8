"""The sound of the stimuli against librosa, which shares no code with the renderer: ten items a
task.
"""

import io
from itertools import pairwise
from typing import Any

import librosa
import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from music_evals.datasets_builders.dataset_io import load_split
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK, FORMS
from music_evals.notation.midi.files import parse_midi_text

RATE, HOP = 22_050, 512
MAJOR = np.array(
    [6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88]
)  # Krumhansl and Kessler
Row = dict[str, Any]
Array = NDArray[Any]


def sound(row, suffix=""):
    samples, rate = soundfile.read(io.BytesIO(row[f"audio{suffix}"]["bytes"]), dtype="float32")
    return librosa.resample(samples, orig_sr=rate, target_sr=RATE, res_type="soxr_mq")


def beat(row, suffix=""):
    """Seconds of a quarter note."""
    return 60 / parse_midi_text(row[f"midi_text{suffix}"]).tempo


def pitches(samples, lowest=35):
    return librosa.hz_to_midi(
        librosa.yin(samples, fmin=lowest, fmax=1400, sr=RATE, frame_length=2048, hop_length=HOP)
    )


def oddball(row):
    """Whether the pitch tracks part for the length of a short note."""
    first, second = (pitches(sound(row, suffix), 70) for suffix in ("_1", "_2"))
    size = min(len(first), len(second))
    differ = np.abs(first[:size] - second[:size])
    is_step = (differ > 0.6) & (differ < 2.6)
    runs = np.diff(np.flatnonzero(np.concatenate([[True], ~is_step, [True]]))) - 1
    return int(runs.max() >= 4)


def contour(row):
    samples = sound(row)
    onsets = librosa.onset.onset_detect(y=samples, sr=RATE, hop_length=HOP)
    track = pitches(samples)
    onsets = (
        onsets if onsets[0] < 5 else [0, *onsets]
    )  # a note at the very beginning may be no onset
    notes = [np.median(track[onset + 5 : onset + 11]) for onset in onsets]
    steps = np.diff([note for note in notes if np.isfinite(note)])
    rises = [bool(np.median(np.sign(half)) > 0) for half in np.array_split(steps, 2)]
    return {(True, False): 0, (False, True): 1, (True, True): 2, (False, False): 3}[
        rises[0], rises[1]
    ]


def instrument(row):
    """Drums are noise, basses dark, steel strings bright; struck strings are less pure than plucked
    nylon.
    """
    samples = sound(row)
    flatness = librosa.feature.spectral_flatness(y=samples).mean()
    centroid = librosa.feature.spectral_centroid(y=samples, sr=RATE).mean()
    if flatness > 0.1:
        return 3
    if centroid < 715:
        return 2
    return 0 if flatness > 0.0006 and centroid < 1600 else 1


def strokes(samples, times):
    """Decibels by mel band shortly after each time."""
    mel = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=1024, hop_length=HOP, n_mels=12)
    frames = np.minimum(
        librosa.time_to_frames(times, sr=RATE, hop_length=HOP) + 2, mel.shape[1] - 1
    )
    return librosa.power_to_db(mel[:, frames], top_db=None)


def rhythm_matching(row):
    first, second = (strokes(sound(row, suffix), np.arange(32) * 0.25) for suffix in ("_1", "_2"))
    return int(np.abs(first - second).max() > 18)  # strokes up to 9 ms late differ by 14 at most


def meter(row):
    """The period of the low notes, on a grid of beats that is found by onsets alone."""
    samples = sound(row)
    onsets = librosa.onset.onset_detect(y=samples, sr=RATE, hop_length=HOP, units="time")
    intervals = np.diff(onsets)
    beats = np.concatenate([[0], np.cumsum(np.rint(intervals / np.median(intervals)))])
    length = np.polyfit(beats, onsets, 1)[0]
    low = strokes(samples, np.arange(24) * length)[0]
    return int(np.argmax([low[::group].mean() - low[1::group].mean() for group in (3, 4, 5)]))


def key_modulation(row):
    chroma = librosa.feature.chroma_cqt(
        y=sound(row), sr=RATE, hop_length=2048, fmin=librosa.note_to_hz("C2")
    )
    middle = round(10 * beat(row) * RATE / 2048)

    def key(half):
        return int(
            np.argmax(
                [np.corrcoef(np.roll(MAJOR, tonic), half.mean(axis=1))[0, 1] for tonic in range(12)]
            )
        )

    return int(key(chroma[:, :middle]) == key(chroma[:, middle:]))


def triads(row, suffix):
    """Root and third of eight chords."""
    chroma = librosa.feature.chroma_cqt(
        y=sound(row, suffix), sr=RATE, hop_length=1024, fmin=librosa.note_to_hz("C2")
    )
    edges = (np.arange(9) * 2 * beat(row, suffix) * RATE / 1024).round().astype(int)
    chords = []
    for start, end in pairwise(edges):
        segment = chroma[:, start:end].mean(axis=1)
        fits = {
            (root, third): 1.2 * segment[root]
            + segment[(root + third) % 12]
            + segment[(root + 7) % 12]
            for root in range(12)
            for third in (3, 4)
        }
        chords.append(max(fits, key=lambda chord: float(fits[chord])))
    return chords


def progression(row):
    moves = []
    for suffix in ("_1", "_2"):
        chords = triads(row, suffix)
        moves.append([((root - chords[0][0]) % 12, third) for root, third in chords])
    return int(sum(first != second for first, second in zip(*moves, strict=True)) >= 2)


def transposition_pairs(row):
    """Whether the distance between the pitch tracks changes for longer than an onset, octaves
    aside.
    """
    first, second = (pitches(sound(row, suffix), 70) for suffix in ("_1", "_2"))
    size = min(len(first), len(second))
    distance = second[:size] - first[:size]
    is_other = np.abs((distance - np.median(distance) + 6) % 12 - 6) > 0.6
    runs = np.diff(np.flatnonzero(np.concatenate([[True], ~is_other, [True]]))) - 1
    return int(runs.max() >= 7)


def major_or_minor(row):
    """The third above the root, by chroma."""
    chroma = librosa.feature.chroma_cqt(y=sound(row), sr=RATE, fmin=librosa.note_to_hz("C2")).mean(
        axis=1
    )
    third = {
        (root, step): chroma[root] + chroma[(root + step) % 12] + chroma[(root + 7) % 12]
        for root in range(12)
        for step in (4, 3)
    }
    return (4, 3).index(max(third, key=lambda chord: float(third[chord]))[1])


def syncopation_pairs(row):
    """Count low strokes between the beats."""
    counts = []
    for suffix in ("_1", "_2"):
        low = strokes(sound(row, suffix), np.arange(32) * 0.25)[:2].max(axis=0)
        counts.append((low[1::2] > low.max() - 20).sum())
    return int(counts[1] > counts[0])


LISTENERS = {
    "oddball": oddball,
    "contour": contour,
    "instrument": instrument,
    "rhythm_matching": rhythm_matching,
    "meter": meter,
    "key_modulation": key_modulation,
    "progression": progression,
    "transposition_pairs": transposition_pairs,
    "major_or_minor": major_or_minor,
    "syncopation_pairs": syncopation_pairs,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_librosa_hears_the_answer(name):
    rows = load_split("generated", name, "test", benchmark=BENCHMARK).to_list()[::2]
    heard = [FORMS[name].targets[LISTENERS[name](row)] == row["target"] for row in rows]
    assert len(heard) == 10
    assert sum(heard) >= 9, [row["id"] for row, right in zip(rows, heard, strict=True) if not right]
