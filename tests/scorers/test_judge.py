"""Judging open questions: scripted judges, votes, abstentions, rescoring, human labels."""

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model

from music_evals.scorers.judge import judged
from tests.harness import run, samples


def question(number, answer, answer_type="text", level=1):
    asked = {
        "id": f"s1-{number}",
        "level": level,
        "kind": "something",
        "question": f"Question {number}?",
    }
    return {**asked, "answer": answer, "answer_type": answer_type}


BATCH = [
    question(1, "G minor", "key"),
    question(2, "Rustic dance"),
    question(3, "4/4 time", "metre", level=2),
]
REPLY = "1. G minor\n2. Rustic\n3. 3/4"


def judge(name, reply):
    return get_model(f"scripted/{name}", reply=reply, memoize=False)


def saying(text):
    return lambda messages, config: text


def found(log, sample=0):
    scores = samples(log)[sample].scores
    assert scores is not None
    return scores["judged"]


def test_a_role_that_is_not_given_is_an_error(tmp_path):
    sample = Sample(input="?", metadata={"questions": BATCH, "score_id": "s1"})
    with pytest.raises(AssertionError, match="'judge' is required"):
        run(
            Task(dataset=[sample], scorer=judged("judge")),
            tmp_path,
            judge("model", saying("1. Yes")),
        )


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"judges": ["a/x", "b/y"]}, "judges names 2 judges"),
        ({"judges": []}, "judges names 0 judges"),
        ({"judges": ["a/x", "a/x", "b/y"]}, "'a/x' twice"),
        ({"judges": "a/x,b/y"}, "judges names 2 judges"),
        ({"judges": ["rules", "a", "b"]}, "stands alone"),
        ({"judges": ""}, "name of a model"),
        ({"human_labels": "no/such/file"}, "cannot be read"),
    ],
)
def test_options_that_cannot_be(options, named):
    with pytest.raises(ValueError, match=named):
        judged(**options)


def test_labels_that_cannot_be(tmp_path):
    path = tmp_path / "labels.csv"
    for text, named in (
        ("id,mark\na,1\n", "column 'label' is missing"),
        ("id,label\na,yes\n", "line 2: label 'yes'"),
        ("id,label\na\n", "line 2: label ''"),
        ("id,label\na,1\na,0\n", "line 3: 'a' has a label already"),
        ("id,label\n", "holds no label"),
        ("", "column 'id' is missing"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=named):
            judged(human_labels=str(path))


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({}, "metadata has no .*questions"),
        ({"questions": [{}], "score_id": "s"}, "a question has no .*id"),
        ({"questions": BATCH}, "metadata has no .*score_id"),
    ],
)
def test_samples_that_hold_no_questions(tmp_path, metadata, named):
    task = Task(dataset=[Sample(input="?", metadata=metadata)], scorer=judged())
    with pytest.raises(AssertionError, match=named):
        run(task, tmp_path, judge("model", saying("1. Yes")))
