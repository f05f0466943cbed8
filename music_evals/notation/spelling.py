"""Spelled pitches as places on the line of fifths, on which every question of spelling is a sum.

A note is an integer: F = -1, C = 0, G = 1 and so on, B = 5, F sharp = 6; a sharp adds 7 and a flat takes 7 away. An
interval is its number of letters upwards and its size in semitones. Octaves of notes are left out.
"""

from collections.abc import Sequence
from typing import NamedTuple

_LINE = "FCGDAEB"
_LETTERS = "CDEFGAB"


class Interval(NamedTuple):
    """The distance from a note up to another: letters upwards, 0 for a unison and 7 for an octave, and semitones."""

    letters: int
    semitones: int

    @property
    def fifths(self) -> int:
        """How far the upper note lies along the line of fifths."""
        return 7 * self.semitones - 12 * self.letters

    @property
    def inversion(self) -> "Interval":
        """What is left to the octave."""
        return Interval(7 - self.letters, 12 - self.semitones)


def spell(letter: str, sharps: int) -> int:
    """The note of a letter, C to B, with sharps; flats count as negative. ValueError for any other letter."""
    return _LINE.index(letter) - 1 + 7 * sharps


def letter_of(note: int) -> str:
    """The letter of a note."""
    return _LINE[(note + 1) % 7]


def letters_up(lower: int, upper: int) -> int:
    """How many letters lie from a note up to another, fewer than seven."""
    return (_LETTERS.index(letter_of(upper)) - _LETTERS.index(letter_of(lower))) % 7


def pitch_class(note: int) -> int:
    """The key on the keyboard that a note sounds on, C = 0."""
    return 7 * note % 12


def interval_up(lower: int, upper: int) -> Interval:
    """The interval from a note up to the nearest note of another name above it, such as 7 letters from C to C flat."""
    letters = letters_up(lower, upper)
    semitones = (upper - lower + 12 * letters) // 7
    return Interval(7, semitones + 12) if letters == 0 and semitones < 0 else Interval(letters, semitones)


def root_of(chord: Sequence[int]) -> int | None:
    """The note above which the other notes of a chord stack up in thirds, None where there is none or more."""
    stacks = [{letters_up(root, note) for note in chord} for root in chord]
    roots = [root for root, stack in zip(chord, stacks, strict=True) if stack == set(range(0, 2 * len(chord), 2))]
    return roots[0] if len(roots) == 1 else None
