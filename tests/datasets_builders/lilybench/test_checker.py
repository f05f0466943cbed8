"""What is wrong with a score, on texts whose errors were put in by hand."""

from fractions import Fraction

import pytest

from music_evals.datasets_builders.lilybench.strict.checker import find_errors, is_foreign
from music_evals.notation.lilypond.structure import Key
from music_evals.notation.lilypond.syntax.languages import name_of
from tests.datasets_builders.lilybench.scores import ABSOLUTE, CLEAN, RELATIVE, TWO_VOICES, read


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_clean_scores_have_no_errors(text: str) -> None:
    assert find_errors(text, read(text)) == {}


@pytest.mark.parametrize(
    ("text", "before", "after", "errors"),
    [
        (RELATIVE, "\\key d \\major", "\\key xx \\nonsense", {"invalid_metadata": [5]}),
        (RELATIVE, '\\clef "treble"', '\\clef "trebel"', {"invalid_metadata": [1]}),
        (TWO_VOICES, "\\clef bass", "\\clef base", {"invalid_metadata": [1]}),
        (RELATIVE, "a'8 g fis4", "a'8 zq fis4", {"invalid_content": [6]}),
        (TWO_VOICES, "g4 ef8 c", "g4 ef8 kz", {"invalid_content": [3]}),
        (RELATIVE, "d g,4. g8 |", "d g,4. g4 |", {"invalid_bar_duration": [2]}),
        (TWO_VOICES, "c'8 bf a4", "c'8 bf a8", {"invalid_bar_duration": [2]}),
        (ABSOLUTE, "a2 c'4. a8", "a2 c'2 a8", {"invalid_bar_duration": [3]}),
        (RELATIVE, "e'4 c8 d e fis", "e'4 c8 d'' e,, fis", {"melodic_leap": [3]}),
        (ABSOLUTE, "a4 b c'8", "a4 b'' c'8", {"melodic_leap": [1]}),
        (TWO_VOICES, "bf'4 a'8 g'", "bf'4 a'8 gf'", {"accidental_outside_key": [3]}),
        (RELATIVE, "d2 cis4", "d2 ces4", {"accidental_outside_key": [7]}),
    ],
)
def test_an_error_is_found_in_its_measure_and_nothing_else(
    text: str, before: str, after: str, errors: dict[str, list[int]]
) -> None:
    assert text.count(before) == 1
    wrong = text.replace(before, after)
    # What stands at the very beginning takes effect in the pickup, if there is one.
    expected = {"invalid_metadata": [0]} if before == '\\clef "treble"' else errors
    assert find_errors(wrong, read(wrong)) == expected


def test_closely_related_keys_belong_to_the_key() -> None:
    # A minor's own raised degrees, and leading notes of E, D and B minor's relatives, but no a flat and no e sharp.
    minor = "{ \\key a \\minor a'4 fis' gis' a' | dis' e' cis' d' | bes' a' aes' g' | f' eis' f' f' | a'1 }"
    assert find_errors(minor, read(minor)) == {"accidental_outside_key": [3, 4]}


@pytest.mark.parametrize(
    ("altered", "own"),
    [
        # By hand: the key's seven notes; what its neighbours on the circle add (for C major those of F and G); the
        # leading notes of the three relative minors.
        ({}, "c d e f g a b  bes fis  gis dis cis"),
        ({3: 1}, "c d e fis g a b  f cis  dis ais gis"),
        ({6: -1, 2: -1, 5: -1}, "c d ees f g aes bes  des a  b fis e"),
    ],
)
def test_what_is_foreign_moves_with_the_signature(altered: dict[int, int], own: str) -> None:
    key = Key(Fraction(0), 1, 1, 0, Fraction(0), tuple(Fraction(altered.get(step, 0)) for step in range(7)), 0)
    names = {
        name_of(step, alteration)
        for step in range(7)
        for alteration in (-1, 0, 1)
        if not is_foreign(key, step, Fraction(alteration))
    }
    assert names == set(own.split())


def test_notes_apart_by_a_rest_or_in_a_chord_do_not_leap() -> None:
    text = "{ c'4 r c'''2 | <c c'>1 | c'1 | }"
    assert find_errors(text, read(text)) == {"melodic_leap": [2]}


def test_rests_of_several_measures_and_repeats_fill_their_measures() -> None:
    text = "{ \\time 3/4 R2.*3 | \\repeat volta 2 { c'2. | d'2. | } e'2. | R2.*2 | f'2. | }"
    assert find_errors(text, read(text)) == {}
