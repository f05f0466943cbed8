"""Level-wise success and agreement of judges, worked by hand and against statsmodels."""

import pytest
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.accuracy import level_success, unanimity


def test_level_success() -> None:
    right, wrong = {1: [True] * 3, 2: [True] * 3}, {1: [True] * 3, 2: [True, False, None]}
    found = level_success({**{f"r{i}": right for i in range(45)}, **{f"w{i}": wrong for i in range(105)}})
    assert [(rate.value, rate.n) for rate, _ in found.values()] == [(1, 150), (0.3, 150)]
    assert (found[2][0].low, found[2][0].high) == pytest.approx(proportion_confint(45, 150, method="wilson"))


def test_scores_that_nobody_can_judge_at_a_level() -> None:
    found = level_success({"a": {1: [None], 2: [False]}, "b": {1: [True], 2: []}, "c": {1: [True]}})
    assert [(rate.value, rate.n, unjudged) for rate, unjudged in found.values()] == [(1, 2, 1), (0, 1, 2)]
    assert level_success({}) == level_success({"a": {1: [None]}}) == {}
    once, twice = level_success({1: {1: [True]}}), level_success({1: {1: [True]}, 2: {1: [True]}}, repetitions=2)
    assert once[1][0].low == twice[1][0].low
    with pytest.raises(ValueError, match="repetitions is 0"):
        level_success({}, repetitions=0)


def test_agreement_with_abstentions() -> None:
    assert unanimity([[1, 1, None], [1, 0, None], [None, None, 1], [None] * 3]) == [1, 0]
