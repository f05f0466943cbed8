"""Who knows the answer earns it in any natural spelling and layout; who does not earns nothing."""

from collections.abc import Mapping, Sequence

from tests.scorers.answer_kinds.writers import (
    LAYOUTS,
    SPELLINGS,
)

Vocabulary = tuple[str, Sequence[str], Mapping[str, Sequence[str]]]


def test_there_are_five_spellings_and_ten_layouts():
    assert {len(spellings) for spellings in SPELLINGS.values()} == {5}
    assert len(LAYOUTS) >= 10
