"""Bootstrap intervals. Draws come from a fixed seed, so that the same outcomes give the same interval."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

_CELLS: Final = 1_000_000

Floats = npt.NDArray[np.float64]


def bootstrap_interval(
    correct: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles of the mean of outcomes over bootstrap resamples.

    Args:
        correct: one outcome an item, from 0 to 1; at least one.
        clusters: what each item belongs to, e.g. the score that a question is on; whole clusters are drawn then.
        resamples: number of resamples, at least 1.
        seed: seed of the draws.

    Raises:
        ValueError: there is nothing to draw from, an outcome is out of range, or the lengths differ.

    Source: A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8 (clusters).
    """
    values = checked_outcomes("correct", correct, clusters)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    rng = np.random.default_rng(seed)
    if clusters is None and np.isin(values, (0, 1)).all():
        # The number of right ones in a resample is binomial; there is no need to draw the items themselves.
        return middle95(rng.binomial(len(values), values.mean(), resamples) / len(values))
    groups = range(len(values)) if clusters is None else clusters
    number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    belongs = np.array([number[group] for group in groups])
    totals, sizes = np.bincount(belongs, weights=values), np.bincount(belongs)
    means = []
    for count in batches(resamples, len(sizes)):
        drawn = rng.integers(0, len(sizes), (count, len(sizes)))
        means.append(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return middle95(np.concatenate(means))


def checked_outcomes(name: str, given: Sequence[float] | Floats, clusters: Sequence[Hashable] | None = None) -> Floats:
    """Outcomes as an array; a ValueError where there are none, one is not from 0 to 1, or clusters do not fit."""
    values = np.asarray(given, dtype=float)
    if len(values) == 0:
        raise ValueError(f"{name} is empty; outcomes are needed")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"{name} holds something outside 0 to 1")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"clusters names {len(clusters)} items, {name} has {len(values)}")
    return values


def batches(resamples: int, size: int) -> Iterator[int]:
    """How many resamples of a size to draw at a time, so that about a million numbers are held."""
    at_once = max(1, _CELLS // max(size, 1))
    for start in range(0, resamples, at_once):
        yield min(at_once, resamples - start)


def middle95(values: Floats) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
