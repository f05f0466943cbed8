"""Questions on the pitch of rendered tones: a stand-in for PitchBench, with nine of its tasks.

The tasks are facts of the benchmark: ``[stand_in.TASK]`` has the question, the kind of answer, and
figures, which are transposed. Questions on pitches are asked once per format of the answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.listening import (
    SUSTAINED,
    chords_of,
    play,
    shuffled,
)
from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part

PER_TASK = 12
FORMATS = {
    "midi": " Answer with MIDI note numbers.",
    "name": " Answer with note names.",
    "hz": " Answer in Hz.",
}
_EVERY = 3.0  # seconds between the earliest onsets of tones that are timed


def pitch_questions(
    seed: int,
    tasks: Sequence[str] = (),
    count: int = PER_TASK,
    formats: Sequence[str] = tuple(FORMATS),
) -> Iterator[MediaQuestion]:
    """Compose the questions of tasks, by default of all; the same seed gives the same bytes."""
    facts = load("pitchbench").table["stand_in"]
    drawn = {
        task: shuffled(f"{seed}/{task}", len(facts[task]["figures"]), count)
        for task in tasks or facts
    }
    for number in range(count):  # so that the first questions of a dataset are of all tasks
        for task, places in drawn.items():
            rng = Random(f"{seed}/{task}/{number}")
            yield from _ask(f"{task}-{number:02}", facts[task], places[number], rng, formats)


def _ask(
    piece: str, facts: Mapping[str, Any], place: int, rng: Random, formats: Sequence[str]
) -> Iterator[MediaQuestion]:
    answer, _, figure = facts["figures"][place].rpartition(" = ")
    chords = chords_of(figure, rng.randint(*facts["roots"]))
    kind, options = facts["kind"], facts.get("options", ())
    onsets: list[float] = []
    if kind.startswith("all_times"):
        onsets = [number * _EVERY + rng.uniform(0.2, 1.8) for number in range(len(chords))]
        answer = " ".join(f"{onset:.2f} {onset + 1:.2f}" for onset in onsets)
    elif not answer:
        answer = " ".join(str(pitch) for chord in chords for pitch in chord)
    right = options.index(answer) if kind == "label" else answer
    duration = 1.0 if onsets else 0.75
    clip = Part("audio", play(chords, rng, facts["seconds"], SUSTAINED, onsets, duration))
    theme = piece.partition("-")[0]
    for form in formats if kind.endswith(":") else [""]:
        yield MediaQuestion(
            f"{piece}-{form}".rstrip("-"),
            [clip, facts["question"] + FORMATS.get(form, "")],
            options,
            right,
            theme,
            piece=piece,
            answer_kind=kind + form,
        )
