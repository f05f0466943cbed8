"""Intervals of means of outcomes in clusters, such as the answers to questions on one score.

A percentile bootstrap over few clusters of unequal sizes contains the true value too rarely. The
interval here is t-based; ``docs/statistics.md`` compares both in simulations.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import isnan, nan
from statistics import fmean

import numpy as np

from music_evals.scorers.metrics.proportion import Z95, wilson_interval
from music_evals.scorers.metrics.resampling import (
    Floats,
    Interval,
    Names,
    Outcomes,
    numbered,
)

_EQUAL = 1e-9  # means of clusters that differ by less are equal


def mean_interval(
    correct: Outcomes,
    clusters: Names | None = None,
    strata: Names | None = None,
) -> Interval:
    """A 95% interval for the mean of outcomes from 0 to 1, within 0 and 1.

    This is the interval of Korn and Graubard: the exact binomial interval for an effective number
    of trials. That number follows from the variance of the mean and is reduced by the squared ratio
    of normal to t quantile. The variance is the jackknife's over clusters. The degrees of freedom
    are Kish's effective number of clusters less one, so G - 1 for G clusters of one size. If all
    clusters have the same mean, each counts as one trial.

    Without clusters each item is its own cluster, and items that are right or wrong have Wilson's
    interval. A single cluster has no interval (NaN).

    With strata, such as categories, the interval is for the mean of their means; a cluster may have
    items in several strata. There is no interval if all items of a stratum belong to one cluster.

    Args:
        correct: one outcome per item; at least one.
        clusters: the cluster of each item, such as the score that a question is on.
        strata: the stratum of each item; all strata have the same weight.

    Raises:
        ValueError: there are no outcomes, one is out of range, or the lengths differ.

    Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected
        number of positive counts estimated from survey data", Survey Methodology 24 (1998); L.
        Kish, "Survey Sampling" (1965), section 11.7.

    Example:
        >>> [round(end, 2) for end in mean_interval([1, 1, 1, 0, 0, 0, 1, 0], clusters="aaabbbcc")]
        [0.04, 0.96]
    """
    values = checked_outcomes("correct", correct, clusters)
    if strata is not None and len(strata) != len(values):
        raise ValueError(f"strata names {len(strata)} items, correct has {len(values)}")
    if clusters is None and strata is None and np.isin(values, (0, 1)).all():
        return wilson_interval(float(values.mean()), len(values))

    names = range(len(values)) if clusters is None else clusters
    mean, variance, effective = jackknife(values, names, strata)
    return t_interval(mean, [(variance, effective)], effective)


def jackknife(values: Floats, clusters: Names, strata: Names | None) -> tuple[float, float, float]:
    """Return the mean of the strata's means, its variance by the jackknife over clusters, and the
    number of clusters of one size that would be worth as much.

    The variance is 0 if all clusters have the same mean, and NaN if all items of a stratum belong
    to one cluster.
    """
    row = numbered([0] * len(values) if strata is None else strata)
    column = numbered(clusters)
    count = column.max() + 1
    totals, sizes = np.zeros((2, row.max() + 1, count))
    np.add.at(totals, (row, column), values)
    np.add.at(sizes, (row, column), 1)
    total = totals.sum(axis=1, keepdims=True)
    n = sizes.sum(axis=1, keepdims=True)
    mean = float((total / n).mean())
    if (sizes == n).any():
        return mean, nan, 1.0
    without = ((total - totals) / (n - sizes)).mean(axis=0)
    if np.ptp(without) <= _EQUAL:
        return mean, 0.0, float(count)
    variance = (count - 1) / count * ((without - mean) ** 2).sum()
    return mean, float(variance), float(1 / ((sizes / n).mean(axis=0) ** 2).sum())


def crossed_interval(correct: Outcomes, items: Names, clusters: Names) -> Interval:
    """A 95% interval for the mean of responses to items that are all in several clusters, within 0
    and 1.

    An example: the same questions are asked in several chats. A question may be hard in every chat,
    and a chat may go wrong on every question. The variance is that of the means of items plus that
    of the means of clusters; it counts the rest twice, so that the interval is rather too wide. The
    degrees of freedom are Satterthwaite's. A single cluster has no interval (NaN).

    Args:
        correct: one outcome per response.
        items: the item of each response.
        clusters: the cluster of each response.

    Source: A. C. Cameron, J. B. Gelbach and D. L. Miller, "Robust inference with multiway
        clustering", Journal of Business & Economic Statistics 29 (2011), without the term that they
        subtract.
    """
    values = checked_outcomes("correct", correct, clusters)
    groups = [numbered(names) for names in (items, clusters)]
    means = [np.bincount(group, weights=values) / np.bincount(group) for group in groups]
    if min(map(len, means)) < 2:
        return nan, nan
    mean = float(means[0].mean())
    fewest = float(min(map(len, means)))
    parts = [(float(group.var(ddof=1)) / len(group), float(len(group))) for group in means]
    return t_interval(mean, parts, fewest)


def t_interval(mean: float, parts: Sequence[tuple[float, float]], clusters: float) -> Interval:
    """Korn's and Graubard's interval of a mean, whose degrees of freedom are Satterthwaite's.

    Args:
        mean: from 0 to 1.
        parts: what the mean's variance is the sum of, each with the number of clusters that it is
            estimated from.
        clusters: the least number of trials that the mean is worth: a mean from 0 to 1 cannot vary
            more than if all outcomes of a cluster were equal.

    Returns:
        NaN for both ends if the variance is NaN. If it is 0, each cluster counts as a trial.
    """
    from scipy import stats

    variance = sum(part for part, _ in parts)
    if isnan(variance):
        return nan, nan
    if variance <= _EQUAL**2:
        return _exact_interval(mean, clusters)
    freedom = variance**2 / sum(part**2 / max(worth - 1, 1) for part, worth in parts)
    t = stats.t.ppf(0.975, max(freedom, 1))
    trials = mean * (1 - mean) / variance * (Z95 / t) ** 2
    return _exact_interval(mean, max(trials, clusters))


def _exact_interval(mean: float, trials: float) -> Interval:
    """The exact binomial interval of a share of so many trials."""
    from scipy import stats

    right = mean * trials
    wrong = (1 - mean) * trials
    low = stats.beta.ppf(0.025, right, wrong + 1) if mean > _EQUAL else 0.0
    high = stats.beta.ppf(0.975, right + 1, wrong) if mean < 1 - _EQUAL else 1.0
    return float(low), float(high)


def macro_mean(values: Sequence[float], strata: Names) -> float:
    """The mean of the strata's means, with the same weight for each stratum.

    Example:
        >>> macro_mean([1, 0, 0, 0, 1], "abbbb")
        0.625
    """
    return fmean(means_by_name(values, strata))


def means_by_name(values: Sequence[float], names: Names) -> list[float]:
    """The mean of the values of each name."""
    groups = defaultdict(list)
    for value, name in zip(values, names, strict=True):
        groups[name].append(value)
    return list(map(fmean, groups.values()))


def checked_outcomes(name: str, given: Outcomes, clusters: Names | None = None) -> Floats:
    """Outcomes as an array; ValueError if there are none, one is not from 0 to 1, or clusters do
    not fit.
    """
    values = np.asarray(given, dtype=float)
    if len(values) == 0:
        raise ValueError(f"{name} is empty; outcomes are needed")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"{name} holds something outside 0 to 1")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"clusters names {len(clusters)} items, {name} has {len(values)}")
    return values
