"""Estimates: a value with its 95% interval and the number of items.

`estimate` computes every score of the suite: the main metric in a log, the cells of a report's
tables, the means in comparisons. An item is one question (or one piece to write); repeated runs of
an item (epochs) count once, with their mean.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isnan, sqrt
from statistics import fmean

import numpy as np

from music_evals.scorers.metrics.clustered import (
    crossed_interval,
    macro_mean,
    mean_interval,
    means_by_name,
)
from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.metrics.resampling import Floats, Names, bootstrap_interval

_LEAST = 1e-12  # denominator of a ratio


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number as tables show it.

    Args:
        value: the number, in the unit in which it is shown.
        low: lower end of its 95% interval; None without an interval.
        high: upper end.
        n: the number of items; None if unknown, as for published numbers.
        decimals: number of decimals that are shown.
        mark: shown behind the number; a note explains it.
        unread: the share of replies behind it that hold no answer that could be read; None if that
            is not known.
        name: what it is, where that is not said by the heading: the floor, or of how many tasks.
    """

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    decimals: int = 3
    mark: str = ""
    unread: float | None = None
    name: str = ""

    def times(self, scale: float, decimals: int) -> "Estimate":
        """Return it in another unit, with so many decimals."""
        low, high = (None if end is None else scale * end for end in (self.low, self.high))
        return replace(self, value=scale * self.value, low=low, high=high, decimals=decimals)

    def percent(self) -> "Estimate":
        """Return a share in percent."""
        return self.times(100, 1)


Estimates = dict[str, Estimate]
"""Estimates by name."""


def estimate(
    values: Sequence[float],
    items: Names | None = None,
    clusters: Names | None = None,
    strata: Names | None = None,
    weights: Sequence[float] | None = None,
) -> Estimate | None:
    """Estimate a mean score from the values of responses.

    Args:
        values: one value per response, from 0 to 1.
        items: the item of each response; without it each response is an item.
        clusters: what each item belongs to, such as the piece that a question is on. Items of one
            cluster are not independent; see `mean_interval`. Where all responses to an item are in
            different clusters, such as chats, see `crossed_interval`.
        strata: the stratum of each item. With several strata the score is the mean of their means.
        weights: the weight of each response, if the score is a ratio, such as micro F1; strata do
            not count then.

    Returns:
        The estimate from 0 to 1. Its interval is Wilson's for independent items that are right or
        wrong, else that of `mean_interval`; items of a single cluster have none. A ratio has that
        of `bootstrap_interval`, over clusters. None without values.

    Example:
        >>> found = estimate([1, 0, 1, 1], items=["a", "a", "b", "c"])
        >>> round(found.value, 3), found.n
        (0.833, 3)
    """
    if not len(values):
        return None
    names = range(len(values)) if items is None else items
    if weights is not None and len({*weights}) > 1:
        parts = [value * weight for value, weight in zip(values, weights, strict=True)]
        ratio = ratio_estimate(parts, weights, names if clusters is None else clusters)
        return replace(ratio, n=len({*names}))
    means = means_by_name(values, names)
    if clusters is not None and len(set(zip(names, clusters, strict=True))) > len(means):
        low, high = crossed_interval(values, names, clusters)
        return with_ends(fmean(means), low, high, len(means))
    # The clusters and strata of the items, in the order of the means.
    groups = None if clusters is None else list(dict(zip(names, clusters, strict=True)).values())
    kinds = None if strata is None else list(dict(zip(names, strata, strict=True)).values())
    if len(set(groups or ())) == len(means):
        groups = None
    if len(set(kinds or ())) < 2:
        kinds = None
    low, high = mean_interval(means, groups, kinds)
    return with_ends(macro_mean(means, kinds) if kinds else fmean(means), low, high, len(means))


def ratio_estimate(parts: Sequence[float], wholes: Sequence[float], groups: Names) -> Estimate:
    """Return the ratio of two sums over responses, such as wrong words to words.

    Args:
        parts: the numerators.
        wholes: the denominators, one of which is above 0.
        groups: the clip of each response; `bootstrap_interval` draws whole clips.

    Example:
        >>> ratio_estimate([1, 2], [4, 2], ["a", "b"]).value
        0.5
    """
    above = np.asarray(parts, dtype=float)
    below = np.asarray(wholes, dtype=float)

    def ratio(counts: Floats) -> Floats:
        ratios: Floats = (counts @ above) / np.maximum(counts @ below, _LEAST)
        return ratios

    return resampled(float(above.sum() / max(below.sum(), _LEAST)), ratio, groups)


def resampled(value: float, statistic: Callable[[Floats], Floats], groups: Names) -> Estimate:
    """Return a statistic's value with its `bootstrap_interval`; without one of a single group."""
    number = len({*groups})
    if number < 2:
        return Estimate(value)
    return Estimate(value, *bootstrap_interval(statistic, groups), number)


def with_ends(value: float, low: float, high: float, n: int) -> Estimate:
    """Return an estimate with its interval, unless that is NaN."""
    return Estimate(value, n=n) if isnan(low) else Estimate(value, low, high, n)


def share(value: float, n: float) -> Estimate:
    """Return a share of `n` independent trials, with Wilson's interval.

    Example:
        >>> share(0.5, 4).n
        4
    """
    low, high = wilson_interval(value, n)
    return Estimate(value, low, high, round(n))


def flatten(estimates: Mapping[str, Estimate | None]) -> dict[str, float]:
    """Return estimates as a log holds them: ``f1``, ``f1_low`` and ``f1_high``; without those that
    are None.

    Example:
        >>> flatten({"f1": Estimate(0.5, 0.4, 0.6), "n": Estimate(12), "tau": None})
        {'f1': 0.5, 'f1_low': 0.4, 'f1_high': 0.6, 'n': 12}
    """
    figures = {}
    for name, estimate in estimates.items():
        if estimate is None:
            continue
        figures[name] = estimate.value
        if estimate.low is not None and estimate.high is not None:
            figures |= {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return figures


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two independent estimates, with an interval if both have one.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent
        proportions", Statistics in Medicine 17 (1998), method 10.
    """
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(value, n=first.n, decimals=first.decimals)
    below = hypot(first.value - first.low, second.high - second.value)
    above = hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, value - below, value + above, first.n, first.decimals)


def average(estimates: Sequence[Estimate], weights: Sequence[float] | None = None) -> Estimate:
    """Return the weighted mean of independent estimates, with an interval if all of them have one.

    The squared distances of the ends from the values add up, separately below and above. `n` is the
    sum.

    Source: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008).

    Example:
        >>> average([Estimate(0.2, 0.1, 0.3), Estimate(0.4, 0.3, 0.5)]).value
        0.30000000000000004
    """
    shares = [1 / len(estimates)] * len(estimates)
    if weights:
        shares = [weight / sum(weights) for weight in weights]
    pairs = list(zip(shares, estimates, strict=True))
    value = sum(share * estimate.value for share, estimate in pairs)
    n = sum(estimate.n or 0 for estimate in estimates) or None
    mean = Estimate(value, n=n, decimals=estimates[0].decimals)
    unread = [estimate.unread for estimate in estimates if estimate.unread is not None]
    if len(unread) == len(estimates):
        mean = replace(mean, unread=fmean(unread))
    below = above = 0.0
    for share, estimate in pairs:
        if estimate.low is None or estimate.high is None:
            return mean
        below += (share * (estimate.value - estimate.low)) ** 2
        above += (share * (estimate.high - estimate.value)) ** 2
    return replace(mean, low=value - sqrt(below), high=value + sqrt(above))
