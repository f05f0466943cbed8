"""Power of paired comparisons: which difference some questions can find, and how many find it.

Conventions: two-sided tests at 5% with a power of 80%. Scores and differences are from 0 to 1. The
power is that of the tests of `paired.compare`: exact for McNemar's test, and for flips of signs
that of Student's test by cluster. In simulations the power was 85% with 30 clusters, and about 60%
with 8 and 12, whose variance is hardly known.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import ceil, nan, sqrt

import numpy as np

from music_evals.scorers.metrics.paired import Comparison

LEVEL = 0.05
POWER = 0.8

_STEPS = 1000  # of a difference from 0 to 1
_FEWEST_CLUSTERS = 6  # of five, one in sixteen flips of all signs is as far from 0
_MOST_EXACT = 5000  # questions, above which the normal distribution is as good

PowerOf = Callable[[float], float]
"""A difference from 0 to 1 → the power of a test to find it."""


def mcnemar_power(pairs: int, discordance: float, difference: float) -> float:
    """Return the exact power of McNemar's exact test.

    Args:
        pairs: number of independent questions.
        discordance: the share of questions that only one of the two has right.
        difference: of the two shares of right answers, from 0 to `discordance`.

    Example:
        >>> round(mcnemar_power(20, 0.5, 0.36), 2)
        0.56
    """
    from scipy import stats

    numbers = np.arange(pairs + 1)
    # Of so many differing questions, how many one side must be right on to be significant.
    least = stats.binom.isf(LEVEL / 2, numbers, 0.5) + 1
    later_only = (1 + difference / discordance) / 2
    # Found by the right sign or, rarely, by the wrong one.
    found = stats.binom.sf(least - 1, numbers, later_only)
    found += stats.binom.cdf(numbers - least, numbers, later_only)
    return float(stats.binom.pmf(numbers, pairs, discordance) @ found)


def discordance_of(first: float, second: float, correlation: float) -> float:
    """Return the share of questions that only one of two models has right, by their shares of right
    answers and the correlation of these; it is the nearest that is possible.

    Example:
        >>> round(discordance_of(0.7, 0.75, 0.5), 3)
        0.202
    """
    spread = sqrt(first * (1 - first) * second * (1 - second))
    both = min(first * second + correlation * spread, first, second)
    return first + second - 2 * both


def least_difference(power: PowerOf, most: float = 1.0) -> float:
    """Return the smallest difference up to `most` that is found with a power of 80%; NaN if none
    is.
    """
    steps = range(1, round(most * _STEPS) + 1)
    place = bisect_left(steps, POWER, key=lambda step: power(step / _STEPS))
    return steps[place] / _STEPS if place < len(steps) else nan


def detectable_difference(comparison: Comparison) -> float:
    """Return the smallest difference that a comparison like this one finds with a power of 80%; NaN
    if it finds none.

    The questions and clusters are as many, and the answers differ as often or, for larger
    differences, as often as these need.
    """
    count = len(comparison.totals)
    differing = int((comparison.totals != 0).sum())
    if comparison.test == "McNemar" or not differing:
        return _least_by_mcnemar(count, differing)
    if count < _FEWEST_CLUSTERS:
        return nan
    return _quantiles(count - 1) * sqrt(comparison.variance / comparison.pairs)


@cache
def _least_by_mcnemar(pairs: int, differing: int) -> float:
    share = (differing + 2) / (pairs + 2)  # as in `paired.difference_interval`

    def power(difference: float) -> float:
        return mcnemar_power(pairs, max(share, difference), difference)

    return least_difference(power)


def questions_needed(difference: float, variance: float) -> int:
    """Return how many questions tell a difference with a power of 80%.

    Args:
        difference: above 0.
        variance: of the differences per question, see `Comparison.variance`.

    It is the number for McNemar's exact test, or `questions_by_normal` above 5,000 questions and
    where a variance is too large for independent questions that are right or wrong.

    Example:
        >>> questions_needed(0.1, 0.19), questions_by_normal(0.1, 0.19)
        (168, 150)
    """
    estimated = questions_by_normal(difference, variance)
    discordance = variance + difference**2
    if estimated > _MOST_EXACT or not difference <= discordance <= 1:
        return estimated
    numbers = range(1, 2 * estimated + 20)
    place = bisect_left(numbers, POWER, key=lambda n: mcnemar_power(n, discordance, difference))
    return numbers[place] if place < len(numbers) else estimated


def questions_by_normal(difference: float, variance: float) -> int:
    """Return how many questions tell a difference with a power of 80%, by the normal distribution.

    Source: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, section 5.

    Example:
        >>> questions_by_normal(0.03, 1 / 9)  # Miller, section 5
        969
    """
    return ceil((_quantiles() / difference) ** 2 * variance)


@cache
def _quantiles(freedom: float | None = None) -> float:
    """The quantile of the level and that of the power together."""
    from scipy import stats

    reference = stats.t(freedom) if freedom else stats.norm
    return float(reference.ppf(1 - LEVEL / 2) + reference.ppf(POWER))
