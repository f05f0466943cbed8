"""Items of scores, and the headline that they make."""

import pytest
from inspect_ai.scorer import SampleScore, Score

from music_evals.scorers.items import all_items, headline, items_of
from music_evals.scorers.metrics.estimates import share
from music_evals.scorers.scores import answer_collapse, main_metric, readings


def one(value, name="a", **metadata):
    return Score(value=value, metadata={"reading": "answered", **metadata})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (0.25, 0.25), (True, 1.0)),
        *((float("nan"), None), ("hello", None), ([1, 2], None), ({"a": 1}, None)),
    ],
)
def test_values_of_all_forms_are_read_and_what_is_no_score_is_no_zero(value, expected):
    (item,) = items_of(one(value), "s", {})
    assert (item.id, item.value, item.counts, item.cluster) == ("s", expected, True, "s")


def test_clusters_are_what_samples_belong_to():
    metadata = {"piece": "p", "question": "q"}
    assert [
        items_of(one("C"), "s", about)[0].cluster for about in (metadata, {"piece": "p"}, {})
    ] == ["q", "p", "s"]


def test_questions_that_were_asked_together_are_items_of_one_score():
    questions = [{"id": "1", "verdict": 1}, {"id": "2", "verdict": None}, {"id": "3", "verdict": 0}]
    items = items_of(
        Score(value=0.5, metadata={"score_id": "op. 1", "questions": questions}), "sample", {}
    )
    assert [(item.id, item.value, item.counts, item.cluster) for item in items] == [
        ("1", 1, True, "op. 1"),
        ("2", None, False, "op. 1"),
        ("3", 0, True, "op. 1"),
    ]
    assert headline(items) is not None
    assert headline(items[1:2]) is None


def test_questions_of_a_chat_share_its_cluster():
    score = Score(
        value=1.0, metadata={"questions": [{"id": "1", "verdict": 1, "cluster": "chat 2"}]}
    )
    assert [item.cluster for item in items_of(score, "chat", {"chat": []})] == ["chat 2"]


def test_what_does_not_count_is_left_out_and_strata_count_alike():
    scores = [
        SampleScore(score=one(value, stratum=kind, counts=kind != "clean"), sample_id=str(number))
        for number, (value, kind) in enumerate(
            [(1, "x"), (0, "y"), (0, "y"), (0, "y"), (1, "clean")]
        )
    ]
    assert main_metric("macro_f1")(scores)["macro_f1"] == 0.5
    assert main_metric("macro_f1")(scores)["questions"] == 4
    assert len(all_items(scores)) == 5
    assert main_metric()([]) == {"questions": 0}


def test_metrics_of_a_log_are_the_headline_and_how_replies_were_read():
    scores = [
        SampleScore(score=one(letter, reading=kind), sample_id=letter)
        for letter, kind in READ.items()
    ]
    wilson = share(0.5, 2)
    found = {
        "accuracy": 0.5,
        "accuracy_low": wilson.low,
        "accuracy_high": wilson.high,
        "questions": 2,
    }
    assert main_metric()(scores) == found
    assert readings()(scores) == {"answered": 0.5, "refused": 0.5, "cut": 0}


def test_a_reply_at_the_limit_counts_as_cut_whatever_was_read_of_it():
    limits = ["max_tokens", "max_tokens", "model_length", None]
    scores = [
        SampleScore(score=one("C", reading="answered", limit=limit), sample_id=str(number))
        for number, limit in enumerate(limits)
    ]
    assert readings()(scores) == {"answered": 1, "refused": 0, "cut": 0.5, "too_long": 0.25}


def test_an_item_has_answer_and_key_as_the_options_were_shown():
    score = Score(value="I", answer="A", metadata={"key": "C"})
    # The third option was shown first.
    (item,) = items_of(score, "q", {"option_order": [2, 0, 1]})
    assert (item.answer, item.key) == ("B", "A")
    text = Score(value=0.0, answer="F  Sharp.", metadata={"right_answer": "f sharp"})
    (item,) = items_of(text, "q", {})
    assert item.answer == item.key == "f sharp"
    asked = {"id": "q1", "verdict": 1, "prediction": "Piano", "key": "piano."}
    (item,) = items_of(Score(value=1.0, metadata={"questions": [asked]}), "s", {})
    assert (item.answer, item.key) == ("piano", "piano")


def test_metrics_say_that_all_answers_are_one():
    # Of 40 questions 10 have each key; all answers are C.
    scores = [
        SampleScore(
            score=Score(value="CI"[key != "C"], answer="C", metadata={"key": key}), sample_id=str(n)
        )
        for n, key in enumerate("ABCD" * 10)
    ]
    assert answer_collapse()(scores) == {
        "commonest_answer": 1,
        "commonest_key": 0.25,
        "permutation_p": 1,
        "position_bias": 0.75,
    }
    # The score of an order is no share of answers that equal the key.
    part = Score(value=0.5, answer="0123", metadata={"right_answer": "0132"})
    assert "permutation_p" not in answer_collapse()([SampleScore(score=part, sample_id="q")])
    for score, kind in zip(scores, "ab" * 20, strict=True):
        score.score.metadata = {**(score.score.metadata or {}), "kind": kind}
    again = answer_collapse()([*scores])
    assert (again["commonest_answer"], "permutation_p" in again) == (1, False)


READ = {"C": "answered", "I": "refused"}
