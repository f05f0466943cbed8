"""Readers on labelled replies: 2,400 of real models where they are at hand, and phrasings written for this.

What is right must be read, nearly always; what is wrong must never be taken for right.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from music_evals.scorers.readers.checking import check
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.votes import read_vote
from music_evals.scorers.readers.written import read_index, read_measures, read_number, read_order

HERE = Path(__file__).parent / "data"
REPLIES = Path(__file__).parents[4] / "shared" / "data" / "replies"
MUSE = {
    "syncopation": ["The rhythm in Excerpt 1 is more syncopated.", "The rhythm in Excerpt 2 is more syncopated."],
    "transposition": ["Yes, these are the same melody.", "No, these are not the same melody."],
    "chord_quality": ["Major", "Minor"],
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("path", [HERE / "phrasings.csv", REPLIES / "score_answers.csv"], ids=lambda path: path.stem)
def test_phrasings(path: Path) -> None:
    if not path.is_file():
        pytest.skip(f"no copy of the phrasings in {path}")
    found = Counter(
        (row["right"], check(row["answer"], row["reference"], row["answer_type"]).is_right) for row in rows(path)
    )
    assert found["0", True] <= (1 if path.parent == HERE else 0)
    assert found["1", False] <= 5
    assert found["1", True] >= 0.985 * (found["1", True] + found["1", None] + found["1", False])


@pytest.mark.skipif(not REPLIES.is_dir(), reason=f"no copy of the replies in {REPLIES}")
def test_replies_of_real_models_to_muse_are_read_as_its_authors_read_them() -> None:
    lines = (REPLIES / "muse_replies.jsonl").read_text(encoding="utf-8").splitlines()
    replies = [reply for line in lines if (reply := json.loads(line))["task"] in MUSE]
    assert len(replies) == 720
    for reply in replies:
        options = MUSE[reply["task"]]
        (expected,) = [letter for letter, option in zip("AB", options, strict=True) if option in reply["parsed"]]
        assert read_choice(reply["reply"], options).answer == expected, reply["reply"][-200:]


def test_choices() -> None:
    wrong = []
    for row in rows(HERE / "choices.csv"):
        read = read_choice(row["reply"], row["options"].split(" | "))
        if (read.status, read.answer or "") != (row["status"], row["answer"]):
            wrong.append(row["reply"])
            # What is not read as it was meant is at least not taken for another answer.
            assert read.answer is None, (row, read)
    assert len(wrong) <= 15, wrong


def test_written() -> None:
    readers = {"number": read_number, "index": read_index, "order": read_order, "measures": read_measures}
    for row in rows(HERE / "written.csv"):
        read = readers[row["kind"]](row["reply"])
        assert (read.status, read.text or "") == (row["status"], row["answer"]), row


def test_refusals_and_what_looks_like_them() -> None:
    assert [row["reply"] for row in rows(HERE / "refusals.csv") if not is_refusal(row["reply"])] == []
    taken = [row["reply"] for row in rows(HERE / "no_refusals.csv") if is_refusal(row["reply"])]
    assert len(taken) <= 25, taken


def test_votes() -> None:
    read = [(row["reply"], read_vote(row["reply"]), row["vote"]) for row in rows(HERE / "judge_replies.csv")]
    assert [reply for reply, vote, expected in read if expected and str(vote) != expected] == []
    assert sum(vote is not None for _, vote, expected in read if not expected) <= 2
