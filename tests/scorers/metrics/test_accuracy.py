"""Level-wise success and agreement of judges, worked by hand and against statsmodels."""

import pytest
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.accuracy import level_success, unanimity


def test_level_success() -> None:
    right, wrong = {1: [True] * 3, 2: [True] * 3}, {1: [True] * 3, 2: [True, False, None]}
    found = level_success({**{f"r{i}": right for i in range(45)}, **{f"w{i}": wrong for i in range(105)}})
    assert (found[1]["success"], found[2]["success"], found[2]["judged_scores"]) == (1, 0.3, 150)
    ends = found[2]["success_low"], found[2]["success_high"]
    assert ends == pytest.approx(proportion_confint(45, 150, method="wilson"))


def test_scores_that_nobody_can_judge_at_a_level() -> None:
    found = level_success({"a": {1: [None], 2: [False]}, "b": {1: [True], 2: []}, "c": {1: [True]}})
    shown = ("success", "judged_scores", "unjudged_scores")
    assert [[found[level][name] for name in shown] for level in (1, 2)] == [[1, 2, 1], [0, 1, 2]]
    assert level_success({}) == level_success({"a": {1: [None]}}) == {}
    once, twice = level_success({1: {1: [True]}}), level_success({1: {1: [True]}, 2: {1: [True]}}, repetitions=2)
    assert once[1]["success_low"] == twice[1]["success_low"]
    with pytest.raises(ValueError, match="repetitions is 0"):
        level_success({}, repetitions=0)


def test_agreement_with_abstentions() -> None:
    assert unanimity([[1, 1, None], [1, 0, None], [None, None, 1], [None] * 3]) == [1, 0]
