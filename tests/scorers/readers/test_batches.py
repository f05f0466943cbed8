"""Splitting batch replies, in the forms that models write and in hostile ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.scorers.readers.batches import MAX_ANSWER, split_answers

ANSWERS = ["Piano", "4/4 time", "G minor", "Measures 1-3"]


@pytest.mark.parametrize(
    "reply",
    [
        "1. Piano\n2. 4/4 time\n3. G minor\n4. Measures 1-3",
        "1) Piano\n2) 4/4 time\n3) G minor\n4) Measures 1-3",
        "Q1: Piano\nQ2: 4/4 time\nQ3: G minor\nQ4: Measures 1-3",
        "**1.** Piano\n**2.** 4/4 time\n**3.** G minor\n**4.** Measures 1-3",
        "**1. Piano**\n**2. 4/4 time**\n**3. G minor**\n**4. Measures 1-3**",
        (
            "**Question 1:** Piano\n\n**Question 2:** 4/4 time\n\n**Question 3:** G "
            "minor\n\n**Question 4:** Measures 1-3"
        ),
        "### 1\nPiano\n### 2\n4/4 time\n### 3\nG minor\n### 4\nMeasures 1-3",
        "(1) Piano\n(2) 4/4 time\n(3) G minor\n(4) Measures 1-3",
        "Here are the answers:\n\n  1. Piano\n  2. 4/4 time\n  3. G minor\n  4. Measures 1-3",
        (
            "1. Instruments?\nPiano\n2. What metre?\n**Answer:** 4/4 time\n3. Key?\nA: G minor\n4. "
            "Bars?\nMeasures 1-3"
        ),
        "1. Piano 2. 4/4 time 3. G minor 4. Measures 1-3",
        "Piano\n4/4 time\nG minor\nMeasures 1-3",
        '["Piano", "4/4 time", "G minor", "Measures 1-3"]',
        '```json\n{"1": "Piano", "2": "4/4 time", "3": "G minor", "4": "Measures 1-3"}\n```',
        '{"answers": {"Q1": "Piano", "Q2": "4/4 time", "Q3": "G minor", "Q4": "Measures 1-3"}}',
        (
            '[{"question": 4, "answer": "Measures 1-3"}, {"question": 1, "answer": "Piano"}, '
            '{"question": 2, "answer": "4/4 time"}, {"question": 3, "answer": "G minor"}]'
        ),
        "<think>1. Flute\n2. 3/4</think>1. Piano\n2. 4/4 time\n3. G minor\n4. Measures 1-3",
        "1. Flute\n2. 3/4\n\nFinal answers:\n1. Piano\n2. 4/4 time\n3. G minor\n4. Measures 1-3",
    ],
)
def test_forms_of_a_list(reply):
    assert split_answers(reply, 4) == ANSWERS


def test_missing_answers_are_none():
    assert split_answers("1. Piano\n3. G minor\n4.", 4) == ["Piano", None, "G minor", None]
    assert split_answers("3. G minor", 4) == [None, None, "G minor", None]
    assert split_answers('["Piano", null, true, ""]', 4) == ["Piano", None, "Yes", None]
    assert split_answers("1. Piano\n9. Other", 2) == ["Piano\n9. Other", None]
    for reply in ("", "  \n ", "I cannot answer.", "[", "{}", "[[[[", "12"):
        assert split_answers(reply, 4) == [None] * 4


def test_answers_over_several_lines_and_parts_that_are_numbered():
    reply = "1. The parts are\n   1. a theme\n   2. its answer\n2. Yes, C♯4;\nG♯4"
    assert split_answers(reply, 2) == ["The parts are\n1. a theme\n2. its answer", "Yes, C♯4;\nG♯4"]


def test_one_question_takes_the_whole_reply():
    assert split_answers(" 1. Piano\n2. Flute ", 1) == ["1. Piano\n2. Flute"]
    assert split_answers("\n", 1) == [None]
    assert split_answers("x" * 10_000, 1) == ["x" * MAX_ANSWER]
    with pytest.raises(ValueError, match="count is 0"):
        split_answers("1. Piano", 0)


def test_hostile_replies_end():
    for piece in (
        "[",
        "{",
        "1. ",
        "1.\n",
        " ",
        "*",
        "12. 1. ",
        "\n",
        "Q1: ",
        '{"1":',
        "9" * 50,
        "?\n",
    ):
        assert len(split_answers(piece * 100_000, 12)) == 12


@settings(max_examples=40)
@given(st.text(max_size=300), st.integers(1, 12))
def test_any_reply_gives_as_many_bounded_answers(reply: str, count: int) -> None:
    answers = split_answers(reply, count)
    assert len(answers) == count
    assert all(
        answer is None or (answer == answer.strip() and 0 < len(answer) <= MAX_ANSWER)
        for answer in answers
    )
