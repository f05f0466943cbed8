"""Random subsets of a test's items, and what a score on one says of the score on all items.

Conventions: items are drawn within strata, each with a known chance; a single stratum is a simple
random sample. Whatever model answers, the mean of its estimates over subsets is its score on all
items. Scores are from 0 to 1.

Source: W. G. Cochran, "Sampling Techniques" (1977), chapters 2 and 5.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.proportion import Z95, wilson_interval
from music_evals.scorers.metrics.resampling import Floats

Places = npt.NDArray[np.intp]
"""Places of items."""
_DRAWN = 5  # items of a stratum


def strata_by_difficulty(means: Floats, size: int, rng: np.random.Generator) -> list[Places]:
    """Group items that are about as hard, so that about five of each group are drawn.

    Args:
        means: the mean score on each item, of other models.
        size: how many items are to be drawn.
        rng: puts equal items in a random order.
    """
    mixed = rng.permutation(len(means))
    order = mixed[np.argsort(means[mixed], kind="stable")]
    return np.array_split(order, max(size // _DRAWN, 1))


def draw(strata: Sequence[Places], size: int, rng: np.random.Generator) -> list[Places]:
    """Draw items from strata of about one size, about as many from each.

    Example:
        >>> [len(items) for items in draw([np.arange(50)], 8, np.random.default_rng(0))]
        [8]
    """
    sizes = map(len, np.array_split(np.arange(size), len(strata)))
    return [rng.choice(items, n, replace=False) for items, n in zip(strata, sizes, strict=True)]


def subset_estimate(values: Sequence[Floats], sizes: Sequence[int]) -> Estimate:
    """Estimate the score on all items from those drawn.

    Args:
        values: of the items drawn from each stratum, two or more.
        sizes: the number of items in each stratum.

    Returns:
        The mean with Wilson's interval, for as many answers as its variance is worth; less than the
        variance of answers alone, as the items are finite in number.

    Example:
        >>> found = subset_estimate([np.array([1, 1, 0, 1.0])], [8])
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (0.75, 0.22, 0.97)
    """
    from scipy import stats

    total = sum(sizes)
    n = sum(map(len, values))
    mean = variance = 0.0
    for drawn, size in zip(values, sizes, strict=True):
        mean += size / total * drawn.mean()
        variance += (size / total) ** 2 * (1 - len(drawn) / size) * drawn.var(ddof=1) / len(drawn)
    if n == total:
        return Estimate(float(mean), float(mean), float(mean), n)
    worth = n / (1 - n / total)
    if variance > 0:
        t = stats.t.ppf(0.975, n - len(values))
        worth = mean * (1 - mean) / variance * (Z95 / t) ** 2
    return Estimate(float(mean), *wilson_interval(float(mean), float(worth)), n)
