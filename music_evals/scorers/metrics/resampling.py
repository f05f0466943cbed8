"""Arrays of numbers, and the ends of intervals by resampling."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def middle95(values: Floats) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
