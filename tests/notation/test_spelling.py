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
        interval = interval_up(lower, upper)
        assert interval.fifths == upper - lower
        assert interval.letters % 7 == ("CDEFGAB".index(b) - "CDEFGAB".index(a)) % 7
        assert (interval.semitones - KEYBOARD[b] - j + KEYBOARD[a] + i) % 12 == 0


def test_an_interval_and_its_inversion_make_an_octave() -> None:
    for letters, semitones in product(range(8), range(13)):
        interval = Interval(letters, semitones)
        assert interval.fifths + interval.inversion.fifths == 0
        assert interval.inversion.inversion == interval


def test_roots() -> None:
    for chord in ("GBDF", "BDFG", "DFGB", "FGBD"):
        assert root_of([spell(letter, 0) for letter in chord]) == spell("G", 0)
    assert root_of([spell(letter, 0) for letter in "CDE"]) is None
