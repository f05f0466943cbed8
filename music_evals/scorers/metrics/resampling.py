"""Arrays of numbers, and the ends of intervals by resampling."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Outcomes = Sequence[float] | Floats
Names = Sequence[Hashable]  # of items, clusters or strata
Interval = tuple[float, float]
_DRAWS = 1_000
_LEAST_DRAWS = 300
_MOST_COUNTS = 3_000_000  # of all resamples, which are in memory at once


def numbered(names: Names) -> npt.NDArray[np.intp]:
    """The number of each name, in the order of their first occurrence."""
    number = {name: index for index, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names])


def middle95(values: Floats) -> Interval:
    """The 2.5% and 97.5% quantiles."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def bootstrap_interval(
    statistic: Callable[[Floats], Floats], groups: Sequence[Hashable]
) -> Interval:
    """A 95% percentile interval by resampling groups of items, such as clips.

    Args:
        statistic: returns a value per row of counts, of the shape (draws, items): how often each
            item was drawn.
        groups: the group of each item; all items of a group are drawn together.

    There are 1,000 resamples, fewer of many items but at least 300; the seed is fixed.

    Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), section 13.3.

    Example:
        >>> values = np.array([0.0, 1.0, 1.0, 0.0])
        >>> bootstrap_interval(lambda counts: counts @ values / counts.sum(axis=1), range(4))
        (0.0, 1.0)
    """
    places = numbered(groups)
    number = places.max() + 1
    draws = min(_DRAWS, max(_LEAST_DRAWS, _MOST_COUNTS // len(places)))
    drawn = np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), size=draws)
    return middle95(statistic(drawn[:, places].astype(float)))
