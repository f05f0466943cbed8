"""What intervals by resampling share."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

CELLS: Final = 1_000_000
"""How many numbers are worked on at a time."""

Floats = npt.NDArray[np.float64]


def batches(resamples: int, size: int) -> Iterator[int]:
    """How many resamples of a size to draw at a time, so that about a million numbers are held."""
    at_once = max(1, CELLS // max(size, 1))
    for start in range(0, resamples, at_once):
        yield min(at_once, resamples - start)


def middle95(values: Floats) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
