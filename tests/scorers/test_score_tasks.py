"""The metrics of answers on scores: worked by hand, and against scikit-learn and statsmodels on random runs."""

import asyncio
import random
from typing import Any

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState
from sklearn.metrics import accuracy_score, confusion_matrix

from music_evals.scorers.score_tasks import (
    by_category,
    by_kind,
    confusion,
    error_figures,
    index_figures,
    measure_count,
    measure_order,
    number_figures,
    option_index,
    order_figures,
    wrong_measures,
)
from music_evals.scorers.scores import readings

MAKE = {"index": option_index, "number": measure_count, "order": measure_order, "measures": wrong_measures}


def scored(
    form: str,
    reply: str,
    right: str,
    question: str = "q",
    kind: str = "",
    task: str = "t",
    protocol: Any = "strict",
    **more: Any,
) -> SampleScore:
    """What the scorer makes of a reply, as a metric gets it."""
    output = ModelOutput.from_content("mock/model", reply)
    state = TaskState(ModelName("mock/model"), question, 1, "", [], output=output)
    score = asyncio.run(MAKE[form](protocol)(state, Target(right)))  # type: ignore[operator,arg-type]
    assert isinstance(score, Score)
    return SampleScore(
        score=score, sample_id=question, sample_metadata={"kind": kind, "task": task, "piece": question, **more}
    )


def test_an_index_is_right_wrong_or_no_answer() -> None:
    replies = {"a": "2", "b": "1", "c": "I say 2", "d": ""}
    scores = [scored("index", reply, "2", question) for question, reply in replies.items()]
    assert [score.score.value for score in scores] == ["C", "I", "N", "N"]
    assert [score.score.reason for score in scores] == [None, None, "invalid_response_format", "no_response"]
    found = index_figures()(scores)
    assert next(iter(found)) == "accuracy"
    assert (found["accuracy"], found["in_form"], found["questions"]) == (0.25, 0.5, 4)
    assert readings()(scores) == {
        **{"answered": 0.5, "refused": 0, "several": 0},
        **{"unreadable": 0.25, "empty": 0.25, "cut": 0},
    }
    lenient = scored("index", "I say 2", "2", protocol="paper")
    assert lenient.score.value == "C"
    assert index_figures()([lenient])["in_form"] == 0


def test_accuracy_and_confusion_agree_with_scikit_learn() -> None:
    rng = random.Random(1)
    replies = [(rng.choice(["0", "1", "2", "3", "x"]), rng.choice("0123")) for _ in range(150)]
    scores = [
        scored("index", reply, right, f"q{number}", task="emotion_recognition")
        for number, (reply, right) in enumerate(replies)
    ]
    taken, right = [reply for reply, _ in replies], [gold for _, gold in replies]
    assert index_figures()(scores)["accuracy"] == pytest.approx(accuracy_score(right, taken))
    matrix = confusion_matrix(right, taken, labels=[*"0123", "x"])
    counts = confusion()(scores)
    names = [f"{row}_as_{name}" for row in range(4) for name in (*range(4), "unreadable")]
    assert [counts.pop(name) for name in names] == matrix[:4].flatten().tolist()
    assert not counts
    assert confusion()([scored("index", "0", "0")]) == {}


def test_classes_are_confused_by_what_the_options_say() -> None:
    asked = [
        ("0", "1", ["Q3", "Q1", "Q2", "Q4"]),
        ("2", "2", ["Q4", "Q2", "Q1", "Q3"]),
        ("?", "3", ["Q2", "Q3", "Q4", "Q1"]),
    ]
    scores = [
        scored("index", reply, right, f"q{number}", task="emotion_recognition", protocol="paper", options=options)
        for number, (reply, right, options) in enumerate(asked)
    ]
    counts = {name: count for name, count in confusion()(scores).items() if count}
    assert counts == {"0_as_2": 1, "0_as_0": 1, "0_as_unreadable": 1}


def test_fields_have_accuracies_of_their_own() -> None:
    cases = [("0", "0", "a", "key"), ("0", "1", "b", "key"), ("3", "3", "c", "metre")]
    scores = [scored("index", *case) for case in cases]
    found = by_kind()(scores)
    assert (found["key/accuracy"], found["key/questions"], found["metre/accuracy"]) == (0.5, 2, 1)
    assert by_kind()([scored("index", "0", "0")]) == {}


def test_numbers_are_near_or_far() -> None:
    replies = {"a": ("16", "16"), "b": ("33", "32"), "c": ("40", "32"), "d": ("many", "8")}
    found = number_figures()([scored("number", reply, right, q) for q, (reply, right) in replies.items()])
    assert list(found)[:3] == ["exact", "exact_low", "exact_high"]
    assert [found[name] for name in ("exact", "within_1", "within_5", "within_10")] == [0.25, 0.5, 0.5, 0.75]
    assert (found["median_absolute_error"], found["in_form"]) == (1, 0.75)


