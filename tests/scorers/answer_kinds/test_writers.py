"""Who knows the answer earns it in any natural spelling and layout; who does not earns nothing."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.scorers.answer_kinds import KINDS, LABEL, judge_typed, kind_of
from music_evals.scorers.answer_kinds.statements import answer_in_line
from music_evals.scorers.readers.verdicts import judge_option
from tests.scorers.answer_kinds.writers import (
    LAYOUTS,
    SPELLINGS,
    Answer,
    answer_of,
    layouts_of,
    vocabularies,
    write,
)
from tests.scorers.every_scorer import TYPED

ARGUMENTS = {
    "number": ("", ":4%", ":0.5"), "pitch": (":midi", ":name", ":hz"), "times": (":0.25",),
    "sequence": (":midi", ":name", ":hz"), "voice": (":midi", ":name", ":hz"),
    "set": (":midi", ":name", ":hz"), "all_times": (":0.25",), "text": ("", ":cer"),
    "lyrics": (), "stated": ("", ":any", ":name"),
    "segments": ("", ":verse"),
}  # fmt: skip
Vocabulary = tuple[str, Sequence[str], Mapping[str, Sequence[str]]]
CASES = {
    base + argument: (base + argument, (), {})
    for base in KINDS
    for argument in ARGUMENTS.get(base, ("",))
    if base not in ("labels", "list")
} | vocabularies()


def value(reply, answer, case):
    kind, tags, aliases = case
    if kind == LABEL:
        letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[tags.index(answer.reference)]
        return judge_option(answer_in_line(reply, tags), tags, letter).value
    return judge_typed(reply, answer.reference, kind_of(kind, tags, aliases)).value


@pytest.mark.parametrize("name", CASES)
@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(data=st.data())
def test_the_right_answer_earns_all_and_wrong_ones_nothing(name: str, data: st.DataObject) -> None:
    kind, tags, _ = CASES[name]
    answer = answer_of(kind, Random(data.draw(st.integers(0, 10**6))), tags)
    if answer is None:  # a new kind, whose answer is known from the other tests
        answer = Answer("words", kind_of(kind).write(TYPED[kind]).split(", "), TYPED[kind], ())
    spelling = data.draw(st.integers(0, len(SPELLINGS[answer.spelled]) - 1))
    layout = data.draw(st.sampled_from(layouts_of(kind)))
    reply = write(answer, answer.values, spelling, layout)
    assert value(reply, answer, CASES[name]) >= 0.99, reply
    if answer.wrong:
        wrong = write(answer, answer.wrong, spelling, layout)
        assert value(wrong, answer, CASES[name]) <= 0.01, wrong


def test_there_are_five_spellings_and_ten_layouts():
    assert {len(spellings) for spellings in SPELLINGS.values()} == {5}
    assert len(LAYOUTS) >= 10
