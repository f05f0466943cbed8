"""The metrics of lettered choices, against pandas and scikit-learn on random runs."""

import asyncio
import random
from typing import Any

import pandas as pd
import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState
from sklearn.metrics import precision_recall_fscore_support

from music_evals.scorers.lettered_choice import (
    bias_figures,
    by_rotation,
    by_subtheme,
    by_theme,
    choice_figures,
    letter_figures,
    lettered_choice,
)
from music_evals.scorers.scores import readings

THEMES = {
    "female music": ["women composers", "women singers"],
    "world ethnic music": ["European music", "Black African music", "East Asian music"],
    "popular music": ["blues", "jazz"],
}


def scored(
    answer: str | None, key: str, question: str = "q", theme: str = "popular music", **metadata: Any
) -> SampleScore:
    value = "N" if answer is None else "C" if answer == key else "I"
    return SampleScore(
        score=Score(
            value=value,
            answer=answer,
            metadata={"key": key, "reading": "unreadable" if answer is None else "answered"},
        ),
        sample_id=question,
        sample_metadata={"question": question, "theme": theme, "subtheme": "blues", "rotation": 0, **metadata},
    )


def random_run(rng: random.Random) -> list[SampleScore]:
    scores = []
    for number in range(rng.randint(20, 80)):
        theme, key = rng.choice(list(THEMES)), rng.choice("ABCD")
        answer = rng.choice(["A", "B", "C", "D", None, key])
        scores.append(scored(answer, key, f"q{number}", theme, subtheme=rng.choice(THEMES[theme])))
    return scores


def frame(scores: list[SampleScore]) -> pd.DataFrame:
    return pd.DataFrame(
        {**(score.sample_metadata or {}), **(score.score.metadata or {}), "answer": score.score.answer or "-"}
        for score in scores
    )


def sklearns(part: pd.DataFrame) -> dict[str, float]:
    precision, recall, f1, _ = precision_recall_fscore_support(
        part["key"], part["answer"], labels=list("ABCD"), average="micro", zero_division=0
    )
    answered = (part["answer"] != "-").mean()
    return {"questions": len(part), "accuracy": recall, "precision": precision, "f1": f1, "answered": answered}


def test_overall_and_grouped_figures_agree_with_scikit_learn_over_pandas_groups() -> None:
    rng = random.Random(1)
    for _ in range(8):
        scores = random_run(rng)
        whole = frame(scores)
        figures = {**choice_figures()(scores), "answered": readings()(scores)["answered"]}
        assert {name: figures[name] for name in sklearns(whole)} == pytest.approx(sklearns(whole))
        for compute, columns in ((by_theme, ["theme"]), (by_subtheme, ["theme", "subtheme"])):
            found = compute()(scores)
            groups = {"/".join(group): sklearns(part) for group, part in whole.groupby(columns)}
            expected = {f"{group}/{name}": value for group, some in groups.items() for name, value in some.items()}
            assert {name: found[name] for name in expected} == pytest.approx(expected)
            assert {name.rpartition("/")[0] for name in found} == set(groups)


def test_bias_figures_are_the_papers_groups() -> None:
    rng = random.Random(2)
    for _ in range(8):
        scores = random_run(rng)
        whole = frame(scores)
        world = whole[whole["theme"] == "world ethnic music"]
        parts = {
            "female_music_f1": whole[whole["theme"] == "female music"],
            "black_african_music_f1": world[world["subtheme"] == "Black African music"],
            "european_music_f1": world[world["subtheme"] == "European music"],
        }
        expected = {name: sklearns(part)["f1"] for name, part in parts.items() if len(part)}
        others = [sklearns(part)["f1"] for name, part in world.groupby("subtheme") if name != "European music"]
        if others:
            expected["other_regions_f1"] = sum(others) / len(others)
        assert bias_figures()(scores) == pytest.approx(expected)


def test_letters_of_a_model_that_says_a() -> None:
    figures = letter_figures()([scored("A", key) for key in "AABCD"])
    assert [figures[f"chosen_{letter}"] for letter in "ABCD"] == [1, 0, 0, 0]
    assert [figures[f"key_{letter}"] for letter in "ABCD"] == [0.4, 0.2, 0.2, 0.2]
    # By hand: against the mixture (0.625, 0.125, 0.125, 0.125) of (1, 0, 0, 0) and the uniform distribution,
    # half of log2(1 / 0.625) = 0.678 and half of 0.25 * log2(0.25 / 0.625) + 0.75 * log2(2) = 0.4195.
    assert figures["divergence_from_uniform"] == pytest.approx(0.5488, abs=1e-4)
    assert letter_figures()([scored(None, "A")]) == letter_figures()([]) == {}


def test_consistency_over_rotations() -> None:
    scores = [
        *(scored(key, key, "sure", rotation=number) for number, key in enumerate("ABCD")),
        *(scored("A", key, "always A", rotation=number) for number, key in enumerate("ABCD")),
        *(scored(None, key, "silent", rotation=number) for number, key in enumerate("ABCD")),
    ]
    figures = by_rotation()(scores)
    assert figures["consistent"] == pytest.approx(1 / 3)
    assert figures["rotation_0/accuracy"] == pytest.approx(2 / 3)
    assert figures["rotation_3/accuracy"] == pytest.approx(1 / 3)
    overall = choice_figures()(scores)
    assert (overall["questions"], overall["accuracy"]) == (3, pytest.approx(5 / 12))
    assert by_rotation()(scores[:1]) == {}


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
