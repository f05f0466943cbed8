"""Lettered choices: what the scorer takes for an answer, and its metrics against scikit-learn on random runs."""

import asyncio
import random
from typing import Any

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState
from sklearn.metrics import precision_recall_fscore_support

from music_evals.scorers.lettered_choice import lettered_choice, precision_and_f1


def test_precision_and_f1_agree_with_scikit_learn() -> None:
    rng = random.Random(1)
    for _ in range(8):
        keys = [rng.choice("ABCD") for _ in range(rng.randint(20, 80))]
        answers = [rng.choice(["A", "B", "C", "D", None, key]) for key in keys]
        scores = [
            SampleScore(
                score=Score(value="N" if answer is None else "C" if answer == key else "I", answer=answer),
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


@pytest.mark.parametrize(
    ("protocol", "reply", "value", "answer"),
    [
        ("strict", "[[答案：C]]", "C", "C"),
        ("strict", "[[答案：A]]", "C", "A"),
        ("strict", "A. 王洛宾", "C", "A"),
        ("strict", "王洛宾", "C", "C"),
        ("strict", "[[答案：B]]", "I", "B"),
        ("strict", "丁善德", "I", "B"),
        ("paper", "[[答案：A]]", "I", "A"),
    ],
)
def test_a_right_text_under_two_letters(protocol: Any, reply: str, value: str, answer: str | None) -> None:
    state = TaskState(ModelName("baseline/chance"), "q", 1, "?", [], choices=["王洛宾", "丁善德", "王洛宾", "桑桐"])
    state.output = ModelOutput.from_content("baseline/chance", reply)
    score = asyncio.run(lettered_choice(protocol)(state, Target("C")))  # type: ignore[arg-type]
    assert score is not None
    assert (score.value, score.answer, (score.metadata or {})["key"]) == (value, answer, "C")


@pytest.mark.parametrize(
    ("protocol", "reply", "value", "answer"),
    [
        ("paper", "B小调", "I", "B"),
        ("strict", "B小调", "C", "C"),
        ("strict", "A good question", "N", None),
        ("paper", "A good question", "I", "A"),
        ("paper", "无法确定", "N", None),
    ],
)
def test_the_scorer(protocol: Any, reply: str, value: str, answer: str | None) -> None:
    state = TaskState(ModelName("baseline/chance"), "q", 1, "?", [], choices=["A大调", "B大调", "B小调", "D大调"])
    state.output = ModelOutput.from_content("chance", reply)
    score = asyncio.run(lettered_choice(protocol)(state, Target("C")))
    assert score is not None
    assert (score.value, score.answer, (score.metadata or {})["key"]) == (value, answer, "C")
    with pytest.raises(ValueError, match="valid values are: paper, strict"):
        lettered_choice("lax")  # type: ignore[arg-type]
