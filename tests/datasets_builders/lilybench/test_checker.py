"""What is wrong with a score, on texts whose errors were put in by hand."""

import pytest

from music_evals.datasets_builders.lilybench.checker import find_errors
from music_evals.notation.lilypond.structure import read_structure
from tests.datasets_builders.lilybench.scores import ABSOLUTE, CLEAN, RELATIVE, TWO_VOICES


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_clean_scores_have_no_errors(text: str) -> None:
    assert find_errors(text, read_structure(text)) == {}


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
        (TWO_VOICES, "bf'4 a'8 g'", "bf'4 af'8 g'", {"accidental_outside_key": [3]}),
        (RELATIVE, "d2 cis4", "d2 c4", {"accidental_outside_key": [7]}),
    ],
)
def test_an_error_is_found_in_its_measure_and_nothing_else(
    text: str, before: str, after: str, errors: dict[str, list[int]]
) -> None:
    assert text.count(before) == 1
    wrong = text.replace(before, after)
    # A clef or key at the very beginning stands in the pickup's stretch here, if there is one.
    expected = {"invalid_metadata": [0]} if before == '\\clef "treble"' else errors
    assert find_errors(wrong, read_structure(wrong)) == expected


def test_in_minor_the_raised_sixth_and_seventh_belong_to_the_key() -> None:
    minor = "{ \\key a \\minor a'4 fis' gis' a' | g' f' e' e' | cis'' a' dis' a' | a'1 }"
    assert find_errors(minor, read_structure(minor)) == {"accidental_outside_key": [3]}


def test_notes_apart_by_a_rest_or_in_a_chord_do_not_leap() -> None:
    text = "{ c'4 r c'''2 | <c c'>1 | c'1 | }"
    assert find_errors(text, read_structure(text)) == {"melodic_leap": [2]}


def test_rests_of_several_measures_and_repeats_fill_their_measures() -> None:
    text = "{ \\time 3/4 R2.*3 | \\repeat volta 2 { c'2. | d'2. | } e'2. | R2.*2 | f'2. | }"
    assert find_errors(text, read_structure(text)) == {}
