"""Questions on the pitch of rendered tones: a stand-in for PitchBench, with nine of its tasks.

Questions on pitches are asked once per format of the answer. All clips of a task have the same
length, and no answer shows in their loudness.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part
from music_evals.datasets_builders.questions.rendered_clips import (
    HIGHEST,
    LOWEST,
    render,
    shuffled,
)
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

PER_TASK = 12
FORMATS = {
    "midi": "as MIDI note numbers",
    "name": "in scientific pitch notation",
    "hz": "in Hz",
}
QUALITIES: Mapping[str, Sequence[int]] = {
    "major": (0, 4, 7),
    "minor": (0, 3, 7),
    "diminished": (0, 3, 6),
    "augmented": (0, 4, 8),
    "dom7": (0, 4, 7, 10),
    "maj7": (0, 4, 7, 11),
    "min7": (0, 3, 7, 10),
    "m7b5": (0, 3, 6, 10),
    "sus2": (0, 2, 7),
    "sus4": (0, 5, 7),
}
PROGRAMS = (0, 19, 24, 40, 56, 68, 71, 73)
"""General MIDI: piano, organ, guitar, violin, trumpet, oboe, clarinet, flute."""
_LOWEST_ROOT, _HIGHEST_ROOT = 55, 67
_SILENCE_SECONDS = 10.0

_Composed = tuple[bytes, int | str]
"""A clip, and the place of the right option or the answer."""


class _Task(NamedTuple):
    """What is asked of a clip; a kind that ends in a colon is asked in each of `FORMATS`."""

    question: str
    answer_kind: str
    answers: int  # how many are drawn evenly
    compose: Callable[[int, Random], _Composed]
    options: Sequence[str] = ()


def pitch_questions(seed: int) -> Iterator[MediaQuestion]:
    """Compose the questions of all tasks; the same seed gives the same bytes."""
    places = {
        name: shuffled(f"{seed}/{name}", task.answers, PER_TASK) for name, task in _TASKS.items()
    }
    for number in range(PER_TASK):  # so that the first questions of a dataset are of all tasks
        for name, task in _TASKS.items():
            rng = Random(f"{seed}/{name}/{number}")
            clip, right = task.compose(places[name][number], rng)
            yield from _ask(f"{name}-{number:02}", task, clip, right)


def _ask(piece: str, task: _Task, clip: bytes, right: int | str) -> Iterator[MediaQuestion]:
    theme = piece.partition("-")[0]
    if not task.answer_kind.endswith(":"):
        yield MediaQuestion(
            piece,
            [Part("audio", clip), task.question],
            task.options,
            right,
            theme,
            piece=piece,
            answer_kind=task.answer_kind,
        )
        return
    for form, words in FORMATS.items():
        yield MediaQuestion(
            f"{piece}-{form}",
            [Part("audio", clip), f"{task.question} Answer {words}."],
            [],
            right,
            theme,
            piece=piece,
            answer_kind=task.answer_kind + form,
        )


def _play(steps: Sequence[Sequence[int]], rng: Random, seconds: float) -> bytes:
    """Render chords one after the other, a second each."""
    notes = [
        Note(at * TICKS_PER_BEAT, pitch, 3 * TICKS_PER_BEAT // 4, rng.randint(80, 105))
        for at, pitches in enumerate(steps)
        for pitch in pitches
    ]
    program = rng.choice(PROGRAMS)
    return render(Performance(tuple(notes), 60, (4, 4), None, program=program), seconds)


def _chord(intervals: Sequence[int], rng: Random) -> list[int]:
    root = rng.randint(_LOWEST_ROOT, _HIGHEST_ROOT)
    return [root + interval for interval in intervals]


def _tone(place: int, rng: Random) -> _Composed:
    pitch = LOWEST + place
    return _play([[pitch]], rng, 1.5), str(pitch)


def _times(_: int, rng: Random) -> _Composed:
    onset, duration = rng.uniform(0.5, 6.0), rng.uniform(1.0, 3.0)
    note = Note(0, rng.randint(LOWEST, HIGHEST), 4 * TICKS_PER_BEAT, 100)
    organ = Performance((note,), 60, (4, 4), None, program=19)
    clip = _within_silence(render(organ, duration), onset)
    return clip, f"{onset:.2f} {onset + duration:.2f}"


def _interval(place: int, rng: Random) -> _Composed:
    return _play([_chord((0, place + 1), rng)], rng, 2.0), str(place + 1)


def _quality(place: int, rng: Random) -> _Composed:
    intervals = [*QUALITIES.values()][place]
    return _play([_chord(intervals, rng)], rng, 2.0), place


def _pitches(place: int, rng: Random) -> _Composed:
    intervals = [*QUALITIES.values()][place]
    chord = _chord(intervals[: rng.randint(2, 4)], rng)
    return _play([chord], rng, 2.0), " ".join(map(str, chord))


def _higher(place: int, rng: Random) -> _Composed:
    low = rng.randint(LOWEST, HIGHEST - 12)
    pair = [low + rng.choice((1, 2, 4, 7, 12)), low]
    steps = pair if place == 0 else pair[::-1]
    return _play([[pitch] for pitch in steps], rng, 2.0), place


def _contour(place: int, rng: Random) -> _Composed:
    words = [rng.choice(("up", "down")) for _ in range(place + 2)]
    pitches = [rng.randint(60, 66)]
    for word in words:
        step = rng.randint(1, 4)
        pitches.append(pitches[-1] + (step if word == "up" else -step))
    return _play([[pitch] for pitch in pitches], rng, 6.0), "; ".join(words)


def _signed_interval(place: int, rng: Random) -> _Composed:
    interval = place - 12 if place < 12 else place - 11
    pair = _chord((0, interval), rng)
    return _play([[pitch] for pitch in pair], rng, 2.0), str(interval)


def _sequence(place: int, rng: Random) -> _Composed:
    pitches = rng.sample(range(LOWEST, HIGHEST + 1), place + 3)
    return _play([[pitch] for pitch in pitches], rng, 5.0), " ".join(map(str, pitches))


def _within_silence(clip: bytes, onset: float) -> bytes:
    """Put a clip into silence, at its own loudness."""
    import numpy as np
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(clip), dtype="int16")
    silence = np.zeros(round(_SILENCE_SECONDS * rate), dtype=np.int16)
    start = round(onset * rate)
    silence[start : start + len(samples)] = samples
    buffer = io.BytesIO()
    soundfile.write(buffer, silence, rate, format="WAV")
    return buffer.getvalue()


_TASKS: Mapping[str, _Task] = {
    "A1": _Task("Which pitch sounds?", "pitch:", HIGHEST - LOWEST + 1, _tone),
    "B3": _Task("When does the tone begin, and when does it end?", "all_times:0.25", 1, _times),
    "C2": _Task("How many semitones are between the two notes?", "number", 12, _interval),
    "C3": _Task(
        "Which quality has the chord?", "label", len(QUALITIES), _quality, tuple(QUALITIES)
    ),
    "C4": _Task("Which pitches sound together?", "set:", len(QUALITIES), _pitches),
    "D2": _Task("Which of the two notes is higher?", "label", 2, _higher, ("first", "second")),
    "D3": _Task(
        "Does the pitch go up or down from each note to the next?",
        "list",
        4,
        _contour,
        ("up", "down"),
    ),
    "D6": _Task(
        "How many semitones is the second note above the first? Below is negative.",
        "number",
        24,
        _signed_interval,
    ),
    "D8": _Task("Which pitches are played, in order?", "sequence:", 3, _sequence),
}
"""Task of PitchBench → what is asked."""
