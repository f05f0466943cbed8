"""Confidence sequences: 95% intervals that hold at every time at once, so that a run may stop
whenever its interval is narrow enough.

Source: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
JRSS B 86 (2024): hedged capital, section 4.1, here with bets that are fixed ahead.
"""

from collections.abc import Sequence
from math import log

import numpy as np

from music_evals.scorers.metrics.clustered import means_by_name
from music_evals.scorers.metrics.resampling import Names, numbered

_MISS = 0.05  # share of sequences that leave out the mean at any time
_STEP = 0.001
_MEANS = np.arange(_STEP, 1, _STEP)
_MOST = 0.75  # of its capital that a bet may lose


def sequence_interval(
    values: Sequence[float], items: Names, clusters: Names, planned: int, largest: int = 1
) -> tuple[float, float]:
    """Return the interval of a confidence sequence for the mean of items in random order.

    Args:
        values: one per response, from 0 to 1.
        items: the item of each response; responses to one count with their mean.
        clusters: the cluster of each response.
        planned: the number of clusters that the bets are best for; any number is valid.
        largest: the number of items of the largest cluster that may come.

    Example:
        >>> [round(end, 3) for end in sequence_interval([1, 0] * 50, range(100), range(100), 200)]
        [0.358, 0.642]
    """
    means = means_by_name(values, items)
    groups = numbered(list(dict(zip(items, clusters, strict=True)).values()))
    sums = np.stack([np.bincount(groups, means), np.bincount(groups)], axis=1)
    distinct, counts = np.unique(sums, axis=0, return_counts=True)
    # What a bet of 1 on a higher mean earns with each cluster, shape (clusters, means).
    gains = (distinct[:, :1] - distinct[:, 1:] * _MEANS) / largest
    bets = np.sqrt(2 * log(2 / _MISS) / (planned * _MEANS * (1 - _MEANS)))
    above = counts @ np.log1p(np.minimum(bets, _MOST / _MEANS) * gains)
    below = counts @ np.log1p(-np.minimum(bets, _MOST / (1 - _MEANS)) * gains)
    (kept,) = np.nonzero(np.logaddexp(above, below) < log(2 / _MISS))
    if not len(kept):
        return 0.0, 1.0
    return float(_MEANS[kept[0]] - _STEP), float(_MEANS[kept[-1]] + _STEP)
