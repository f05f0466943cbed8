"""Songs with their sections: a record of SongFormBench, and songs that are composed in their place.

A record has ``labels``: the start of each section in seconds with its label, and the end.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.listening import chords_of, shuffled
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

PER_TASK = 10
_SUBSETS = {"harmonixset": "HarmonixSet", "cn": "CN"}
_QUAVER = TICKS_PER_BEAT // 2
_STEPS = 8  # quavers of a bar
_BASS, _CHORDS, _LEAD = 36, 55, 67  # lowest pitches


def read_record(record: Record, task: str) -> MediaQuestion | None:
    """Read a song of a task's subset."""
    if record["subset"] != _SUBSETS[task]:
        return None
    sections = [f"{float(label['start']):g} {label['label']}" for label in record["labels"]]
    return _question(record["id"], record["audio_path"], sections)


def song_questions(seed: int, task: str, count: int = PER_TASK) -> Iterator[MediaQuestion]:
    """Compose songs of half a minute to a minute; the same seed gives the same bytes."""
    orders = load("songformbench").table["stand_in"]["orders"]
    for number, place in enumerate(shuffled(f"{seed}/{task}", len(orders), count)):
        name = f"{task}-{number:02}"
        yield _question(name, *_song(f"{seed}/{name}", orders[place].split()))


def _question(name: str, sound: str | bytes, sections: Sequence[str]) -> MediaQuestion:
    text = load("songformbench").table["question"].strip()
    # In published figures pre-chorus counts as verse.
    return MediaQuestion(
        name, [Part("audio", sound), text], [], "; ".join(sections), answer_kind="segments:verse"
    )


def _song(seed: str, order: Sequence[str]) -> tuple[bytes, list[str]]:
    """A song, and its sections."""
    facts = load("songformbench").table["stand_in"]
    rng = Random(seed)
    tempo = rng.uniform(126, 152)
    key = rng.randrange(12)
    notes: dict[str, list[Note]] = defaultdict(list)
    sections = []
    bars = 0
    for label in order:
        sections.append(f"{bars * 240 / tempo:.2f} {label}")
        # The same draws for each section with the label.
        rng_of_label = Random(f"{seed}/{label}")
        length = rng_of_label.choice(facts["sections"][label]["bars"])
        for layer, note in _section(facts, label, length, key, rng_of_label):
            onset = note.onset + bars * _STEPS * _QUAVER
            notes[layer].append(replace(note, onset=onset))
        bars += length
    seconds = bars * 240 / tempo
    parts = []
    for layer, layer_notes in notes.items():
        program = rng.choice(facts["programs"].get(layer, [0]))
        is_drum = layer in facts["drums"]
        parts.append(
            Performance(tuple(layer_notes), tempo, (4, 4), None, program, percussion=is_drum)
        )
    return render_wav(write_midi(*parts), seconds=seconds), [*sections, f"{seconds:.2f} end"]


def _section(
    facts: Mapping[str, Any], label: str, bars: int, key: int, rng: Random
) -> Iterator[tuple[str, Note]]:
    """The notes of a section, with their layers, from its beginning."""
    section = facts["sections"][label]
    chords = chords_of(rng.choice(section["figures"]), key)
    for bar in range(bars):
        chord = chords[bar % len(chords)]
        for layer, pattern in section["layers"].items():
            onsets = [step for step in range(_STEPS) if pattern[step] == "x"]
            for step, following in pairwise([*onsets, _STEPS]):
                lead = _LEAD + section.get("lift", 0) + rng.choice(chord) % 12
                pitches = {
                    "bass": [_BASS + chord[0] % 12],
                    "chords": [_CHORDS + pitch % 12 for pitch in chord],
                    "pad": [_CHORDS + pitch % 12 for pitch in chord],
                }.get(layer, [facts["drums"].get(layer, lead)])
                onset = (bar * _STEPS + step) * _QUAVER
                duration = (following - step) * _QUAVER
                level = rng.randint(75, 95)
                for pitch in pitches:
                    yield layer, Note(onset, pitch, duration, level)


BENCHMARK = question_set(
    "songformbench",
    "1.0.0",
    {task: Records(("SongFormBench.jsonl",), partial(read_record, task=task)) for task in _SUBSETS},
    {task: partial(song_questions, task=task) for task in _SUBSETS},
)
