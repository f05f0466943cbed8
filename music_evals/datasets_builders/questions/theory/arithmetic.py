"""Computations of music21 on spelled notes.

Notes, intervals and keys have their music21 names; a note with more than a double accidental is
None.
"""

from collections.abc import Sequence
from functools import cache
from random import Random

from music21.interval import Interval
from music21.key import Key as MusicKey
from music21.key import KeySignature
from music21.pitch import Pitch

from music_evals.datasets_builders.questions.theory.terms import tokens

ACCIDENTALS = ("--", "-", "", "#", "##")
PLAIN = tuple(letter + accidental for letter in "CDEFGAB" for accidental in ("-", "", "#"))
"""The 21 notes without double accidentals."""

SPELLED = tuple(letter + accidental for letter in "CDEFGAB" for accidental in ACCIDENTALS)
"""All notes of the questions."""

SIMPLE = tokens("A1 d2 m2 M2 A2 d3 m3 M3 A3 d4 P4 A4 d5 P5 A5 d6 m6 M6 A6 d7 m7 M7 A7 d8 P8")
COMPOUND = tokens("m9 M9 A9 m10 M10 P11 A11 d12 P12 m13 M13 m14 M14 P15")

Key = tuple[str, str]  # tonic and mode


@cache
def moved(note: str, interval: str, down: bool = False) -> str | None:
    """Move a note by an interval.

    >>> moved("B", "d5"), moved("C", "m3", down=True), moved("F--", "d5")
    ('F', 'A', None)
    """
    sign = "-" if down else ""
    name = Pitch(f"{note}4").transpose(f"{interval[0]}{sign}{interval[1:]}").name
    return name if name[1:] in ACCIDENTALS else None


def line_moved(line: Sequence[str], interval: str, down: bool) -> list[str] | None:
    """Move notes by an interval."""
    names = [name for note in line if (name := moved(note, interval, down))]
    return names if len(names) == len(line) else None


@cache
def interval_up(lower: str, upper: str) -> tuple[str, int]:
    """Name and semitones of the interval from a note up to the nearest note of the other name.

    >>> interval_up("B", "F"), interval_up("C", "C#"), interval_up("C", "C-")
    (('d5', 6), ('A1', 1), ('d8', 11))
    """
    low, high = Pitch(f"{lower}4"), Pitch(f"{upper}4")
    if high.diatonicNoteNum < low.diatonicNoteNum or (high.step == low.step and high.ps < low.ps):
        high.octave = 5
    interval = Interval(low, high)
    return interval.name, int(interval.semitones)


@cache
def semitones(interval: str) -> int:
    """The size of an interval."""
    return int(Interval(interval).semitones)


@cache
def pitch_class(note: str) -> int:
    """The pitch class of a note, C = 0."""
    return int(Pitch(note).pitchClass)


@cache
def sharps(key: Key) -> int:
    """The sharps of a key signature; flats are negative."""
    return int(MusicKey(*key).sharps)


@cache
def altered(key: Key) -> tuple[str, ...]:
    """The altered notes of a key signature, in its order."""
    return tuple(pitch.name for pitch in KeySignature(sharps(key)).alteredPitches)


@cache
def key_of(number: int, mode: str) -> Key:
    """The key with a signature and a mode."""
    return KeySignature(number).asKey(mode).tonic.name, mode


@cache
def keys() -> tuple[Key, ...]:
    """The thirty keys with up to seven sharps or flats."""
    return tuple(key_of(number, mode) for number in range(-7, 8) for mode in ("major", "minor"))


def keys_of(mode: str) -> list[Key]:
    """The fifteen keys of a mode."""
    return [key for key in keys() if key[1] == mode]


def key_moved(key: Key, interval: str, down: bool = False) -> Key | None:
    """Move the tonic of a key by an interval; None if the signature needs more than seven signs."""
    right = moved(key[0], interval, down) or "", key[1]
    return right if right in keys() else None


def sounds(line: Sequence[str]) -> tuple[int, ...]:
    """Pitch classes of notes."""
    return tuple(map(pitch_class, line))


def fifths(note: str) -> int:
    """Position of a note on the line of fifths, C = 0.

    >>> fifths("F"), fifths("B-"), fifths("F#")
    (-1, -2, 6)
    """
    return "FCGDAEB".index(note[0]) - 1 + 7 * (note.count("#") - note.count("-"))


def altered_at(line: Sequence[str], at: int, rng: Random) -> list[str]:
    """A line with one note a semitone higher or lower, on the same letter and without double
    accidentals.
    """
    near = ("-", "#") if line[at] in "CDEFGAB" else ("",)
    return [*line[:at], line[at][0] + rng.choice(near), *line[at + 1 :]]
