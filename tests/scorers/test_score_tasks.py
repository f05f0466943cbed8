"""Scorers of answers on scores and their metrics, worked by hand."""

import anyio
import pytest
from inspect_ai.scorer import SampleScore, Target

from music_evals.scorers.score_tasks import (
    count_estimates,
    exact_and_false_alarms,
    in_form,
    measure_count,
    measure_order,
    option_index,
    wrong_measures,
)
from music_evals.scorers.scores import main_metric, readings
from tests.scorers.every_scorer import Case

MAKE = {
    "index": option_index,
    "number": measure_count,
    "order": measure_order,
    "measures": wrong_measures,
}


def scored(
    form,
    reply,
    right,
    question="q",
    kind="",
    protocol="strict",
    piece="",
    options=(),
    task="",
):
    """The score of a reply, as a metric gets it."""
    metadata = {"kind": kind, "piece": piece or question, "task": task}
    (score,) = Case(lambda: MAKE[form](protocol), right, metadata, tuple(options)).score(reply)  # type: ignore[operator]
    return SampleScore(score=score, sample_id=question, sample_metadata=metadata)


@pytest.mark.parametrize(
    ("form", "reply", "answer"),
    [
        ("measures", "3, 7, 12, 1", None),
        ("measures", "Answer: 3, 7, 1", None),
        ("measures", "Answer: 3 7\nIn measure 3 there", "3 7"),
        ("number", "Answer: 2", None),
        ("number", "Answer: 24\n", "24"),
        ("order", "2031", None),
        ("index", "2", None),
        ("index", "Answer: 2", "2"),
    ],
)
def test_a_reply_that_was_cut_answers_by_a_label_with_all_of_its_value(form, reply, answer):
    right = {"order": "2031", "index": "2"}.get(form, "24")
    case = Case(lambda: MAKE[form]("strict"), right, {"kind": ""}, ("a", "b", "c", "d"))  # type: ignore[operator]
    state = case.state(reply)
    state.output.choices[0].stop_reason = "max_tokens"
    score = anyio.run(MAKE[form]("strict"), state, Target(right))  # type: ignore[operator]
    assert score.answer == answer
    assert score.metadata["limit"] == "max_tokens"
    assert score.metadata["reading"] == ("cut" if answer is None else "answered")
    assert "limit of tokens" in score.explanation


def test_an_index_is_right_wrong_or_no_answer():
    replies = {"a": "2", "b": "1", "c": "I say 2", "d": ""}
    scores = [scored("index", reply, "2", question) for question, reply in replies.items()]
    assert [score.score.value for score in scores] == ["C", "I", "N", "N"]
    assert [score.score.reason for score in scores] == [
        None,
        None,
        "invalid_response_format",
        "no_response",
    ]
    assert (main_metric()(scores)["accuracy"], in_form()(scores)) == (0.25, 0.5)
    assert readings()(scores) == {"answered": 0.5, "refused": 0, "cut": 0}
    lenient = scored("index", "I say 2", "2", protocol="paper")
    assert (lenient.score.value, in_form()([lenient])) == ("C", 0)


def test_published_numbers_are_near_among_those_that_can_be_read():
    answers, rights = ["16", "033", "40", None, "4"], ["16", "33", "32", "8", "8"]
    found = count_estimates(answers, rights, 5, is_paper=True)
    names = ("exact", "within_1", "within_5", "within_10")
    assert [found[name].value for name in names] == [0.2, 0.5, 0.75, 1]
    assert found["median_absolute_error"].value == 4
    nothing = count_estimates([None], ["8"], 1, is_paper=True)["within_1"]
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, 1)


def test_orders_earn_their_tau_and_published_ones_that_of_their_digits():
    scores = [
        scored("order", reply, "2031", str(n))
        for n, reply in enumerate(["2031", "1302", "2013", "?"])
    ]
    scores.append(scored("order", "2011", "2031", "paper", protocol="paper"))
    assert [score.score.value for score in scores] == pytest.approx([1, 0, 5 / 6, 0, 0])
    found = main_metric("tau")(scores)
    assert found["tau"] == pytest.approx((1 + 5 / 6) / 5)
    assert found["tau_low"] < found["tau"] < found["tau_high"]
    assert (exact_and_false_alarms()(scores), in_form()(scores)) == ({"exact": 0.2}, 0.6)
    paper = [
        scored("order", reply, "2031", protocol="paper").score for reply in ("1203", "2 0 3 1")
    ]
    assert [score.value for score in paper] == pytest.approx([1 / 6, 0])
    assert [(score.metadata or {})["sound"] for score in paper] == [0.5, 0]


def test_published_errors_keep_one_number_and_record_all():
    cases = [("3 7", "7"), ("12 and 4", "4"), ("?", "4")]
    scores = [scored("measures", *case, protocol="paper").score for case in cases]
    assert [score.value for score in scores] == [0, 0, 0]
    assert [(score.metadata or {})["sound"] for score in scores] == pytest.approx([2 / 3, 2 / 3, 0])
    assert scored("measures", "I see nothing wrong", "none", protocol="paper").score.value == 1


def test_there_are_two_protocols():
    for make in MAKE.values():
        with pytest.raises(
            ValueError, match="protocol='lax' is not valid; valid values are: strict, paper"
        ):
            make("lax")  # type: ignore[operator]
