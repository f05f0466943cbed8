"""Power, against simulations of the tests, Miller's paper, statsmodels and SciPy; variances."""

from math import isnan, sqrt

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score, stderr
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.power import NormalIndPower

from music_evals.scorers.metrics.paired import compare, mcnemar
from music_evals.scorers.metrics.power import (
    detectable_difference,
    discordance_of,
    least_difference,
    mcnemar_power,
    questions_by_normal,
    questions_needed,
)


def test_the_example_of_the_paper():
    """Section 5: a variance of 1/9 and a difference of three points need 969 questions."""
    assert questions_by_normal(0.03, 1 / 9) == 969


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.2])
def test_numbers_of_questions_are_those_of_statsmodels(difference):
    known = NormalIndPower(ddof=0).solve_power(
        difference / sqrt(0.2), alpha=0.05, power=0.8, ratio=0
    )
    assert questions_by_normal(difference, 0.2) == pytest.approx(known, abs=1)


def test_discordance_of_independent_and_of_bound_answers():
    assert discordance_of(0.7, 0.6, 0) == pytest.approx(0.7 * 0.4 + 0.3 * 0.6)
    # At most 0.2 can be right in both, as the second is right no more often.
    assert discordance_of(0.9, 0.2, 1) == pytest.approx(0.7)
    first, second = 0.7, 0.75
    variance = discordance_of(first, second, 0.5) - (second - first) ** 2
    spread = sqrt(first * (1 - first) * second * (1 - second))
    assert variance == pytest.approx(first * (1 - first) + second * (1 - second) - spread)


@pytest.mark.parametrize(("pairs", "discordance", "difference"), [(9, 0.6, 0.5), (30, 0.4, 0.2)])
def test_power_is_the_sum_over_all_outcomes(pairs, discordance, difference):
    shares = [(discordance - difference) / 2, (discordance + difference) / 2, 1 - discordance]
    expected = sum(
        stats.multinomial.pmf([lost, gained, pairs - lost - gained], pairs, shares)
        for lost in range(pairs + 1)
        for gained in range(pairs + 1 - lost)
        if mcnemar(lost, gained) < 0.05
    )
    assert mcnemar_power(pairs, discordance, difference) == pytest.approx(expected)


@pytest.mark.parametrize("base", [0.25, 0.5])
@pytest.mark.parametrize("pairs", [20, 44, 120, 240])
def test_what_is_found_is_found_in_four_of_five_cases(pairs, base):
    """The normal approximation found it in 48 to 74% of the cases."""

    def discordance(difference):
        return discordance_of(base, base + difference, 0.5)

    least = least_difference(lambda d: mcnemar_power(pairs, discordance(d), d), 1 - base)
    differing = discordance(least)
    shares = [(differing - least) / 2, (differing + least) / 2, 1 - differing]
    drawn = np.random.default_rng(1).multinomial(pairs, shares, 4000)
    found = np.mean([mcnemar(int(lost), int(gained)) < 0.05 for lost, gained, _ in drawn])
    assert found == pytest.approx(0.8, abs=0.03)


def test_the_number_of_questions_has_the_power():
    needed = questions_needed(0.1, 0.2 - 0.01)
    assert mcnemar_power(needed, 0.2, 0.1) >= 0.8 > mcnemar_power(needed - 10, 0.2, 0.1)
    assert needed > questions_by_normal(0.1, 0.2 - 0.01)


@pytest.mark.parametrize("clusters", [None, "aabbccddee"])
def test_five_questions_or_clusters_find_nothing(clusters):
    count = 10 if clusters else 5
    assert isnan(detectable_difference(compare([0] * count, [1] * count, clusters)))
    assert not isnan(detectable_difference(compare([0] * 12, [1] * 12, "aabbccddeeff")))


@pytest.mark.parametrize("count", [9, 30])
def test_a_difference_of_clusters_is_found_in_four_of_five_cases(count):
    rng = np.random.default_rng(5)

    def pieces(shift):
        """Differences by piece and question, which lie between -1 and 1."""
        by_piece = rng.normal(shift, 0.15, (count, 1))
        return np.clip(by_piece + rng.normal(0, 0.15, (count, 4)), -1, 1)

    names = [piece for piece in range(count) for _ in range(4)]
    half = np.full(4 * count, 0.5)

    def compared(shift):  # type: ignore[no-untyped-def]
        differences = pieces(shift).ravel()
        return compare(half - differences / 2, half + differences / 2, names, resamples=500)

    least = np.median([detectable_difference(compared(0)) for _ in range(20)])
    found = np.mean([compared(float(least)).p < 0.05 for _ in range(300)])
    assert found == pytest.approx(0.8, abs=0.1)


def test_clustered_errors_are_those_of_statsmodels_and_inspect():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 90)
    values = np.clip(rng.random(90) + clusters / 12, 0, 2) / 2
    fitted = OLS(values, np.ones(90)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    own = sqrt(compare(np.zeros(90), values, clusters.tolist()).variance / 90)
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
    alone = sqrt(compare(np.zeros(90), values).variance / 90)
    assert alone == pytest.approx(float(stderr()(scores)))  # type: ignore[arg-type]
    assert alone == pytest.approx(values.std(ddof=1) / sqrt(90))


def test_a_comparison_says_its_variance():
    found = compare([1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0], clusters="aabbcc")
    # Differences by pair of questions are -1, 1 and -1 of six; their mean is -1/6.
    error = sqrt(3 / 2 * ((-4 / 6) ** 2 + (8 / 6) ** 2 + (-4 / 6) ** 2)) / 6
    assert found.variance == pytest.approx(6 * error**2)
    assert np.isnan(compare([1, 0], [0, 0], clusters="aa").variance)
