"""Figures by name, as a log holds them: a value with its interval, and the figures of a group."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import isnan, nan
from typing import TypeVar

from music_evals.scorers.metrics.clustered import macro_mean, mean_interval
from music_evals.scorers.metrics.proportion import wilson_interval

T = TypeVar("T")


def with_interval(name: str, value: float, interval: tuple[float, float]) -> dict[str, float]:
    """Name a figure and the ends of its interval.

    Example:
        >>> with_interval("f1", 0.5, (0.4, 0.6))
        {'f1': 0.5, 'f1_low': 0.4, 'f1_high': 0.6}
    """
    low, high = interval
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def share(name: str, value: float, n: float) -> dict[str, float]:
    """Name a share of `n` trials, with Wilson's 95% interval."""
    return with_interval(name, value, wilson_interval(value, n))


def mean(
    name: str,
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> dict[str, float]:
    """Name the mean of values from 0 to 1, with the interval of `mean_interval`, or a note why it has none."""
    value = macro_mean(values, strata) if strata else sum(values) / len(values)
    found = with_interval(name, value, mean_interval(values, clusters, strata))
    if isnan(found[f"{name}_low"]):
        which = "all values of a category" if strata else "all values"
        found[f"{name} note: there is no interval, because {which} are of one sample"] = nan
    return found


def each(groups: Mapping[str, T], figures_of: Callable[[T], Mapping[str, float]]) -> dict[str, float]:
    """Name the figures of groups: ``f1`` of ``blues`` is ``blues/f1``."""
    return {f"{group}/{name}": value for group, some in groups.items() for name, value in figures_of(some).items()}
