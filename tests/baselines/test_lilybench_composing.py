"""The rules that a composed piece keeps, checked on the notes as they are written, in all keys, metres and forms."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import NamedTuple, get_args

import pytest

from music_evals.baselines.lilybench.composing import MODES, Bass, Metre, Part, Plan, Task, compose
from music_evals.notation.spelling import letter_of

SEMITONES = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
NOTE = re.compile(r"([a-g])((?:is|es)*)('*|,*)(\\breve|[0-9]+)(\.?)")
REST = re.compile(r"(?:r(\\breve|[0-9]+)(\.?)|R1\*([0-9]+)/([0-9]+))")

VIOLIN, VIOLA, CELLO = Part("upper", 57, 86), Part("upper", 50, 76), Part("bass", 38, 67)
TIMPANI, BASS, SOPRANO = Part("drum", 41, 57), Part("bass", 28, 52), Part("voice", 60, 81)
METRES = [Metre(*pair) for pair in ((4, 4), (3, 4), (2, 2), (6, 8), (12, 8), (3, 8), (5, 4), (7, 8), (1, 4), (3, 2))]
PARTS = ((VIOLIN, CELLO), (VIOLIN, VIOLIN, VIOLA, CELLO), (TIMPANI, SOPRANO, CELLO, BASS), (CELLO,))


class Sounding(NamedTuple):
    start: Fraction
    length: Fraction
    pitch: int | None
    letter: str


def length(name: str, dot: str) -> Fraction:
    plain = Fraction(2) if name == "\\breve" else Fraction(1, int(name))
    return plain * 3 / 2 if dot else plain


def played(sections: list[list[str]], metre: Metre) -> list[Sounding]:
    """The notes with ties joined; every measure has to be full."""
    notes: list[Sounding] = []
    start = Fraction(0)
    for measure in [measure for section in sections for measure in section]:
        begin, tied = start, False
        for word in measure.split():
            if word == "~":
                tied = True
                continue
            if found := NOTE.fullmatch(word):
                letter, sign, octave, name, dot = found.groups()
                marks = len(octave) if "'" in octave else -len(octave)
                pitch = 48 + 12 * marks + SEMITONES[letter] + sign.count("is") - sign.count("es")
                new = Sounding(start, length(name, dot), pitch, letter)
            else:
                rest = REST.fullmatch(word)
                assert rest, word
                whole = length(rest[1], rest[2]) if rest[1] else Fraction(int(rest[3]), int(rest[4]))
                new = Sounding(start, whole, None, "")
            if tied:
                assert notes[-1].pitch == new.pitch
                notes[-1] = notes[-1]._replace(length=notes[-1].length + new.length)
            else:
                notes.append(new)
            start, tied = start + new.length, False
        assert start - begin == metre.length, measure
    return notes


def sonorities(upper: list[Sounding], lower: list[Sounding]) -> Iterator[tuple[int, int]]:
    for moment in sorted({note.start for note in upper} | {note.start for note in lower}):
        sounding = [[note for note in voice if note.start <= moment][-1].pitch for voice in (upper, lower)]
        if sounding[0] is not None and sounding[1] is not None:
            yield sounding[0], sounding[1]


@pytest.fixture(scope="module")
def pieces() -> list[tuple[Task, list[list[Sounding]]]]:
    random, found = Random(11), []
    for number in range(48):
        mode = random.choice(["major", "major", "minor", "minor", *MODES])
        tonic = random.choice([tonic for tonic in range(-8, 13) if abs(tonic + MODES[mode] + 1) <= 7])
        plan, bass = random.choice(get_args(Plan)), random.choice(get_args(Bass))
        task = Task(tonic, mode, METRES[number % 10], plan, bass, (50, 150)[number % 2], PARTS[number // 12])
        found.append((task, [played(part, task.metre) for part in compose(task, Random(number))]))
    return found


def test_parts_are_full_long_enough_and_in_range(pieces: list[tuple[Task, list[list[Sounding]]]]) -> None:
    for task, parts in pieces:
        measures = {(notes[-1].start + notes[-1].length) / task.metre.length for notes in parts}
        assert measures in ({8}, {16}, {20})
        for part, notes in zip(task.parts, parts, strict=True):
            # Ranges are of natural notes; an accidental may reach beyond, by a double sharp at most.
            assert all(part.low - 2 <= note.pitch <= part.high + 2 for note in notes if note.pitch is not None), part


def test_pieces_end_on_the_tonic(pieces: list[tuple[Task, list[list[Sounding]]]]) -> None:
    for task, parts in pieces:
        tonic = letter_of(task.tonic).lower()
        pitched = [notes for part, notes in zip(task.parts, parts, strict=True) if part.role in ("voice", "bass")]
        assert all(notes[-1].letter == tonic and notes[-1].length == task.metre.length for notes in pitched)


def test_outer_voices_have_no_parallel_fifths_and_octaves(pieces: list[tuple[Task, list[list[Sounding]]]]) -> None:
    checked = 0
    for task, parts in pieces:
        if len(parts) == 1:
            continue
        upper, lower = (parts[0], parts[-1]) if len(parts) != 3 and task.parts[0] is VIOLIN else (parts[1], parts[2])
        for (high, low), (next_high, next_low) in pairwise(sonorities(upper, lower)):
            if high != next_high and low != next_low:
                checked += 1
                assert not (high - low) % 12 == (next_high - next_low) % 12 in (0, 7), task
    assert checked > 300


def test_melodies_leap_little_and_turn_back(pieces: list[tuple[Task, list[list[Sounding]]]]) -> None:
    for task, parts in pieces:
        melody = parts[1] if task.parts[0] is TIMPANI else parts[0]
        pitches = [note.pitch for note in melody if note.pitch is not None]
        assert len(pitches) == len(melody)
        assert len(set(pitches)) >= 5
        steps = [after - before for before, after in pairwise(pitches)]
        assert max(map(abs, steps)) <= 8
        for step, after in pairwise(step for step in steps if step):
            # From the diminished fifth on; a smaller leap may be an augmented third.
            assert abs(step) < 6 or step * after < 0, task


def test_the_same_music_for_the_same_chance() -> None:
    task = Task(1, "major", Metre(4, 4), "ritornello", "beats", 110, (VIOLIN, VIOLA, CELLO))
    first, again, other = (compose(task, Random(seed)) for seed in (5, 5, 6))
    assert first == again != other
    # Solo episodes leave inner voices out; the ritornello comes back at the end.
    assert first[1][0][4:8] == first[1][0][12:16] == ["R1*4/4"] * 4
    lengths = [re.sub("[a-g,']", "", measure.replace("is", "")) for measure in first[0][0]]
    assert lengths[:4] == lengths[8:12] == lengths[16:]
    assert lengths[4:8] != lengths[:4]
