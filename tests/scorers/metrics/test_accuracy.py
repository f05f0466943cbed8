"""The figures of judged questions, against the paper's numbers, SciPy and statsmodels."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.accuracy import (
    EXACT_BELOW,
    bootstrap_interval,
    inter_judge_agreement,
    level_success,
    mcnemar,
    pearson,
)
from music_evals.scorers.metrics.proportion import wilson_interval

TABLE_3 = [
    (42.61, 40.34, 44.91), (43.72, 41.45, 46.02), (47.28, 44.98, 49.59), (49.44, 47.14, 51.75),
    (20.61, 18.81, 22.54), (22.33, 20.47, 24.32), (23.39, 21.49, 25.40), (24.22, 22.30, 26.25),
]  # fmt: skip


def outcomes(right: int, n: int) -> list[float]:
    return [1.0] * right + [0.0] * (n - right)


@pytest.mark.parametrize(("accuracy", "low", "high"), TABLE_3)
def test_the_intervals_of_table_3(accuracy: float, low: float, high: float) -> None:
    right = round(accuracy * 18)
    found = bootstrap_interval(outcomes(right, 1800))
    assert [100 * end for end in found] == pytest.approx([low, high], abs=0.1)
    # To the last digit, the printed intervals are Wilson's.
    assert [100 * end for end in wilson_interval(right / 1800, 1800)] == pytest.approx([low, high], abs=0.006)


def test_the_agreement_of_the_paper_is_that_of_360_items() -> None:
    fitting = []
    for n in range(6, 1801, 6):
        low, high = bootstrap_interval(outcomes(n * 5 // 6, n))
        if (round(100 * low, 2), round(100 * high, 2)) == (79.44, 87.22):
            fitting.append(n)
    assert fitting == [360]
    found = inter_judge_agreement([[1, 1, 1, 1]] * 200 + [[0, 0, 0, 0]] * 100 + [[1, 0, 1, 1]] * 60)
    assert found is not None
    assert [round(100 * value, 2) for value in found[:3]] == [83.33, 79.44, 87.22]


def test_the_bootstrap_agrees_with_scipys() -> None:
    values = np.random.default_rng(1).random(200)
    expected = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=2).confidence_interval
    assert bootstrap_interval(list(values)) == pytest.approx(tuple(expected), abs=0.003)


def test_clusters() -> None:
    values = outcomes(30, 60)
    plain = bootstrap_interval(values)
    assert bootstrap_interval(values, clusters=range(60)) == pytest.approx(plain, abs=0.02)
    # Twins say nothing new: the interval is that of 30 items.
    assert bootstrap_interval(values, clusters=[i // 2 for i in range(60)]) == pytest.approx(
        bootstrap_interval(outcomes(15, 30)), abs=0.02
    )
    assert bootstrap_interval([1, 0, 1], clusters=["a", "a", "a"]) == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (1, 2), (3, 40), (40, 40), (30, 60)])
def test_the_interval_lies_within_0_and_1_around_the_mean(right: int, n: int) -> None:
    low, high = bootstrap_interval(outcomes(right, n), resamples=500)
    assert 0 <= low <= right / n <= high <= 1
    assert (low, high) == bootstrap_interval(outcomes(right, n), resamples=500)


@pytest.mark.parametrize(
    ("values", "options", "named"),
    [
        ([], {}, "correct is empty"),
        ([2], {}, "outside 0 to 1"),
        ([float("nan")], {}, "outside 0 to 1"),
        ([1], {"clusters": []}, "clusters names 0"),
        ([1], {"resamples": 0}, "resamples is 0"),
    ],
)
def test_what_has_no_interval(values: list[float], options: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        bootstrap_interval(values, **options)  # type: ignore[arg-type]


def test_level_success() -> None:
    right, wrong = {1: [True] * 3, 2: [True] * 3}, {1: [True] * 3, 2: [True, False, None]}
    found = level_success({**{f"r{i}": right for i in range(45)}, **{f"w{i}": wrong for i in range(105)}})
    assert (found[1].rate, found[2].rate, found[2].judged) == (1, 0.3, 150)
    assert found[2][1:3] == pytest.approx(proportion_confint(45, 150, method="wilson"))


def test_scores_that_nobody_can_judge_at_a_level() -> None:
    found = level_success({"a": {1: [None], 2: [False]}, "b": {1: [True], 2: []}, "c": {1: [True]}})
    assert (found[1].rate, found[1].judged, found[1].unjudged) == (1, 2, 1)
    assert (found[2].rate, found[2].judged, found[2].unjudged) == (0, 1, 2)
    assert level_success({}) == level_success({"a": {1: [None]}}) == {}
    once, twice = level_success({1: {1: [True]}}), level_success({1: {1: [True]}, 2: {1: [True]}}, repetitions=2)
    assert once[1][:3] == twice[1][:3]
    with pytest.raises(ValueError, match="repetitions is 0"):
        level_success({}, repetitions=0)


def test_agreement_with_abstentions() -> None:
    found = inter_judge_agreement([[1, 1, None], [1, 0, None], [None, None, 1], [None] * 3])
    assert found is not None
    assert (found.share, found.items) == (0.5, 2)
    assert inter_judge_agreement([[1, None]]) is None
    with pytest.raises(ValueError, match="1, 0 and None"):
        inter_judge_agreement([[1, 2]])


@pytest.mark.parametrize("size", [0, 1, 7, 30, 48, 52, 120, 400])
def test_mcnemar_agrees_with_statsmodels(size: int) -> None:
    judge, human = np.random.default_rng(size).integers(0, 2, (2, size)).tolist()
    found = mcnemar(judge, human)
    pairs = list(zip(judge, human, strict=True))
    table = [[pairs.count((1, 1)), pairs.count((1, 0))], [pairs.count((0, 1)), pairs.count((0, 0))]]
    exact = found.judge_only + found.human_only < EXACT_BELOW
    expected = reference_mcnemar(table, exact=exact, correction=True)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_pearson() -> None:
    x, y = [1, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 1]
    assert pearson(x, y)[0] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert math.isnan(pearson([1, 1], [0, 1])[0])
    assert math.isnan(pearson([], [])[0])


def test_pairs_that_are_none() -> None:
    for compare in (pearson, mcnemar):
        with pytest.raises(ValueError, match="pairs"):
            compare([1], [])
    with pytest.raises(ValueError, match="1 and 0"):
        mcnemar([2], [1])
