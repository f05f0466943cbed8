"""Lettered choices: what the scorer takes for an answer, and its metrics against scikit-learn on
random runs.
"""

import random

import pytest
from inspect_ai.scorer import SampleScore, Score
from sklearn.metrics import precision_recall_fscore_support

from music_evals.scorers.lettered_choice import lettered_choice, precision_and_f1
from tests.scorers.every_scorer import Case


def test_precision_and_f1_agree_with_scikit_learn():
    rng = random.Random(1)
    for _ in range(8):
        keys = [rng.choice("ABCD") for _ in range(rng.randint(20, 80))]
        answers = [rng.choice(["A", "B", "C", "D", None, key]) for key in keys]
        scores = [
            SampleScore(
                score=Score(
                    value="N" if answer is None else "C" if answer == key else "I", answer=answer
                ),
                sample_id=str(number),
                sample_metadata={"question": str(number)},
            )
            for number, (answer, key) in enumerate(zip(answers, keys, strict=True))
        ]
        told = [answer or "-" for answer in answers]
        precision, _, f1, _ = precision_recall_fscore_support(
            keys, told, labels=list("ABCD"), average="micro", zero_division=0
        )
        assert precision_and_f1()(scores) == pytest.approx({"precision": precision, "f1": f1})


KEYS = ["A大调", "B大调", "B小调", "D大调"]
TWICE = ["王洛宾", "丁善德", "王洛宾", "桑桐"]  # the right text has two letters


@pytest.mark.parametrize(
    ("options", "protocol", "reply", "value", "answer"),
    [
        (TWICE, "strict", "[[答案：C]]", "C", "C"),
        (TWICE, "strict", "[[答案：A]]", "C", "A"),
        (TWICE, "strict", "A. 王洛宾", "C", "A"),
        (TWICE, "strict", "王洛宾", "C", "C"),
        (TWICE, "strict", "[[答案：B]]", "I", "B"),
        (TWICE, "strict", "丁善德", "I", "B"),
        (TWICE, "paper", "[[答案：A]]", "I", "A"),
        (KEYS, "paper", "B小调", "I", "B"),
        (KEYS, "strict", "B小调", "C", "C"),
        (KEYS, "strict", "A good question", "N", None),
        (KEYS, "paper", "A good question", "I", "A"),
        (KEYS, "paper", "无法确定", "N", None),
    ],
)
def test_the_scorer(options, protocol, reply, value, answer):
    (score,) = Case(lambda: lettered_choice(protocol), "C", choices=tuple(options)).score(reply)
    assert (score.value, score.answer, (score.metadata or {})["key"]) == (value, answer, "C")
    with pytest.raises(ValueError, match="valid values are: paper, strict"):
        lettered_choice("lax")  # type: ignore[arg-type]
