"""Bootstrap and Wilson intervals, against the paper's numbers, SciPy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.metrics.resampling import bootstrap_interval

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


@given(st.integers(1, 2000), st.data())
def test_wilsons_interval_is_scipys(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson_interval(successes / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("proportion", "n"), [(0.5, 0), (-0.1, 10), (1.1, 10), (float("nan"), 10)])
def test_what_has_no_wilson_interval(proportion: float, n: int) -> None:
    with pytest.raises(ValueError, match=r"n is 0|proportion is"):
        wilson_interval(proportion, n)
