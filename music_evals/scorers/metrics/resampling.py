"""Arrays of numbers, and the ends of intervals by resampling."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Outcomes = Sequence[float] | Floats
Names = Sequence[Hashable]  # of items, clusters or strata
Interval = tuple[float, float]


def middle95(values: Floats) -> Interval:
    """The 2.5% and 97.5% quantiles."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
