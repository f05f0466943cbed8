"""What signal processing hears in the default data of PitchBench, NSynth and the mirdata sets: a
ceiling, and evidence that the answers are in the sound.

    python -m tests.baselines.test_signal_processing   # scores by task, in percent; a minute
"""

import io
from collections import defaultdict
from functools import cache
from itertools import pairwise, product
from statistics import fmean, median
from string import ascii_uppercase
from typing import Any

import librosa
import numpy as np
import pytest
import soundfile
from scipy.optimize import nnls

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.listening import (
    beat_questions,
    chords_of,
    key_questions,
    tempo_questions,
)
from music_evals.datasets_builders.questions.nsynth_records import compose_labels
from music_evals.datasets_builders.questions.rendered_pitches import pitch_questions
from music_evals.datasets_builders.songformbench import song_questions
from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.scorers.readers.verdicts import judge_option, plain_text

RATE = 22_050
HOP = 256
BINS = 84
SEED = 1
TONICS = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 11)}
LEAST = {
    "A1": 95,
    "B5": 95,
    "C2": 65,
    "C3": 65,
    "C4": 65,
    "D2": 95,
    "D3": 95,
    "D6": 95,
    "D8": 95,
    "key": 90,
    "beats": 95,
    "tempo": 95,
    "family": 50,
    "source": 60,
    "sections": 60,
}
"""Task → the least score in percent; the whole table is in docs/pitchbench.md."""

Samples = np.ndarray[Any, np.dtype[np.float32]]


def samples_of(question):
    data, rate = soundfile.read(io.BytesIO(question.parts[0].content), dtype="float32")  # type: ignore[union-attr, arg-type]
    return librosa.resample(data, orig_sr=rate, target_sr=RATE)


def pitch_of(samples):
    """The median of YIN over the louder half of the frames, as a MIDI number."""
    hz = librosa.yin(samples, fmin=60, fmax=1500, sr=RATE, hop_length=HOP)
    level = librosa.feature.rms(y=samples, hop_length=HOP)[0][: len(hz)]
    return float(librosa.hz_to_midi(median(hz[level >= np.median(level)])))


