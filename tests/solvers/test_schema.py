"""The strict validation of symbolic lines, on the kinds of output that models produce."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.solvers.symbolic.music import CHORD_QUALITY, SYNCOPATION, TRANSPOSITION
from music_evals.solvers.symbolic.schema import MAX_CHARACTERS, FormulationError

RHYTHM, MELODY, CHORD = SYNCOPATION.schema, TRANSPOSITION.schema, CHORD_QUALITY.schema
ONE, TWO = ["Excerpt1"], ["Excerpt1", "Excerpt2"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "parse"),
        ("   \n\t\n", "parse"),
        ("```\nrhythm(Excerpt1, [1, 3])\n```", "parse"),
        ("Here you go:\nrhythm(Excerpt1, [1, 3])", "parse"),
        ("rhythm(Excerpt1, [1, 3]) # four bars", "parse"),
        ("rhythm(Excerpt1, [1, 3)", "parse"),
        ("rhythm(Excerpt1, [[1], [3]])", "parse"),
        ("rhythm(Excerpt1, [1, 3,])", "parse"),
        ("rhythm(Excerpt1, [1 3])", "parse"),
        ("rhythm(Excerpt1, [1e9])", "parse"),
        ("rhythm(Excerpt1, [١, ٣])", "parse"),  # Arabic-Indic digits
        ("rhythm(Excerpt1, [１, ３])", "parse"),  # full-width digits
        ("rhythm(Excerpt1, [²])", "parse"),
        ("rhythm(Excerpt1, [__import__('os')])", "parse"),
        ("rhythm(" * 5000, "parse"),
        ("[" * 20_000, "parse"),
        ("rhythm(Excerpt1, [1])" * (MAX_CHARACTERS // 10), "parse"),
        ("x" * 5_000_000, "parse"),
        ("rhythm(Excerpt1, [1])\nrhythm(Excerpt1, [3])", "structural"),
        ("melody(Excerpt1, [1])", "structural"),
        ("rhythm(excerpt1, [1])", "structural"),
        ("rhythm(Excerpt1.wav, [1])", "structural"),
        ("rhythm('Excerpt1', [1])", "structural"),
        (f"rhythm(Excerpt1, [{', '.join(['1'] * 65)}])", "structural"),
        ("rhythm(Excerpt1, [0])", "domain"),
        ("rhythm(Excerpt1, [1, 33])", "domain"),
        ("rhythm(Excerpt1, [-1])", "domain"),
        (f"rhythm(Excerpt1, [{'9' * 10_000}])", "domain"),
        (f"rhythm(Excerpt1, [{'0' * 10_000}1])", "domain"),
    ],
)
def test_bad_rhythms_are_labelled_with_the_kind_of_their_error(text: str, kind: str) -> None:
    with pytest.raises(FormulationError) as caught:
        RHYTHM.parse(text, ONE)
    assert caught.value.kind == kind
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("rhythm(Excerpt1, [1, 3, 32])", [[1, 3, 32]]),
        ("\n  rhythm( Excerpt1 , [ 1,3 ,32 ] )  \n\n", [[1, 3, 32]]),
        ("rhythm(Excerpt1, [])", [[]]),
        ("rhythm(Excerpt1, [+5, 05])", [[5, 5]]),
    ],
)
def test_good_rhythms_are_read(text: str, lists: list[list[int]]) -> None:
    assert RHYTHM.parse(text, ONE) == lists


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("melody(Excerpt1, [60])", "structural"),
        ("melody(Excerpt2, [60])\nmelody(Excerpt1, [62])", "structural"),
        ("melody(Excerpt1, [60])\nmelody(Excerpt1, [62])", "structural"),
        ("melody(Excerpt1, [60])\nmelody(Excerpt2, [128])", "domain"),
        ("melody(Excerpt1, [60]) melody(Excerpt2, [62])", "parse"),
    ],
)
def test_bad_melodies_are_labelled_with_the_kind_of_their_error(text: str, kind: str) -> None:
    with pytest.raises(FormulationError) as caught:
        MELODY.parse(text, TWO)
    assert caught.value.kind == kind


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 127), min_size=1, max_size=128), min_size=2, max_size=2))
def test_what_is_written_is_read_back_and_matches_the_pattern(lists: list[list[int]]) -> None:
    text = MELODY.write(TWO, lists)
    assert MELODY.parse(text, TWO) == lists
    assert re.fullmatch(MELODY.pattern(TWO), text)


@settings(max_examples=30)
@given(st.from_regex(RHYTHM.pattern(ONE), fullmatch=True))
def test_whatever_matches_the_pattern_is_valid(text: str) -> None:
    (slots,) = RHYTHM.parse(text, ONE)
    assert 1 <= len(slots) <= 64
    assert all(1 <= slot <= 32 for slot in slots)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        (pitches,) = CHORD.parse(text, ONE)
    except FormulationError:
        return
    assert all(0 <= pitch <= 127 for pitch in pitches)
