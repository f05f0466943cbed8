"""Reading answers to questions on scores, by both protocols: as models write them, and hostile
ones.
"""

import csv
from functools import partial
from pathlib import Path
from typing import get_args

import pytest

from music_evals.scorers.readers.written import (
    Kind,
    measures_of,
    read_all_measures,
    read_answer,
)

READERS = {kind: partial(read_answer, kind) for kind in get_args(Kind)}
read_number, read_index, read_order, read_measures = READERS.values()


def test_both_readings():
    with (Path(__file__).parent / "data" / "protocols.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file):
            read, in_form = READERS[row["kind"]], row["in_form"] == "1"
            assert read(row["reply"])[1:3] == (row["strict"] or None, in_form), row
            assert read(row["reply"], "paper")[1:3] == (row["paper"] or None, in_form), row


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_empty_reply_answers_nothing(read):
    for protocol in ("strict", "paper"):
        for reasoned in (False, True):
            assert read("", protocol, reasoned=reasoned)[:3] == ("empty", None, False)


def test_after_reasoning_the_last_line_labelled_answer_counts():
    reply = "There are 8 and then 4.\nAnswer: 8\nNo, I forgot some.\n**Answer:** 12\n"
    assert read_number(reply, reasoned=True)[:3] == ("answered", "12", True)
    assert read_number(reply, "paper", reasoned=True)[:3] == ("answered", "12", True)
    assert (
        read_number(reply, "paper", reasoned=True).rule
        == "the first run of digits in what follows the last “Answer:”"
    )
    assert read_number("Let me see: 3 and 9.\nFinal answer: 12 measures", reasoned=True)[1:3] == (
        "12",
        False,
    )
    assert (
        read_number("Let me see: 3 and 9.\nFinal answer: 12 measures", "paper", reasoned=True).text
        == "12"
    )
    assert read_index("The key has one sharp.\n\n> Answer:\n2", reasoned=True).text == "2"
    assert read_measures("In measure 3 …\nAnswer: none", reasoned=True).text == "none"
    assert read_order("2031", reasoned=True).text == "2031", (
        "a reply without any reasoning is an answer too"
    )
    assert (
        read_number("First I count the measures of the upper staff, which are", reasoned=True).text
        is None
    )


def test_without_reasoning_the_paper_reads_from_the_beginning():
    """A base model goes on after its answer, with questions of its own."""
    assert read_index("2\n\nQuestion: …\nAnswer: 3", "paper").text == "2"
    assert read_index("2\n\nQuestion: …\nAnswer: 3").status == "unreadable"


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "Answer: ", "*", "none", "\0\u2028١٢٣²", "Answer:\n", "\n"],
    ids=lambda piece: repr(piece),
)
def test_hostile_replies_end(read, piece):
    reply = piece * (400_000 // len(piece)) + (
        "Answer:" if piece == "\n" else "x" if "\n" in piece else ""
    )
    for protocol in ("strict", "paper"):
        for reasoned in (False, True):
            answer = read(reply, protocol, reasoned=reasoned).text
            assert answer is None or len(answer) < 100


def test_all_measures_of_a_reply():
    assert read_all_measures("<think>It is 3, or 12</think>7 4, 4") == {4, 7}
    assert read_all_measures("bars 2-5") == {2, 5}
    assert read_all_measures("It is 3.\nAnswer: 9 8", reasoned=True) == {8, 9}
    assert read_all_measures("none" + "9" * 1_000_000) == frozenset()


def test_a_right_answer_that_is_none_is_named():
    with pytest.raises(ValueError, match="'3,4' names no measures"):
        measures_of("3,4")


def test_labels_in_other_languages():
    for label in ("Endgültige Antwort: Takt 7", "最終回答：第7小節", "Réponse finale : mesure 7"):
        assert read_measures(f"Fünf statt vier Schläge.\n\n{label}").text == "7", label
