"""Power of paired comparisons: what a number of questions can find, and how many find a difference.

Conventions: two-sided tests at 5% with a power of 80%. Scores and differences are from 0 to 1. The
variance is that of the differences of two models' values on the same question.

Source: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, section 5.
"""

from functools import cache
from math import ceil, inf, isinf

LEVEL = 0.05
POWER = 0.8


def detectable_difference(error: float, freedom: float = inf) -> float:
    """Return the smallest difference that a comparison finds with a power of 80%, given its
    standard error.

    With few clusters, `freedom` is their number less one, and quantiles are of Student's t.

    Example:
        >>> round(detectable_difference(0.01), 4)
        0.028
    """
    return _quantiles(freedom) * error


def questions_needed(difference: float, variance: float) -> int:
    """Return how many independent questions tell a difference with a power of 80%.

    Example:
        >>> questions_needed(0.03, 1 / 9)  # Miller, section 5
        969
    """
    return ceil((_quantiles(inf) / difference) ** 2 * variance)


@cache
def _quantiles(freedom: float) -> float:
    from scipy import stats

    reference = stats.norm if isinf(freedom) else stats.t(freedom)
    return float(reference.ppf(1 - LEVEL / 2) + reference.ppf(POWER))
