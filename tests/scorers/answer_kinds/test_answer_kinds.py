"""Kinds of answers: replies with known readings and scores, and the metrics against other programs."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.answer_kinds import judge_typed, kind_of
from tests.scorers.every_scorer import TYPED

VOCABULARY = ("jazz", "rock", "hip hop", "electronic", "up", "down")
ROWS = [*csv.DictReader((Path(__file__).parent / "data" / "answers.csv").open(encoding="utf-8"))]
KINDS = [name for name in TYPED if name != "label"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['answer_kind']} {row['reply'][:30]}")
def test_known_replies_have_their_reading_and_score(row):
    kind = kind_of(row["answer_kind"], VOCABULARY)
    verdict = judge_typed(row["reply"], row["reference"], kind)
    assert (verdict.reading.status, round(verdict.value, 4)) == (row["status"], float(row["score"]))


@pytest.mark.parametrize("name", KINDS)
def test_a_reply_that_was_cut_answers_only_by_a_label_and_a_whole_line(name):
    kind, right = kind_of(name, VOCABULARY), TYPED[name]
    assert judge_typed(kind.write(right), right, kind, is_cut=True).value == 0
    labelled = f"Final Answer: {kind.write(right)}"
    assert judge_typed(f"{labelled}\n", right, kind, is_cut=True).value == 1
    assert judge_typed(labelled, right, kind, is_cut=True).value == float(kind.is_long)


@given(st.text(max_size=300), st.sampled_from(KINDS))
def test_any_reply_is_read_and_scored_from_0_to_1(reply: str, name: str) -> None:
    verdict = judge_typed(reply, TYPED[name], kind_of(name, VOCABULARY))
    assert 0 <= verdict.value <= 1
    assert verdict.value == 0 or verdict.reading.status == "answered"


@pytest.mark.parametrize(
    "name", ["tempo", "pitch", "pitch:solfege", "times", "number:x", "key:major", "text:wer"]
)
def test_an_unknown_kind_is_refused(name):
    with pytest.raises(ValueError, match=r"not valid|no argument"):
        kind_of(name)


REFERENCES = {**TYPED, "sequence:midi": "60", "sequence:hz": "60", "set:name": "60"}
NO_ANSWER = {"REFUSED", "SEVERAL", "NONE"}
TAGS = (
    "jazz",
    "rock",
    "hip hop",
    "electronic",
    "ambient",
    "folk",
    "classical",
    "metal",
    "up",
    "down",
)


def plain(text):
    """An answer in a form in which equal ones are the same."""
    try:
        return [round(float(number), 2) for number in text.replace(";", " ").split()]
    except ValueError:
        return " ".join(text.casefold().split()).strip(' ."“”')


def test_replies_written_without_sight_of_the_readers():
    """460 made-up replies; the readers were mended by all of them."""
    lines = (
        (Path(__file__).parent / "data" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    )
    outcomes = {"right": 0, "unread": 0, "misread": 0}
    for line in lines:
        case = json.loads(line)
        kind = kind_of(case["kind"], TAGS)
        answers = judge_typed(case["reply"], REFERENCES[case["kind"]], kind).reading.answer
        has_none = case["says"] in NO_ANSWER
        if answers is None:
            outcomes["right" if has_none else "unread"] += 1
        elif has_none or plain(answers) != plain(case["says"]):
            outcomes["misread"] += 1
        else:
            outcomes["right"] += 1
    assert outcomes["misread"] <= 2
    assert outcomes["unread"] <= 45