def test_published_numbers_are_near_among_those_that_can_be_read() -> None:
    replies = {"a": ("16", "16"), "b": ("033", "33"), "c": ("40", "32"), "d": ("many", "8"), "e": ("4", "8")}
    found = number_figures()(
        [scored("number", reply, right, q, protocol="paper") for q, (reply, right) in replies.items()]
    )
    assert [found[name] for name in ("exact", "within_1", "within_5", "within_10")] == [0.2, 0.5, 0.75, 1]
    assert [found[f"within_{most}_of_all"] for most in (1, 5, 10)] == pytest.approx([0.4, 0.6, 0.8])
    assert (found["median_absolute_error"], found["median_absolute_error_midpoint"]) == (4, 2)
    assert found["within_1_low"] < found["within_1_of_all"] < found["within_1"] < found["within_1_high"]
    nothing = number_figures()([scored("number", "many", "8", protocol="paper")])
    assert (nothing["within_1"], nothing["within_1_low"], nothing["within_1_high"]) == (0, 0, 1)


def test_published_orders_correlate_digits_and_ranks_stand_beside() -> None:
    scores = [scored("order", reply, "2031", str(n), protocol="paper") for n, reply in enumerate(["1203", "2 0 3 1"])]
    assert [score.score.value for score in scores] == pytest.approx([1 / 6, 0])
    found = order_figures()(scores)
    assert (found["tau"], found["tau_ranks"]) == pytest.approx((1 / 12, 1 / 4))


def test_published_errors_keep_one_number_and_all_stand_beside() -> None:
    cases = [
        ("3 7", "7", "a", "melodic_leap"),
        ("12 and 4", "4", "b", "melodic_leap"),
        ("?", "4", "c", "invalid_content"),
    ]
    scores = [scored("measures", *case, protocol="paper") for case in cases]
    found = error_figures()(scores)
    assert found["macro_f1"] == 0
    assert found["macro_f1_all_numbers"] == pytest.approx((2 / 3 + 0) / 2)
    assert scored("measures", "I see nothing wrong", "none", protocol="paper").score.value == 1
    assert "macro_f1_all_numbers" not in error_figures()([scored("measures", *case) for case in cases])


def test_orders_earn_their_tau() -> None:
    scores = [scored("order", reply, "2031", str(n)) for n, reply in enumerate(["2031", "1302", "2013", "?"])]
    scores.append(scored("order", "2011", "2031", "paper", protocol="paper"))
    assert [score.score.value for score in scores] == pytest.approx([1, 0, 5 / 6, 0, 0])
    found = order_figures()(scores)
    assert next(iter(found)) == "tau"
    assert found["tau"] == pytest.approx((1 + 5 / 6) / 5)
    assert found["tau_low"] < found["tau"] < found["tau_high"]
    assert (found["exact"], found["in_form"]) == (0.2, 0.6)


def test_errors_are_averaged_by_category_and_clean_scores_stand_apart() -> None:
    cases = [
        ("4", "4", "a", "melodic_leap"), ("4 9", "4", "b", "melodic_leap"), ("none", "4", "c", "invalid_content"),
        ("none", "none", "d", "clean"), ("2", "none", "e", "clean"), ("I think none", "none", "f", "clean"),
    ]  # fmt: skip
    scores = [scored("measures", *case) for case in cases]
    found = error_figures()(scores)
    assert next(iter(found)) == "macro_f1"
    assert found["macro_f1"] == pytest.approx(((1 + 2 / 3) / 2 + 0) / 2)
    assert found["exact"] == pytest.approx(1 / 3)
    assert found["false_alarms"] == pytest.approx(1 / 3)
    assert found["questions"] == 6
    categories = by_category()(scores)
    assert categories["melodic_leap/f1"] == pytest.approx(5 / 6)
    assert (categories["invalid_content/f1"], categories["clean/f1"]) == (0, pytest.approx(1 / 3))
    assert "false_alarms" not in error_figures()(scores[:3])
    assert "macro_f1 note: there is no interval, because all values of a category are of one sample" in found


def test_errors_in_one_piece_do_not_narrow_the_interval() -> None:
    def width(kinds: list[str]) -> float:
        scores = [
            scored("measures", reply, "4", f"{kind}{n}", kind, piece=f"piece {n}")
            for kind in kinds
            for n, reply in enumerate(["4", "none", "4 9", "4", "none", "4"])
        ]
        found = error_figures()(scores)
        return found["macro_f1_high"] - found["macro_f1_low"]

    assert width(["melodic_leap", "invalid_content"]) == pytest.approx(width(["melodic_leap"]))


def test_repeated_runs_of_a_question_do_not_narrow_the_interval() -> None:
    once = [scored("index", str(number % 2), "0", f"q{number}") for number in range(20)]
    often = [score for score in once for _ in range(5)]
    assert index_figures()(often) == index_figures()(once)
    orders = [scored("order", "2031" if number % 2 else "1302", "2031", f"q{number}") for number in range(20)]
    assert order_figures()([score for score in orders for _ in range(5)])["tau_low"] == pytest.approx(
        order_figures()(orders)["tau_low"]
    )


def test_there_are_two_protocols() -> None:
    for make in MAKE.values():
        with pytest.raises(ValueError, match="protocol='lax' is not valid; valid values are: strict, paper"):
            make("lax")  # type: ignore[operator]
