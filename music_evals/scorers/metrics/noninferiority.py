"""Whether scores fell by more than a margin: tests of non-inferiority, for `music-evals check`.

Conventions: outcomes and differences as in `paired`; a margin is from 0 to 1. There are two
one-sided tests at 2.5%: a drop of just the margin is called more, or less, than it with a risk of
2.5% each.
"""

from math import sqrt
from typing import Literal

from music_evals.scorers.metrics.paired import Comparison
from music_evals.scorers.metrics.power import questions_by_normal
from music_evals.scorers.metrics.proportion import Z95

Verdict = Literal["no worse", "worse", "too few questions"]


def verdict(comparison: Comparison, margin: float) -> Verdict:
    """Say whether the second score is lower than the first by more than a margin.

    Independent samples that are right or wrong have Tango's score test, all others the interval of
    `paired.compare`.

    Example:
        >>> from music_evals.scorers.metrics.paired import compare
        >>> verdict(compare([1] * 80 + [0] * 20, [1] * 100), margin=0.03)
        'no worse'
    """
    if comparison.test == "McNemar":
        lost, gained = (int((sign * comparison.totals > 0).sum()) for sign in (-1, 1))
        above = score_statistic(lost, gained, comparison.pairs, margin)
        is_no_worse = above > Z95
        is_worse = above < -Z95
    else:
        is_no_worse = comparison.low > -margin
        is_worse = comparison.high < -margin
    if is_no_worse:
        return "no worse"
    return "worse" if is_worse else "too few questions"


def score_statistic(first_only: int, second_only: int, pairs: int, margin: float) -> float:
    """Return Tango's score statistic of a difference of paired proportions, second less first,
    against minus a margin; it is a normal deviate, above 0 if the drop is less than the margin.

    Args:
        first_only: number of samples that only the first has right.
        second_only: number of samples that only the second has right.
        pairs: number of all samples.
        margin: from 0 to 1.

    Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions
        for the paired-sample design", Statistics in Medicine 17 (1998).

    Example:
        >>> round(score_statistic(1, 0, 44, 0.1), 3)  # Tango, data on contact lenses
        1.709
    """
    # The likeliest share that only the first has right, if the drop is just the margin.
    linear = -first_only - second_only - (2 * pairs - second_only + first_only) * margin
    constant = first_only * margin * (1 + margin)
    lost = (sqrt(max(linear**2 - 8 * pairs * constant, 0)) - linear) / (4 * pairs)
    variance = pairs * (2 * lost - margin * (1 + margin))
    if variance <= 0:
        return 0.0
    return (second_only - first_only + pairs * margin) / sqrt(variance)


def questions_needed(comparison: Comparison, margin: float) -> int | None:
    """Return how many questions show with a power of 80% that a score fell by no more than a
    margin, if it did not change; None if no number does.
    """
    variance = comparison.variance + comparison.difference**2
    return questions_by_normal(margin, variance) if margin > 0 and variance == variance else None
