"""Quantiles with 95% intervals that assume no distribution."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats


def quantile_interval(values: Sequence[float] | npt.NDArray[np.float64], share: float) -> tuple[float, float] | None:
    """Two of the values that hold a quantile in at least 95% of such draws; None for too few values.

    Args:
        values: independent draws; at least one.
        share: of the quantile, above 0 and below 1; 0.5 for the median.

    Raises:
        ValueError: there are no values, or `share` is out of range.

    Source: H. A. David and H. N. Nagaraja, "Order Statistics" (2003), section 7.1.
    """
    if not len(values):
        raise ValueError("values is empty; a quantile needs some")
    if not 0 < share < 1:
        raise ValueError(f"share is {share}; it must lie between 0 and 1")
    ordered = np.sort(np.asarray(values, dtype=float))
    below = stats.binom(len(ordered), share)  # how many values lie below the quantile
    low, high = int(below.ppf(0.025)), int(below.ppf(0.975)) + 1
    if low < 1 or high > len(ordered):
        return None
    return float(ordered[low - 1]), float(ordered[high - 1])
