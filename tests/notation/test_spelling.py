"""Spelled pitches: the line of fifths agrees with the keyboard."""

from itertools import product

from music_evals.notation.spelling import Interval, interval_up, letter_of, pitch_class, root_of, spell

KEYBOARD = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
NOTES = [(letter, sharps) for letter, sharps in product(KEYBOARD, range(-2, 3))]


def test_notes_sound_where_the_keyboard_has_them() -> None:
    for letter, sharps in NOTES:
        note = spell(letter, sharps)
        assert letter_of(note) == letter
        assert pitch_class(note) == (KEYBOARD[letter] + sharps) % 12


def test_intervals_up_lead_to_the_upper_note() -> None:
    for (a, i), (b, j) in product(NOTES, NOTES):
        lower, upper = spell(a, i), spell(b, j)
        found = interval_up(lower, upper)
        assert found.fifths == upper - lower
        assert found.letters % 7 == ("CDEFGAB".index(b) - "CDEFGAB".index(a)) % 7
        assert (found.semitones - KEYBOARD[b] - j + KEYBOARD[a] + i) % 12 == 0


def test_an_interval_and_its_inversion_make_an_octave() -> None:
    for letters, semitones in product(range(8), range(13)):
        interval = Interval(letters, semitones)
        assert interval.fifths + interval.inversion.fifths == 0
        assert interval.inversion.inversion == interval


def test_roots() -> None:
    seventh = [spell("G", 0), spell("B", 0), spell("D", 0), spell("F", 0)]
    for turn in range(4):
        assert root_of([*seventh[turn:], *seventh[:turn]]) == seventh[0]
    assert root_of([spell("C", 0), spell("D", 0), spell("E", 0)]) is None
