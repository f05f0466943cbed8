"""Spelled pitches as positions on the line of fifths, where intervals are differences.

A note is an integer: F = -1, C = 0, G = 1, B = 5, F sharp = 6; a sharp adds 7, a flat subtracts 7.
It has no octave.
"""

from typing import NamedTuple

_LINE = "FCGDAEB"
_LETTERS = "CDEFGAB"


class Interval(NamedTuple):
    """The distance from a note up to another: letters upwards, 0 for a unison and 7 for an octave,
    and semitones.
    """

    letters: int
    semitones: int

    @property
    def fifths(self):
        return 7 * self.semitones - 12 * self.letters

    @property
    def inversion(self):
        return Interval(7 - self.letters, 12 - self.semitones)


def spell(letter, sharps):
    return _LINE.index(letter) - 1 + 7 * sharps


def letter_of(note):
    return _LINE[(note + 1) % 7]


def letters_up(lower, upper):
    return (_LETTERS.index(letter_of(upper)) - _LETTERS.index(letter_of(lower))) % 7


def interval_up(lower, upper):
    """The interval from a note up to the nearest note of the other name, such as 7 letters from C
    to C flat.
    """
    letters = letters_up(lower, upper)
    semitones = (upper - lower + 12 * letters) // 7
    return (
        Interval(7, semitones + 12)
        if letters == 0 and semitones < 0
        else Interval(letters, semitones)
    )


def root_of(chord):
    """The note above which the other notes of a chord stack up in thirds; None unless there is
    exactly one.
    """
    stacks = [{letters_up(root, note) for note in chord} for root in chord]
    roots = [
        root
        for root, stack in zip(chord, stacks, strict=True)
        if stack == set(range(0, 2 * len(chord), 2))
    ]
    return roots[0] if len(roots) == 1 else None
