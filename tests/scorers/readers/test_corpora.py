"""Readers on labelled replies: 2,400 of real models where they are at hand, and phrasings written
for this.

What is right must be read, nearly always; what is wrong must never be taken for right.
"""

import csv
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import get_args

import pytest

from music_evals.benchmarks import published
from music_evals.scorers.readers.checking import check
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.votes import read_vote
from music_evals.scorers.readers.written import Kind, read_answer

read_number, read_index, read_order, read_measures = (
    partial(read_answer, kind) for kind in get_args(Kind)
)
HERE = Path(__file__).parent / "data"
REPLIES = Path(__file__).parents[4] / "shared" / "data" / "replies"
SAME = "these are the same"
MUSE = {
    "syncopation": [
        "The rhythm in Excerpt 1 is more syncopated.",
        "The rhythm in Excerpt 2 is more syncopated.",
    ],
    "transposition": [f"Yes, {SAME} melody.", "No, these are not the same melody."],
    "chord_quality": ["Major", "Minor"],
    "oddballs": [f"Yes, {SAME} exact melody.", "No, these are not the same exact melody."],
    "rhythm_matching": [
        f"Yes, {SAME} exact drum set patterns.",
        "No, these are not the same exact drum set patterns.",
    ],
    "contourID": [
        "Arch (ascending and then descending)",
        "Inverted Arch (descending and then ascending)",
        "Ascending (pitch raises over time)",
        "Descending (pitch falls over time)",
    ],
    "instrumentID": ["Piano", "Guitar", "Bass", "Drums"],
    "key_modulation": ["Yes, a key modulation occurs.", "No, the key stays the same."],
    "meter_identification": ["Groups of 3", "Groups of 4", "Groups of 5"],
    "chord_progression_matching": [
        f"Yes, {SAME} chord progression.",
        "No, these are not the same chord progression.",
    ],
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "path", [HERE / "phrasings.csv", REPLIES / "score_answers.csv"], ids=lambda path: path.stem
)
def test_phrasings(path):
    if not path.is_file():
        pytest.skip(f"no copy of the phrasings in {path}")
    found = Counter(
        (row["right"], check(row["answer"], row["reference"], row["answer_type"]).is_right)
        for row in rows(path)
    )
    assert found["0", True] <= (1 if path.parent == HERE else 0)
    assert found["1", False] <= 8
    assert found["1", True] >= 0.98 * (found["1", True] + found["1", None] + found["1", False])


