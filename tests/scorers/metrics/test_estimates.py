"""Estimates worked by hand and against statsmodels, and combinations of them."""

import pytest
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.clustered import mean_interval
from music_evals.scorers.metrics.estimates import (
    Estimate,
    average,
    difference,
    estimate,
    flatten,
    share,
)


def test_independent_right_and_wrong_answers_have_wilsons_interval():
    found = estimate([1, 1, 1, 0])
    assert found == share(0.75, 4)
    assert found is not None
    assert (found.value, found.n) == (0.75, 4)
    assert (found.low, found.high) == pytest.approx(proportion_confint(3, 4, method="wilson"))
    assert estimate([]) is None


def test_an_item_counts_once_whatever_its_number_of_runs():
    found = estimate([1, 0, 1, 1, 1], items="aabbb")
    assert found is not None
    assert (found.value, found.n) == (0.75, 2)
    assert estimate([1, 0, 1] * 5, items="abc" * 5) == estimate([1, 0, 1], items="abc")


def test_clusters_and_strata_are_those_of_the_items():
    values, clusters, strata = [1, 1, 0, 0, 1, 0], "aabbcc", "xyxyxy"
    found = estimate(values, clusters=clusters)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(mean_interval(values, clusters))
    uneven = estimate([1, 0, 0, 0], strata="xyyy")
    assert uneven is not None
    assert uneven.value == 0.5  # and not 0.25
    both = estimate(values, clusters=clusters, strata=strata)
    assert both is not None
    assert (both.low, both.high) == pytest.approx(mean_interval(values, clusters, strata))
    single = estimate([1, 0, 1], clusters="aaa")
    assert single == Estimate(pytest.approx(2 / 3), n=3)


def test_flattened_estimates_are_as_a_log_has_them():
    names = {"tau": Estimate(0.5, 0.4, 0.6, 10), "median": Estimate(2.0), "gone": None}
    assert flatten(names) == {"tau": 0.5, "tau_low": 0.4, "tau_high": 0.6, "median": 2.0}


def test_averages_combine_as_independent_errors_do():
    one = Estimate(0.5, 0.4, 0.6, 10)
    four = average([one] * 4)  # half as wide
    assert (four.value, four.low, four.high, four.n) == pytest.approx((0.5, 0.45, 0.55, 40))
    weighted = average([one, Estimate(0.9, 0.0, 1.0, 5)], [1, 0])
    assert (weighted.low, weighted.high) == pytest.approx((0.4, 0.6))
    assert average([one, Estimate(0.9)]).low is None


def test_a_difference_is_newcombes():
    # His example (a): 56 of 70 and 48 of 80, method 10: 0.0524 to 0.3339.
    found = difference(share(56 / 70, 70), share(48 / 80, 80))
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert difference(share(0.5, 10), Estimate(0.25)).low is None


def test_responses_in_one_chat_have_no_interval_and_in_several_one_by_chat():
    alone = estimate([1, 0, 1], ["a", "b", "c"], ["chat 1"] * 3)
    assert alone is not None
    assert (alone.low, alone.n) == (None, 3)
    several = estimate([1, 0, 1, 0], ["a", "b", "a", "b"], ["chat 1", "chat 1", "chat 2", "chat 2"])
    assert several is not None
    assert (several.value, several.n) == (0.5, 2)
    assert several.low is not None
