"""Reading answers to questions on scores, by both protocols: as models write them, and hostile ones."""

from collections.abc import Callable

import pytest

from music_evals.scorers.readers.written import (
    Answer,
    measures_of,
    read_all_measures,
    read_index,
    read_measures,
    read_number,
    read_order,
)

# By reader: replies with their strict and their paper's reading.
CASES = {
    read_number: [
        ("24", "24", "24"), (" \n024\n", "24", "024"), ("Answer: 24.", "24", "24"), ("**24**", "24", "24"),
        ("24 measures", None, "24"), ("There are 24, or 25.", None, "24"), ("-3", None, "3"), ("twenty", None, None),
        ("2.5", None, "2"), ("99999999999", None, "99999999999"), ("<think>It has 8 or 9</think>\n12", "12", "8"),
        ("٢٤", None, "٢٤"),
    ],
    read_index: [
        ("2", "2", "2"), ("`2`", "2", "2"), ("2: G major", None, "2"), ("Option 3", None, "3"), ("4", None, None),
        ("12", None, "1"), ("In 3/4 it is 1", None, "3"), ("G major", None, None), ("٢", None, None),
    ],
    read_order: [
        ("2031", "2031", "2031"), ("2 0 3 1", None, "2"), ("2-0-3-1", None, "2"), ("0011", None, "0011"),
        ("The order is 2031.", None, "2031"), ("1685", None, "1685"), ("20310", None, "20310"),
        ("Bar 1 of 2031", None, "2031"), ("none", None, None),
    ],
    read_measures: [
        ("4", "4", "4"), ("7 4 4", "4 7", "7"), ("none", "none", "none"), ("None.", "none", "none"), ("0", "0", "0"),
        ("3 7 12", "3 7 12", "12"), ("bars 4 and 7", None, "4"), ("There are none, not even in 3.", None, "3"),
        ("Bar 3; none of the others.", None, "3"), ("nonesuch", None, None), ("007", "7", "007"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("read", "reply", "strict", "paper"), [(read, *case) for read, cases in CASES.items() for case in cases]
)
def test_both_readings(read: Callable[..., Answer], reply: str, strict: str | None, paper: str | None) -> None:
    assert read(reply)[1:3] == (strict, strict is not None)
    assert read(reply, "paper")[1:3] == (paper, strict is not None)


@pytest.mark.parametrize("read", CASES)
def test_an_empty_reply_answers_nothing(read: Callable[..., Answer]) -> None:
    for protocol in ("strict", "paper"):
        for reasoned in (False, True):
            assert read("", protocol, reasoned=reasoned)[:3] == ("empty", None, False)


def test_after_reasoning_the_last_line_labelled_answer_counts() -> None:
    reply = "There are 8 and then 4.\nAnswer: 8\nNo, I forgot some.\n**Answer:** 12\n"
    assert read_number(reply, reasoned=True)[:3] == ("answered", "12", True)
    assert read_number(reply, "paper", reasoned=True)[:3] == ("answered", "12", True)
    assert (
        read_number(reply, "paper", reasoned=True).rule == "the first run of digits in what follows the last “Answer:”"
    )
    assert read_number("Let me see: 3 and 9.\nFinal answer: 12 measures", reasoned=True).status == "unreadable"
    assert read_number("Let me see: 3 and 9.\nFinal answer: 12 measures", "paper", reasoned=True).text == "12"
    assert read_index("The key has one sharp.\n\n> Answer:\n2", reasoned=True).text == "2"
    assert read_measures("In measure 3 …\nAnswer: none", reasoned=True).text == "none"
    assert read_order("2031", reasoned=True).text == "2031", "a reply without any reasoning is an answer too"
    assert read_number("First I count the measures of the upper staff, which are", reasoned=True).text is None


def test_without_reasoning_the_paper_reads_from_the_beginning() -> None:
    """A base model goes on after its answer, with questions of its own."""
    assert read_index("2\n\nQuestion: …\nAnswer: 3", "paper").text == "2"
    assert read_index("2\n\nQuestion: …\nAnswer: 3").status == "unreadable"


@pytest.mark.parametrize("read", CASES)
@pytest.mark.parametrize(
    "reply",
    [
        "1" * 1_000_000,
        "1 " * 500_000,
        "Answer: " * 200_000,
        "*" * 1_000_000,
        "\n" * 1_000_000 + "Answer:",
        "none" * 300_000,
        "\0\u2028١٢٣²" * 200_000,
        "Answer:\n" * 200_000 + "x",
    ],
    ids=lambda reply: repr(reply[:8]),
)
def test_hostile_replies_end(read: Callable[..., Answer], reply: str) -> None:
    for protocol in ("strict", "paper"):
        for reasoned in (False, True):
            answer = read(reply, protocol, reasoned=reasoned).text
            assert answer is None or len(answer) < 100


def test_all_measures_of_a_reply() -> None:
    assert read_all_measures("<think>It is 3, or 12</think>7 4, 4") == {4, 7}
    assert read_all_measures("bars 2-5") == {2, 5}
    assert read_all_measures("It is 3.\nAnswer: 9 8", reasoned=True) == {8, 9}
    assert read_all_measures("none" + "9" * 1_000_000) == frozenset()


def test_a_right_answer_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="'3,4' names no measures"):
        measures_of("3,4")