@pytest.mark.skipif(not REPLIES.is_dir(), reason=f"no copy of the replies in {REPLIES}")
def test_replies_of_real_models_to_muse_are_read_as_its_authors_read_them():
    lines = (REPLIES / "muse_replies.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2400
    unread = []
    for reply in map(json.loads, lines):
        options = MUSE[reply["task"]]
        (expected,) = [
            letter
            for letter, option in zip("ABCD", options, strict=False)
            if reply["parsed"].removeprefix(f"{letter}. ") == option
        ]
        read = read_choice(reply["reply"], options)
        assert read.answer in (None, expected), (reply["task"], reply["reply"][-200:])
        unread += [] if read.answer else [reply["reply"]]
    # The authors took the last instrument of a plan that names all four, three times.
    assert len(unread) == 3
    assert all("piano, guitar, bass, and drums" in reply for reply in unread)


@pytest.mark.skipif(not REPLIES.is_dir(), reason=f"no copy of the replies in {REPLIES}")
def test_the_authors_table_comes_out_of_their_replies():
    """The three replies above that are not read name a wrong instrument last, so they make no
    difference.
    """
    columns = {
        "oddballs": "oddball",
        "contourID": "contour",
        "instrumentID": "instrument",
        "rhythm_matching": "rhythm_matching",
        "meter_identification": "meter",
        "key_modulation": "key_modulation",
        "chord_progression_matching": "progression",
        "transposition": "transposition_pairs",
        "chord_quality": "major_or_minor",
        "syncopation": "syncopation_pairs",
    }
    names = {"AF3": "Audio Flamingo 3", "G25Flash": "Gemini 2.5 Flash"}
    strategies = {"SYSINST": "standalone", "COT": "cot"}
    right = Counter()
    for reply in map(
        json.loads, (REPLIES / "muse_replies.jsonl").read_text(encoding="utf-8").splitlines()
    ):
        options = MUSE[reply["task"]]
        answer = read_choice(reply["reply"], options).answer
        key = names[reply["model"]], strategies[reply["mode"]], columns[reply["task"]]
        right[key] += answer is not None and options["ABCD".index(answer)] in reply["expected"]
    printed = {
        (row.labels["model"], row.labels["strategy"], task): round(figure * 60 / 100)
        for row in published("muse_ten", "table1").rows
        if row.labels["model"] in names.values()
        for task, figure in row.figures.items()
    }
    assert len(printed) == 40
    differing = {key: (right[key], count) for key, count in printed.items() if right[key] != count}
    assert differing == {}


def test_choices():
    unread, misread = [], []
    replies = rows(HERE / "choices.csv")
    for row in replies:
        read = read_choice(row["reply"], row["options"].split(" | "))
        if (read.status, read.answer or "") != (row["status"], row["answer"]):
            (misread if read.answer else unread).append(row["reply"])
    assert len(misread) <= 0.005 * len(replies), misread
    assert len(unread) <= 0.06 * len(replies), unread


def test_choices_that_were_written_without_sight_of_the_readers():
    """In ten languages; a label is a letter, R for a refusal, or - for no answer."""
    replies = [
        json.loads(line)
        for line in (HERE / "blind_choices.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    read = [read_choice(row["reply"], row["options"], is_cut=row["cut"]) for row in replies]
    expected = [row["label"] if row["label"] not in "R-" else None for row in replies]
    pairs = list(zip(read, expected, strict=True))
    assert [reading for reading, label in pairs if reading.answer not in (None, label)] == []
    assert sum(reading.answer == label for reading, label in pairs) >= 0.95 * len(replies)


def test_short_answers_that_were_written_without_sight_of_the_readers():
    rows = [
        json.loads(line)
        for line in (HERE / "blind_open.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    found = Counter(
        (row["right"], check(row["reply"], row["answer"], row["answer_type"]).is_right)
        for row in rows
    )
    assert found[0, True] == found[1, False] == 0
    assert found[1, True] >= 0.94 * sum(row["right"] for row in rows)


def test_lilybench_replies_that_were_written_without_sight_of_the_readers():
    """A value is what the reply says, R for a refusal, or - for no answer."""
    readers = {
        "count": read_number,
        "detection": read_measures,
        "sequencing": read_order,
        "qa": read_index,
    }
    rows = [
        json.loads(line)
        for line in (HERE / "blind_lily.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    pairs = []
    for row in rows:
        value = row["value"]
        said = " ".join(map(str, value)) if isinstance(value, list) else value
        read = readers[row["task"].rpartition("_")[2]](row["reply"], reasoned=row["reasoned"])
        pairs.append((read.text, None if said in ("R", "-") else said))
    assert [pair for pair in pairs if pair[0] not in (None, pair[1])] == []
    assert sum(read == said for read, said in pairs) >= 0.93 * len(rows)


def test_votes_that_were_written_without_sight_of_the_readers():
    rows = [
        json.loads(line)
        for line in (HERE / "blind_judge.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["reply"] for row in rows if read_vote(row["reply"]) != row["vote"]] == []


def test_written():
    readers = {
        "number": read_number,
        "index": read_index,
        "order": read_order,
        "measures": read_measures,
    }
    for row in rows(HERE / "written.csv"):
        read = readers[row["kind"]](row["reply"])
        assert (read.status, read.text or "") == (row["status"], row["answer"]), row


def test_refusals_and_what_looks_like_them():
    assert [
        row["reply"] for row in rows(HERE / "refusals.csv") if not is_refusal(row["reply"])
    ] == []
    taken = [row["reply"] for row in rows(HERE / "no_refusals.csv") if is_refusal(row["reply"])]
    assert len(taken) <= 25, taken


def test_votes():
    read = [
        (row["reply"], read_vote(row["reply"]), row["vote"])
        for row in rows(HERE / "judge_replies.csv")
    ]
    assert [reply for reply, vote, expected in read if expected and str(vote) != expected] == []
    assert sum(vote is not None for _, vote, expected in read if not expected) <= 2
