"""Level-wise success and agreement of judges: worked by hand, by the paper, and against statsmodels
and NumPy.
"""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.accuracy import joint_agreement, level_success, unanimity


def test_level_success():
    right, wrong = {1: [True] * 3, 2: [True] * 3}, {1: [True] * 3, 2: [True, False, True]}
    found = level_success(
        {**{f"r{i}": right for i in range(45)}, **{f"w{i}": wrong for i in range(105)}}
    )
    assert [(rate.value, rate.n) for rate in found.values()] == [(1, 150), (0.3, 150)]
    assert (found[2].low, found[2].high) == pytest.approx(
        proportion_confint(45, 150, method="wilson")
    )


def test_scores_that_nobody_can_judge_at_a_level():
    found = level_success({"a": {1: [None], 2: [False]}, "b": {1: [True], 2: []}, "c": {1: [True]}})
    assert [(rate.value, rate.n) for rate in found.values()] == [(1, 2)]
    assert level_success({}) == level_success({"a": {1: [None]}}) == {}
    once, twice = (
        level_success({1: {1: [True]}}),
        level_success({1: {1: [True]}, 2: {1: [True]}}, repetitions=2),
    )
    assert once[1].low == twice[1].low


def test_a_score_that_cannot_be_decided_is_no_failure():
    """A model right on 80% of three questions a level masters 0.8³, 0.8⁶ … of the scores."""
    rng = np.random.default_rng(0)
    scores = {}
    for number in range(20_000):
        answers = [bool(right) for right in rng.random(12) < 0.8]
        scores[number] = {level: [*answers[3 * level - 3 : 3 * level]] for level in (1, 2, 3, 4)}
        if number % 2:
            scores[number][int(rng.integers(1, 5))].append(None)
    found = level_success(scores)
    assert [found[level].value for level in (1, 2, 3, 4)] == pytest.approx(
        [0.8**3, 0.8**6, 0.8**9, 0.8**12], abs=0.015
    )


def test_agreement_with_abstentions():
    assert unanimity([[1, 1, None], [1, 0, None], [None, None, 1], [None] * 3]) == [1, 0]


def judged(*outcomes):
    """A question with the votes of three judges and the label of a person."""
    return {"votes": dict(zip("abc", outcomes, strict=False)), "human": outcomes[-1]}


def test_judges_and_a_person_agree_as_in_the_paper():
    """300 of 360 is the paper's share, 83.33%, and has its interval, 79.44 to 87.22, up to what the
    draws move it.
    """
    assert [
        round(100 * end / 360, 2) for end in stats.binom.ppf((0.025, 0.975), 360, 300 / 360)
    ] == [79.44, 87.22]
    questions = [judged(1, 1, 1, 1)] * 180 + [judged(0, 0, 0, 0)] * 120 + [judged(1, 1, 1, 0)] * 60
    found = joint_agreement(questions, range(360))
    assert found is not None
    assert (round(100 * found.value, 2), found.n) == (83.33, 360)
    one_question = 100 / 360 + 0.01
    assert [100 * (found.low or 0), 100 * (found.high or 0)] == pytest.approx(
        [79.44, 87.22], abs=one_question
    )


def test_the_interval_of_the_agreement_draws_whole_scores():
    """Against a bootstrap by multinomial weights."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(30), 12)
    agree = rng.random(360) < rng.beta(4, 1, 30)[clusters]
    questions = [judged(1, 1, 1, 1) if one else judged(1, 0, 1, 1) for one in agree]
    found = joint_agreement(questions, clusters.tolist())
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=20_000)
    low, high = np.quantile(
        weights @ np.bincount(clusters, agree) / (weights @ np.full(30, 12)), (0.025, 0.975)
    )
    assert found is not None
    assert found.value == pytest.approx(agree.mean())
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.006)
    apart = joint_agreement(questions, range(360))
    assert apart is not None
    assert (apart.high or 0) - (apart.low or 0) < 0.8 * (high - low)


def test_only_questions_that_all_decide_count():
    undecided = [judged(1, None, 1, 1), judged(1, 1, 1, None), {"votes": {}, "human": 1}]
    assert joint_agreement(undecided, "abc") is None
    found = joint_agreement([*undecided, judged(1, 1, 1, 1), judged(0, 1, 1, 1)], "abcdd")
    assert found is not None
    assert (found.value, found.low, found.n) == (0.5, None, 2)