def steps_of(samples):
    """The pitches of tones that begin each second."""
    seconds = [samples[at * RATE : round((at + 0.7) * RATE)] for at in range(len(samples) // RATE)]
    return [pitch_of(tone) for tone in seconds if np.abs(tone).max() > 0.01]


def tone_times(samples):
    """When tones begin and end, by their level."""
    level = librosa.feature.rms(y=samples, frame_length=1024, hop_length=64)[0]
    is_on = np.diff(np.concatenate([[0], level > 0.1 * level.max(), [0]]))
    ends = np.flatnonzero(is_on) * 64 / RATE
    pairs = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    return [time for start, end in pairs if end - start > 0.3 for time in (start, end)]


def chord_of(samples, facts):
    """The figure and the pitches whose harmonics leave least of the spectrum, fewer pitches first."""
    spectrum = np.abs(
        librosa.cqt(samples, sr=RATE, hop_length=HOP, fmin=librosa.midi_to_hz(36), n_bins=BINS)
    )
    seen = np.median(spectrum[:, int(0.15 * RATE / HOP) : int(0.6 * RATE / HOP)], axis=1)
    lowest, highest = facts["roots"]
    figures = [figure.partition(" = ") for figure in facts["figures"]]
    best = min(
        product(figures, range(lowest, highest + 1)),
        key=lambda pair: _rest(seen, chords_of(pair[0][2] or pair[0][0], pair[1])[0]),
    )
    (answer, _, figure), root = best
    return answer, chords_of(figure or answer, root)[0]


def _rest(seen, chord):
    strengths, rest = nnls(np.stack([_harmonics(pitch) for pitch in chord], axis=1), seen)
    is_silent = strengths.min() < 0.12 * strengths.max()
    return float(rest / np.linalg.norm(seen) + 0.02 * len(chord) + 0.5 * is_silent)


@cache
def _harmonics(pitch):
    template = np.zeros(BINS, dtype=np.float32)
    for harmonic in range(1, 11):
        place = round(pitch + 12 * np.log2(harmonic)) - 36
        if place < BINS:
            template[place] += 0.6 ** (harmonic - 1)
    return template


def key_of(samples):
    """The scale that has most of the pitch classes, and the last chord's tonic."""
    chroma = librosa.feature.chroma_cqt(y=samples, sr=RATE)
    total, last = chroma.sum(axis=1), chroma[:, -len(chroma[0]) // 4 :].sum(axis=1)
    third = {"major": 4, "minor": 3}

    def worth(pair):
        tonic, mode = pair
        notes = [(tonic + step) % 12 for step in SCALES[mode]]
        triad = [(tonic + step) % 12 for step in (0, third[mode], 7)]
        return float(total[notes].sum() / total.sum() + last[triad].sum() / last.sum())

    tonic, mode = max(product(range(12), SCALES), key=worth)
    return f"{TONICS[tonic]} {mode}"


def strokes_of(samples):
    return list(librosa.onset.onset_detect(y=samples, sr=RATE, hop_length=HOP, units="time"))


def words(numbers):
    return " ".join(f"{number:g}" for number in numbers)


def directions(pitches):
    return "; ".join("up" if second > first else "down" for first, second in pairwise(pitches))


def hear(task, samples):
    """The answer to a question of a task, in the form of a reference."""
    facts = load("pitchbench").table["stand_in"].get(task)
    solvers = {
        "A1": lambda: words([round(pitch_of(samples))]),
        "B5": lambda: words(tone_times(samples)),
        "C2": lambda: chord_of(samples, facts)[0],
        "C3": lambda: chord_of(samples, facts)[0],
        "C4": lambda: words(chord_of(samples, facts)[1]),
        "D2": lambda: ["second", "first"][int(np.diff(steps_of(samples))[0] < 0)],
        "D3": lambda: directions(steps_of(samples)),
        "D6": lambda: words([round(np.diff(steps_of(samples))[0])]),
        "D8": lambda: words(map(round, steps_of(samples))),
        "key": lambda: key_of(samples),
        "beats": lambda: words(strokes_of(samples)),
        "tempo": lambda: words([60 / median(np.diff(strokes_of(samples)))]),
    }
    return solvers[task]()


def score(question, answer):
    if question.answer_kind == "label":
        letter = ascii_uppercase[int(question.right or 0)]
        return judge_option(answer, question.options, letter, plain=plain_text).value  # type: ignore[arg-type]
    vocabulary = question.options if question.answer_kind == "list" else ()
    kind = kind_of(question.answer_kind or "", vocabulary)  # type: ignore[arg-type]
    return judge_typed(kind.write(answer), str(question.right), kind).value


def timbre(samples):
    tone = samples[: int(0.7 * RATE)]
    return librosa.feature.mfcc(y=tone, sr=RATE, n_mfcc=20)[1:].mean(axis=1)


def label_scores(name):
    """The share of labels that are those of the most similar note of another seed."""
    learnt = [question for seed in range(2, 8) for question in compose_labels(seed, name)]
    places = [int(question.right or 0) for question in learnt]
    table = np.array([timbre(samples_of(question)) for question in learnt])
    spread = table.std(axis=0)
    values = []
    for question in compose_labels(SEED, name):
        distance = (((table - timbre(samples_of(question))) / spread) ** 2).sum(axis=1)
        values.append(float(places[int(distance.argmin())] == question.right))
    return values


def textures(samples):
    """Timbre and level of each second, as it is around it."""
    timbre = librosa.feature.mfcc(y=samples, sr=RATE, n_mfcc=20, hop_length=RATE // 2)
    return np.stack(
        [timbre[:, max(0, at - 1) : at + 2].mean(axis=1) for at in range(len(timbre[0]))]
    )


def section_scores(count):
    """Each half second has the label of the most similar one of another seed's songs."""
    table, labels = [], []
    for question in song_questions(2, "cn", 16):
        table.append(textures(samples_of(question)))
        ends = [entry.split() for entry in str(question.right).split("; ")]
        times = [float(time) for time, _ in ends[:-1]]
        places = np.searchsorted(times, np.arange(len(table[-1])) / 2, side="right") - 1
        labels += [ends[place][1] for place in places]
    learnt = np.concatenate(table)
    scores = []
    for question in song_questions(SEED, "harmonixset", count):
        heard = textures(samples_of(question))
        near = [labels[int(((learnt - frame) ** 2).sum(axis=1).argmin())] for frame in heard]
        starts = [at for at in range(len(near)) if at == 0 or near[at] != near[at - 1]]
        entries = [f"{at / 2} {near[at]}" for at in starts]
        scores.append(score(question, "; ".join([*entries, f"{len(near) / 2} end"])))
    return scores


def ceilings(count):
    """Score the answers to so many questions of each task."""
    scores = defaultdict(list)
    pitches = pitch_questions(SEED, count=count, formats=["midi"])
    for question in pitches:
        task = str(question.theme)
        scores[task].append(score(question, hear(task, samples_of(question))))
    for task, compose in (
        ("key", key_questions),
        ("beats", beat_questions),
        ("tempo", tempo_questions),
    ):
        for question in compose(SEED):
            scores[task].append(score(question, hear(task, samples_of(question))))
    for name in ("family", "source"):
        scores[name] = label_scores(name)
    scores["sections"] = section_scores(6)
    return scores


@pytest.mark.slow
def test_signal_processing_hears_the_answers():
    scores = ceilings(12)
    assert scores.keys() == LEAST.keys()
    low = {task: fmean(values) for task, values in scores.items()}
    assert {task for task, value in low.items() if 100 * value < LEAST[task]} == set()


if __name__ == "__main__":
    for task, values in ceilings(40).items():
        print(f"{task}\t{100 * fmean(values):.1f}\tn={len(values)}")
