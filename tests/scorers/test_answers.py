"""Extraction of the final answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.scorers.answers import choice_letter, choice_sentence

CHORDS = ["Major", "Minor", "Dominant", "Diminished"]
YES, NO = "Yes, these are the same melody.", "No, these are not the same melody."


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Final Answer: B", "B"),
        ("final answer: b", "B"),
        ("FINAL ANSWER - C", "C"),
        ("Final Answer is D.", "D"),
        ("**Final Answer:** C", "C"),
        ("**Final Answer: C. Dominant**", "C"),
        ("Final Answer: (B) Minor", "B"),
        ("Final Answer: B Minor", "B"),
        ("Final Answer: $\\boxed{D}$", "D"),
        ("### Final Answer\nC", "C"),
        ("Final Answer:\n\n  **A**", "A"),
        ("Final Answer: X\nFinal Answer: B\nFinal Answer: Z", "B"),  # the last valid one
        ("Final Answer: A\nOn second thought.\nFinal Answer: D", "D"),
        ("B", "B"),
        ("(C)", "C"),
        ("B. Minor", "B"),
        ("Final Answer: X", None),
        ("Final Answer: E", None),
        ("Final Answer:", None),
        ("Final Answer: a chord like this is minor", None),
        ("A chord like this is minor", None),
        ("The answer is B", None),
        ("I think B.\nIt might be C.", None),
        ("A. Minor", None),
        ("", None),
    ],
)
def test_letters(text: str, letter: str | None) -> None:
    assert choice_letter(text, CHORDS) == letter


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (YES, YES),
        (NO, NO),
        (f"Final Answer: {NO}", NO),
        ("**Final Answer:** yes, these are the same melody", YES),
        ("Final answer: No", NO),
        ("Yes", YES),
        ("no.", NO),
        (f"{YES}\nOr rather:\n{NO}", NO),
        (f"Final Answer: {YES}\nNote that '{NO}' would be wrong.", YES),
        ("Final Answer: maybe", None),
        ("No idea, sorry", None),
        ("Yes, I think so", None),
        ("", None),
    ],
)
def test_sentences(text: str, sentence: str | None) -> None:
    assert choice_sentence(text, [YES, NO]) == sentence


@pytest.mark.parametrize(
    "text",
    ["final answer " * 100_000, " \t" * 1_000_000, "Final Answer: " + "*" * 10**6, "\n" * 200_000, "A " * 500_000],
    ids=["words", "blanks", "stars", "lines", "letters"],
)
def test_megabytes_of_nothing_hold_no_answer(text: str) -> None:
    assert choice_letter(text, CHORDS) is None
    assert choice_sentence(text, [YES, NO]) is None


@settings(max_examples=50)
@given(st.text(max_size=200), st.sampled_from("ABCD"))
def test_a_closing_answer_line_wins_over_whatever_stands_before(before: str, letter: str) -> None:
    assert choice_letter(f"{before}\nFinal Answer: {letter}", CHORDS) == letter
