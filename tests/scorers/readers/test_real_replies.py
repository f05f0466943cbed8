"""Replies of three small models to generated questions, labelled by eye before a reader saw them.

`half` says which the readers were mended by (1); the replies of half 2 were only read. Those of
half 3, of SmolLM2 alone, were read once before the readers were mended by them, too: of 273, three
as an answer that they do not give, and three not at all.
"""

import json
from collections import Counter
from pathlib import Path

from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.verdicts import judge_written

REPLIES = Path(__file__).parent / "data" / "real_replies.jsonl"


def answer_of(row):
    """What is read of a reply, in the form of its label."""
    if row["kind"] == "option":
        return read_choice(row["reply"], row["options"], is_cut=row["cut"]).answer
    right = {"order": "0123", "number": "12"}.get(row["kind"], "0")
    verdict = judge_written(
        row["kind"], row["reply"], right, options=row["options"], is_cut=row["cut"]
    )
    return verdict.reading.answer


def test_real_replies_are_read_as_they_are_meant():
    rows = [json.loads(line) for line in REPLIES.read_text(encoding="utf-8").splitlines()]
    answers = list(map(answer_of, rows))
    misread = [
        (row["reply"], row["label"], answer)
        for row, answer in zip(rows, answers, strict=True)
        if answer not in (None, row["label"])
    ]
    assert len(misread) <= 0.005 * len(rows), misread
    # A reply that was cut answers only by a label.
    whole = [(row, answer) for row, answer in zip(rows, answers, strict=True) if not row["cut"]]
    assert [(row["reply"], row["label"]) for row, answer in whole if answer != row["label"]] == []
    assert Counter(row["half"] for row in rows)[2] >= 100
