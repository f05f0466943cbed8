"""Kinds of answers: replies with known readings and scores, and the metrics against other programs."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.scorers.metrics.estimates import estimate
from music_evals.scorers.typed_answer import macro_f1
from tests.scorers.every_scorer import TYPED

VOCABULARY = ("jazz", "rock", "hip hop", "electronic", "up", "down")
KINDS = [name for name in TYPED if name != "label"]


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


def test_micro_and_macro_f1_are_those_of_scikit_learn():
    random, names = Random(1), [f"tag {number}" for number in range(12)]
    kind = kind_of("labels", names)
    sides = [
        ["; ".join(random.sample(names, random.randint(1, 5))) for _ in range(60)] for _ in "ab"
    ]
    answers, rights = sides
    tables = [
        np.array([[name in text.split("; ") for name in names] for text in side]) for side in sides
    ]
    values = [kind.score(*pair) for pair in zip(answers, rights, strict=True)]
    weights = [kind.weight(*pair) for pair in zip(answers, rights, strict=True)]
    score = estimate(values, [*range(60)], weights=weights)
    assert score is not None
    assert score.value == pytest.approx(f1_score(tables[1], tables[0], average="micro"))
    macro = macro_f1(answers, rights, [*map(str, range(60))])
    assert macro.value == pytest.approx(f1_score(tables[1], tables[0], average="macro"))
    for figure in (score, macro):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high


def test_tags_outside_the_vocabulary_lower_precision():
    kind = kind_of("labels", VOCABULARY)
    assert judge_typed("jazz, polka", "jazz", kind).value < judge_typed("jazz", "jazz", kind).value
    everything = ", ".join(VOCABULARY)
    assert judge_typed(everything, "jazz", kind).value == pytest.approx(2 / 7)


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


@pytest.mark.parametrize(
    ("kind", "reply", "answer"),
    [
        ("number", "There are six notes in bar 3.", None),
        ("number", "System 1: 5 bars\nSystem 2: 4 bars\n\nTotal: 5 + 4 = **9**", "9"),
        ("number", "Two bars have 7 notes, bar 3 has one more.\n\n### Final Answer\n8", "8"),
        ("number", "Huit fois, puis deux fois dans le break.\n\nRéponse finale : 10", "10"),
        ("key", '**Final Answer:** [key name, e.g. "C major"]', None),
        ("text", "La línea es la siguiente:\n\nRespuesta final: Cielito lindo", "Cielito lindo"),
        ("pitch:hz", "Final Answer: 437 Hz", "437"),
    ],
)
def test_labels_in_other_languages_and_numbers_that_are_no_answer(kind, reply, answer):
    reading = judge_typed(reply, REFERENCES.get(kind, "60"), kind_of(kind)).reading
    assert reading.answer == answer
