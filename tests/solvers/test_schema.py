"""The strict validation of symbolic lines, on the kinds of output that models produce."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.solvers.symbolic.music import CHORD_QUALITY, SYNCOPATION, TRANSPOSITION
from music_evals.solvers.symbolic.schema import FormulationError

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

RHYTHM, MELODY, CHORD = SYNCOPATION.schema, TRANSPOSITION.schema, CHORD_QUALITY.schema
ONE, TWO = ["Excerpt1"], ["Excerpt1", "Excerpt2"]
LONG = [
    (text, "parse")
    for text in ("rhythm(" * 5000, "[" * 20_000, "rhythm(Excerpt1, [1])" * 2_000, "x" * 5_000_000)
]
LONG += [(f"rhythm(Excerpt1, [{'1, ' * 64}1])", "structural")]
LONG += [
    (f"rhythm(Excerpt1, [{number}])", "domain") for number in ("9" * 10_000, "0" * 10_000 + "1")
]


BAD = [
    (RHYTHM, ONE, *case)
    for case in CASES["test_bad_rhythms_are_labelled_with_the_kind_of_their_error"] + LONG
]
BAD += [
    (MELODY, TWO, *case)
    for case in CASES["test_bad_melodies_are_labelled_with_the_kind_of_their_error"]
]


@pytest.mark.parametrize(("schema", "excerpts", "text", "kind"), BAD)
def test_bad_lines_are_labelled_with_the_kind_of_their_error(schema, excerpts, text, kind):
    with pytest.raises(FormulationError) as caught:
        schema.parse(text, excerpts)
    assert caught.value.kind == kind
    assert len(caught.value.message) < 300


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        (pitches,) = CHORD.parse(text, ONE)
    except FormulationError:
        return
    assert all(0 <= pitch <= 127 for pitch in pitches)
