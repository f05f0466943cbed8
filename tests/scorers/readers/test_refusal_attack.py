"""A model that refuses every question earns nothing, in whatever words and language."""

import csv
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.readers import STATUSES
from music_evals.scorers.readers.checking import AnswerType, answer_type_of, check
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.written import Kind, read_answer

read_number, read_index, read_order, read_measures = (
    partial(read_answer, kind) for kind in get_args(Kind)
)
DATA = Path(__file__).parent / "data"
PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "msu" / "msu-bench.xlsx"
with (DATA / "refusals.csv").open(encoding="utf-8", newline="") as file:
    REFUSALS = [row["reply"] for row in csv.DictReader(file)]
# References that a word of a refusal could be taken for.
REFERENCES = (
    "None",
    "No",
    "Yes",
    "0",
    "1",
    "A minor",
    "C4",
    "I",
    "p",
    "f",
    "Measure 1",
    "Piano",
    "Third",
)
OPTIONS = [
    ["Major", "Minor"],
    ["Yes, these are the same.", "No, these are not the same."],
    ["没有", "有", "无", "不"],
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_no_refusal_is_right(number):
    reply = REFUSALS[number]
    for reference in REFERENCES[number % 3 :: 3]:
        for answer_type in get_args(AnswerType):
            assert check(reply, reference, answer_type).is_right is not True, (
                reference,
                answer_type,
            )
    assert {read_choice(reply, options).answer for options in OPTIONS} == {None}
    assert {read(reply).text for read in (read_number, read_index, read_order, read_measures)} == {
        None
    }


@pytest.mark.slow
@pytest.mark.skipif(
    not PUBLISHED.is_file(), reason=f"no copy of the published questions in {PUBLISHED}"
)
def test_refusals_earn_nothing_on_the_published_questions():
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'scores'")
    sheet = openpyxl.load_workbook(PUBLISHED, read_only=True).active
    asked = {
        (answer, answer_type_of(question, answer))
        for _, _, question, answer in sheet.iter_rows(min_row=2, values_only=True)
    }
    for reply in REFUSALS[::20]:
        right = [
            (reply, answer)
            for answer, answer_type in asked
            if check(reply, answer, answer_type).is_right
        ]
        assert not right


@given(
    st.sampled_from(REFUSALS),
    st.sampled_from(["", " ", "\n", "…", ".", "**"]),
    st.sampled_from(REFERENCES),
)
def test_a_refusal_added_to_nothing_is_never_right(
    refusal: str, nothing: str, reference: str
) -> None:
    for answer_type in get_args(AnswerType):
        assert check(nothing + refusal + nothing, reference, answer_type).is_right is not True


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(
        ["{}", "({})", "**{}**", "Final Answer: {}", "答案：{}", "[[答案：{}]]", "\\boxed{{{}}}"]
    ),
)
def test_the_letter_of_an_answer_is_what_is_read(letter: str, form: str) -> None:
    assert read_choice(form.format(letter), ["w", "x", "y", "z"]).answer == letter


LABELS = (
    "final answer ",
    "Final Answer: *",
    "A ",
    "答案",
    "[[",
    "选",
    "答案 \n",
    "A或",
    "answer is ",
    "\\boxed{",
)


@pytest.mark.parametrize("piece", [*LABELS, " \t", "\n", "no ", "cannot ", "I "])
def test_long_text_is_read_in_linear_time(piece):
    text = piece * (20_000 // len(piece))
    # Quadratic time would be minutes.
    assert read_choice(text, ["Major", "Minor", "Dominant", "Diminished"]).status in STATUSES
    for number, answer_type in enumerate(get_args(AnswerType)):
        right = "C4" if answer_type == "pitch" else "1"
        reference = ("None", right)[(number + len(piece)) % 2]
        assert check(text, reference, answer_type).status in STATUSES
