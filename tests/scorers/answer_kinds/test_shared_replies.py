"""Replies that others labelled: written for the kinds, from threads, and as eight models write."""

import json
from pathlib import Path

import pytest

from music_evals import rewards
from music_evals.benchmarks import load
from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.scorers.answer_kinds.statements import answer_in_line
from music_evals.scorers.readers.choices import read_choice
from tests.scorers.every_scorer import TYPED as TYPED_REFERENCES

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data" / "replies"
OWN = Path(__file__).parent / "data" / "natural.jsonl"
NOTES = dict(zip("CDEFGAB", (0, 2, 4, 5, 7, 9, 11), strict=True))


def lines_of(path):
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def outcome(case):
    """How a reply is read: right, unread or misread."""
    kind_name, options, expected = case["kind"], case["options"], case["answer"]
    aliases = {}
    if isinstance(options, str) and options:
        file = load("mtg_jamendo").table
        options, aliases = file["labels"][options.split()[-1]]["labels"], file["aliases"]
    if kind_name == "label":
        letter = read_choice(answer_in_line(case["reply"], options), options).answer
        given = None if letter is None else options["ABCDEFGHIJ".index(letter)]
        is_right = given == expected
    else:
        kind = kind_of(kind_name, options, aliases)
        reference = expected if expected is not None else TYPED_REFERENCES.get(kind_name, "60")
        verdict = judge_typed(case["reply"], reference, kind)
        given = verdict.reading.answer
        is_right = given is None if expected is None else verdict.value >= 0.99
    if is_right:
        return "right"
    return "unread" if given is None else "misread"


TYPED_CASES = lines_of(SHARED / "typed.jsonl")
THREADS = lines_of(SHARED / "from_threads.jsonl")


@pytest.mark.parametrize("case", TYPED_CASES, ids=lambda case: case["reply"][:40])
def test_labelled_replies_of_the_kinds(case):
    assert outcome(case) == "right"


@pytest.mark.skipif(not THREADS, reason=f"no {SHARED / 'from_threads.jsonl'}")
def test_labelled_replies_from_threads():
    wrong = []
    for case in THREADS:
        reward = rewards.score(case["task"], case["row"], case["reply"])
        if reward.value != pytest.approx(case["right"], abs=0.01):
            wrong.append(case["why"])
    assert wrong in ([], ["concludes in words, without a letter"])  # options, and no kind


def test_replies_as_eight_models_write():
    outcomes = [outcome(case) for case in lines_of(OWN)]
    assert len(outcomes) >= 290
    assert outcomes.count("misread") == 0
    assert outcomes.count("unread") <= 4
