"""Transposed ABC: what music21 hears of it, and the other way back."""

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.notation.abc.transposed import (
    Direction,
    transpose_abc,
)


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="ABCDEFGabcdefg^_=,'0123456789/|[]:() -zZ\"!{}~K\n", max_size=60),
    st.sampled_from([1, -1]),
)
def test_any_text_is_moved_and_moved_back_or_refused(text: str, direction: Direction) -> None:
    try:
        moved = transpose_abc(text, direction)
    except ValueError:
        return
    assert len(moved.split("\n")) == len(text.split("\n"))
    with suppress(ValueError):  # a key at the edge of what can be written
        back = transpose_abc(moved, -direction)  # type: ignore[arg-type]
        # The same note has two spellings: a, and A.
        assert re.sub("[,']", "", back).lower() == re.sub("[,']", "", text).lower()


ERRORS = {
    "K:C#\nC": "accidentals",
    "K:HP\nA": "cannot be read",
    "K:C\n§": "cannot read",
    "^^B": "would need",
}


@pytest.mark.parametrize(("abc", "message"), ERRORS.items())
def test_what_cannot_be_moved_is_an_error(abc, message):
    with pytest.raises(ValueError, match=message):
        transpose_abc(abc, 1)
