"""Intervals of clustered outcomes and Wilson's, against the paper's numbers, SciPy and
statsmodels.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from music_evals.scorers.metrics.clustered import crossed_interval, macro_mean, mean_interval
from music_evals.scorers.metrics.proportion import wilson_interval

TABLE_3 = [
    (42.61, 40.34, 44.91), (43.72, 41.45, 46.02), (47.28, 44.98, 49.59), (49.44, 47.14, 51.75),
    (20.61, 18.81, 22.54), (22.33, 20.47, 24.32), (23.39, 21.49, 25.40), (24.22, 22.30, 26.25),
]  # fmt: skip


def outcomes(right, n):
    return [1.0] * right + [0.0] * (n - right)


@pytest.mark.parametrize(("accuracy", "low", "high"), TABLE_3)
def test_the_intervals_of_table_3(accuracy, low, high):
    found = mean_interval(outcomes(round(accuracy * 18), 1800))
    assert [100 * end for end in found] == pytest.approx([low, high], abs=0.006)


def test_clusters_of_one_size():
    """The exact interval of as many trials as the spread of the clusters' means is worth, with t
    for 4 degrees.
    """
    rates = np.array([0.2, 0.4, 0.5, 0.9, 1.0])
    values = [float(place < 10 * rate) for rate in rates for place in range(10)]
    trials = (
        0.6 * 0.4 / (rates.var(ddof=1) / 5) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 4)) ** 2
    )
    expected = proportion_confint(0.6 * trials, trials, method="beta")
    assert mean_interval(values, np.repeat(range(5), 10).tolist()) == pytest.approx(expected)


def test_many_items_have_the_interval_of_student():
    values = np.random.default_rng(1).random(400)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert mean_interval(values) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_twins_say_nothing_new():
    values = np.random.default_rng(2).random(20).tolist()
    twins = [value for value in values for _ in range(2)]
    assert mean_interval(twins, [place // 2 for place in range(40)]) == pytest.approx(
        mean_interval(values)
    )


def test_clusters_that_are_alike_count_as_one_trial_each():
    names = np.repeat(range(5), 12).tolist()
    right = stats.binomtest(5, 5).proportion_ci(method="exact")
    assert mean_interval([1.0] * 60, names) == pytest.approx((right.low, 1))
    assert mean_interval([0.0] * 60, names) == pytest.approx((0, 1 - right.low))
    half = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert mean_interval([0.1, 0.9] * 4, [0, 0, 1, 1, 2, 2, 3, 3]) == pytest.approx(
        (half.low, half.high)
    )


def test_one_cluster_has_no_interval():
    assert np.isnan(mean_interval([1, 0, 1], ["a", "a", "a"])).all()
    assert np.isnan(mean_interval([0.3])).all()
    assert np.isnan(mean_interval([1, 0, 1, 0], "abca", strata="ssst")).all()


def test_strata_count_alike_whatever_their_sizes():
    assert macro_mean([1.0] + [0.0] * 99, "a" + "b" * 99) == 0.5
    values = np.random.default_rng(3).random(300)
    strata = np.repeat(list("abc"), (60, 200, 40))
    some = [values[strata == name] for name in "abc"]
    half = 1.96 * np.sqrt(sum(one.var(ddof=1) / len(one) for one in some)) / 3
    middle = np.mean([one.mean() for one in some])
    assert mean_interval(values, strata=strata.tolist()) == pytest.approx(
        (middle - half, middle + half), abs=0.004
    )


def test_a_cluster_in_every_stratum_is_one_cluster():
    """Where its answers in all strata are the same, the strata say no more than one."""
    values = np.random.default_rng(4).random(8).tolist()
    strata = [name for name in "abc" for _ in values]
    assert mean_interval(values * 3, list(range(8)) * 3, strata) == pytest.approx(
        mean_interval(values)
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 10, 30])
@pytest.mark.parametrize("is_shared", [True, False])
def test_macro_means_are_held_as_often_as_said(count, is_shared):
    rng = np.random.default_rng(count)
    strata, clusters = np.repeat(range(5), count), np.tile(range(count), 5)
    at = np.array([0.1, 0.5, 0.9, 0.95, 0.3])[strata]  # mean of each stratum
    held = 0
    for _ in range(500):
        ease = rng.normal(size=count)[clusters] if is_shared else rng.normal(size=len(at))
        values = (np.sqrt(0.5) * (ease + rng.normal(size=len(at))) < stats.norm.ppf(at)).astype(
            float
        )
        names = clusters if is_shared else np.arange(len(at))
        low, high = mean_interval(values, names.tolist(), strata.tolist())
        held += low <= at.mean() <= high
    assert held / 500 > 0.93


@pytest.mark.parametrize(("count", "mean"), [(5, 0.2), (5, 0.5), (10, 0.8), (15, 0.2)])
def test_the_interval_holds_the_truth_as_often_as_it_says(count, mean):
    rng = np.random.default_rng(count)
    held = 0
    for _ in range(600):
        # Of two items of a cluster the answers correlate by 0.4.
        rates = rng.beta(1.5 * mean, 1.5 * (1 - mean), count)
        names = np.repeat(range(count), rng.integers(3, 22, count))
        low, high = mean_interval(
            (rng.random(len(names)) < rates[names]).astype(float), names.tolist()
        )
        assert 0 <= low <= high <= 1
        held += low <= mean <= high
    assert held / 600 > 0.93


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([], {}, "correct is empty"),
        ([2], {}, "outside 0 to 1"),
        ([float("nan")], {}, "outside 0 to 1"),
        ([1], {"clusters": []}, "clusters names 0"),
        ([1, 0], {"strata": [0]}, "strata names 1 items, correct has 2"),
    ],
)
def test_what_is_refused(values, names, message):
    with pytest.raises(ValueError, match=message):
        mean_interval(values, **names)


@given(st.integers(1, 2000), st.data())
def test_wilsons_interval_is_scipys(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson_interval(successes / n, n) == pytest.approx(
        (expected.low, expected.high), abs=1e-12
    )


@pytest.mark.parametrize(("proportion", "n"), [(0.5, 0), (-0.1, 10), (1.1, 10), (float("nan"), 10)])
def test_what_has_no_wilson_interval(proportion, n):
    with pytest.raises(ValueError, match=r"n is 0|proportion is"):
        wilson_interval(proportion, n)


def test_chats_about_the_same_questions_are_clusters_and_so_are_the_questions():
    """Three chats with 0, 1 and 2 of two questions right: both variances by hand, and
    Satterthwaite's freedom.
    """
    values, items, chats = [0, 0, 1, 0, 1, 1], "ababab", "112233"
    of_items, of_chats = (2 / 3 - 1 / 3) ** 2 / 2 / 2, 0.25 / 3
    variance = of_items + of_chats
    freedom = variance**2 / (of_items**2 / 1 + of_chats**2 / 2)
    trials = 0.25 / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, freedom)) ** 2
    assert trials < 2
    trials = 2  # each of two questions counts at least once
    expected = stats.beta.ppf(
        [0.025, 0.975], [trials / 2, trials / 2 + 1], [trials / 2 + 1, trials / 2]
    )
    assert crossed_interval(values, items, chats) == pytest.approx(tuple(expected))
    assert all(map(math.isnan, crossed_interval([0, 1], "ab", "11")))
    # Where all answers are right, there are as many trials as questions, or as chats if these are
    # fewer.
    assert crossed_interval([1] * 6, items, chats) == pytest.approx((0.025 ** (1 / 2), 1))


@pytest.mark.parametrize("chats", [2, 3, 10])
def test_the_interval_of_chats_holds_the_truth(chats):
    rng, questions = np.random.default_rng(chats), 20
    items, names = [*range(questions)] * chats, np.repeat(range(chats), questions).tolist()
    held = []
    for _ in range(300):
        chances = 0.5 + rng.uniform(-0.25, 0.25, questions) + rng.uniform(-0.25, 0.25, (chats, 1))
        answers = (rng.random((chats, questions)) < chances).astype(float).ravel().tolist()
        low, high = crossed_interval(answers, items, names)
        held.append(low <= 0.5 <= high)
    assert np.mean(held) >= 0.91


def test_few_clusters_are_worth_no_less_than_one_answer_each():
    """Ten questions on two clips, 3 right: Student's t has one degree of freedom, and said 0 to
    100%.
    """
    found = mean_interval([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [0] * 5 + [1] * 5)
    assert found == pytest.approx(proportion_confint(0.6, 2, method="beta"))
    assert found[1] < 0.96


@pytest.mark.parametrize("chance", [0.3, 0.8])
def test_intervals_of_few_clusters_cover(chance):
    """All answers on a clip are alike, so a clip is worth just one answer."""
    rng, covered = np.random.default_rng(4), []
    clusters = np.repeat(range(6), [1, 2, 2, 3, 4, 4])
    for _ in range(400):
        low, high = mean_interval((rng.random(6) < chance)[clusters], clusters.tolist())
        covered.append(low <= chance <= high)
    assert np.mean(covered) >= 0.93
