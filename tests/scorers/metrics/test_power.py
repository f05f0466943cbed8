"""Power and standard errors, against Miller's paper, statsmodels and Inspect."""

from math import inf, sqrt

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score, stderr
from statsmodels.api import OLS
from statsmodels.stats.power import NormalIndPower, TTestPower

from music_evals.reports.power import SUPPOSED
from music_evals.scorers.metrics.paired import compare
from music_evals.scorers.metrics.power import detectable_difference, questions_needed


def paired_variance(first: float, second: float, correlation: float) -> float:
    """The variance of differences of right and wrong answers, given both accuracies and their
    correlation.
    """
    one, other = first * (1 - first), second * (1 - second)
    return one + other - 2 * correlation * sqrt(one * other)


def test_the_supposed_variance_is_that_of_two_similar_models() -> None:
    assert pytest.approx(paired_variance(0.7, 0.75, 0.5)) == SUPPOSED


def test_the_example_of_the_paper() -> None:
    """Section 5: a variance of 1/9 and a difference of three points need 969 questions."""
    assert questions_needed(0.03, 1 / 9) == 969


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.2])
def test_numbers_of_questions_are_those_of_statsmodels(difference: float) -> None:
    variance = paired_variance(0.7, 0.7 + difference, 0.3)
    known = NormalIndPower(ddof=0).solve_power(
        difference / sqrt(variance), alpha=0.05, power=0.8, ratio=0
    )
    assert questions_needed(difference, variance) == pytest.approx(known, abs=1)
    assert detectable_difference(sqrt(variance / known)) == pytest.approx(difference, rel=1e-3)


@pytest.mark.parametrize("count", [5, 10, 40])
def test_few_clusters_have_the_power_of_students_test(count: int) -> None:
    known = TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8)
    found = detectable_difference(1 / sqrt(count), count - 1)
    assert found == pytest.approx(known, rel=0.05)
    assert found > detectable_difference(1 / sqrt(count), inf)


def test_a_difference_that_can_be_found_is_found_in_four_of_five_cases() -> None:
    rng, n = np.random.default_rng(1), 400
    least = detectable_difference(sqrt(paired_variance(0.6, 0.6, 0) / n))
    ps = [compare(rng.random(n) < 0.6, rng.random(n) < 0.6 + least).p for _ in range(400)]
    assert np.mean(np.array(ps) < 0.05) == pytest.approx(0.8, abs=0.08)


def test_clustered_errors_are_those_of_statsmodels_and_inspect() -> None:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 90)
    values = np.clip(rng.random(90) + clusters / 12, 0, 2) / 2
    fitted = OLS(values, np.ones(90)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    own = compare(np.zeros(90), values, clusters.tolist()).error
    assert own == pytest.approx(float(fitted.bse[0]), rel=1e-9)
    scores = [
        SampleScore(
            score=Score(value=float(value)),
            sample_id=str(place),
            sample_metadata={"piece": str(cluster)},
        )
        for place, (value, cluster) in enumerate(zip(values, clusters, strict=True))
    ]
    assert float(stderr(cluster="piece")(scores)) == pytest.approx(own, rel=0.05)  # type: ignore[arg-type]
    alone = compare(np.zeros(90), values).error
    assert alone == pytest.approx(float(stderr()(scores)))  # type: ignore[arg-type]
    assert alone == pytest.approx(values.std(ddof=1) / sqrt(90))


def test_a_comparison_says_its_error() -> None:
    found = compare([1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0], clusters="aabbcc")
    # Differences by pair of questions are -1, 1 and -1 of six; their mean is -1/6.
    assert found.error == pytest.approx(
        sqrt(3 / 2 * ((-4 / 6) ** 2 + (8 / 6) ** 2 + (-4 / 6) ** 2)) / 6
    )
    assert (found.freedom, np.isnan(compare([1, 0], [0, 0], clusters="aa").error)) == (2, True)
