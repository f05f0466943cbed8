"""Figures for questions that are judged right or wrong: intervals, level-wise success, agreement.

Conventions: an outcome is 1 or True for right, 0 or False for wrong, None for no outcome; shares and intervals lie
between 0 and 1, intervals are two-sided 95%. Draws come from a fixed seed, so that the same outcomes give the same
interval.

Source: arXiv 2511.20697, section 3.3 (agreement with human judgement), 5.1 (level-wise success rate) and Table 3.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from music_evals.scorers.metrics.proportion import wilson_interval

EXACT_BELOW: Final = 25
"""Discordant pairs below which McNemar's test is exact: its chi-square approximation needs about 25."""

_ENDS: Final = (0.025, 0.975)
_CELLS: Final = 1_000_000  # drawn indices that are held at a time


class LevelSuccess(NamedTuple):
    """How many scores are mastered up to a level."""

    rate: float
    low: float
    high: float
    judged: int
    unjudged: int


class Agreement(NamedTuple):
    """The share of items on which judges agree."""

    share: float
    low: float
    high: float
    items: int


class McNemar(NamedTuple):
    """A comparison of two judgements of the same items."""

    statistic: float
    p: float
    judge_only: int
    human_only: int


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
    values = np.asarray(correct, dtype=float)
    if len(values) == 0:
        raise ValueError("correct is empty; an interval needs outcomes")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("correct holds something outside 0 to 1")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"clusters names {len(clusters)} items, correct has {len(values)}")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    rng = np.random.default_rng(seed)
    if clusters is None and np.isin(values, (0, 1)).all():
        # The number of right ones in a resample is binomial; there is no need to draw the items themselves.
        means = rng.binomial(len(values), values.mean(), resamples) / len(values)
    else:
        groups = range(len(values)) if clusters is None else clusters
        means = _resampled_means(values, groups, resamples, rng)
    low, high = np.quantile(means, _ENDS)
    return float(low), float(high)


def level_success(
    correct: Mapping[Hashable, Mapping[int, Sequence[bool | None]]], *, repetitions: int = 1
) -> dict[int, LevelSuccess]:
    """The level-wise success rate, LSR(l): the share of scores with every question at levels 1 to l right.

    A score fails level l where any question at levels up to l is wrong. Where none is wrong but one has no outcome, or
    the score has no question at one of the levels that others have, it is not judged and leaves the denominator. Levels
    at which no score is judged are left out.

    Args:
        correct: the outcomes of each score's questions, by level.
        repetitions: how many times each score was asked; the numbers of scores count each time, an interval does not.

    Raises:
        ValueError: `repetitions` is below 1.

    Example:
        >>> success = level_success({
        ...     "op. 1": {1: [True, True], 2: [True]},
        ...     "op. 2": {1: [True, True], 2: [False]},
        ...     "op. 3": {1: [True, None], 2: [True]},
        ... })
        >>> [(level, found.rate, found.judged, found.unjudged) for level, found in success.items()]
        [(1, 1.0, 2, 1), (2, 0.5, 2, 1)]
    """
    if repetitions < 1:
        raise ValueError(f"repetitions is {repetitions}; each score is asked at least once")
    levels = sorted({level for by_level in correct.values() for level in by_level})
    found: dict[int, LevelSuccess] = {}
    for number, level in enumerate(levels, start=1):
        states = [_mastered(by_level, levels[:number]) for by_level in correct.values()]
        judged = sum(state is not None for state in states)
        if not judged:
            continue
        rate = sum(state is True for state in states) / judged
        low, high = wilson_interval(rate, judged / repetitions)
        found[level] = LevelSuccess(rate, low, high, judged, len(states) - judged)
    return found


def inter_judge_agreement(
    votes: Sequence[Sequence[int | None]], *, resamples: int = 10_000, seed: int = 0
) -> Agreement | None:
    """The share of items on which all judges agree, over the items with at least two votes; None without any.

    An item has one vote a judge: 1, 0, or None where the judge abstains; else a ValueError is raised.
    """
    cast = [[vote for vote in item if vote is not None] for item in votes]
    if any(vote not in (0, 1) for item in cast for vote in item):
        raise ValueError("votes hold something else than 1, 0 and None")
    unanimous = [float(len(set(item)) == 1) for item in cast if len(item) > 1]
    if not unanimous:
        return None
    low, high = bootstrap_interval(unanimous, resamples=resamples, seed=seed)
    return Agreement(sum(unanimous) / len(unanimous), low, high, len(unanimous))


def pearson(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Pearson's correlation and its two-sided p; of two sequences of 0 and 1 it is the phi coefficient.

    Both are NaN, not defined, where there are fewer than two pairs or one side is constant.

    Raises:
        ValueError: the lengths differ.
    """
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} numbers, y has {len(y)}; they go in pairs")
    if len(set(x)) < 2 or len(set(y)) < 2:
        return float("nan"), float("nan")
    result = stats.pearsonr(x, y)
    return float(result.statistic), float(result.pvalue)


def mcnemar(judge: Sequence[int], human: Sequence[int]) -> McNemar:
    """McNemar's test: do two judgements (1 or 0) of the same items say "right" equally often?

    Below `EXACT_BELOW` discordant pairs the test is exact (two-sided binomial, the statistic is the smaller of the two
    counts); from there on it is chi-square with one degree of freedom and the continuity correction.

    Raises:
        ValueError: the lengths differ, or something is neither 1 nor 0.

    Source: Q. McNemar, Psychometrika 12 (1947); A. L. Edwards, Psychometrika 13 (1948), for the correction.
    """
    if len(judge) != len(human):
        raise ValueError(f"judge has {len(judge)} labels, human has {len(human)}; they go in pairs")
    if not {*judge, *human} <= {0, 1}:
        raise ValueError("judge and human hold something else than 1 and 0")
    pairs = list(zip(judge, human, strict=True))
    judge_only, human_only = pairs.count((1, 0)), pairs.count((0, 1))
    discordant = judge_only + human_only
    if discordant < EXACT_BELOW:
        fewer = min(judge_only, human_only)
        p = min(1.0, 2 * float(stats.binom.cdf(fewer, discordant, 0.5)))
        return McNemar(float(fewer), p, judge_only, human_only)
    statistic = (abs(judge_only - human_only) - 1) ** 2 / discordant
    return McNemar(statistic, float(stats.chi2.sf(statistic, 1)), judge_only, human_only)


def _resampled_means(
    values: npt.NDArray[np.float64], groups: Sequence[Hashable], resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    belongs = np.array([number[group] for group in groups])
    totals = np.bincount(belongs, weights=values)
    sizes = np.bincount(belongs)
    at_once = max(1, _CELLS // len(sizes))
    means = []
    for start in range(0, resamples, at_once):
        drawn = rng.integers(0, len(sizes), (min(at_once, resamples - start), len(sizes)))
        means.append(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def _mastered(by_level: Mapping[int, Sequence[bool | None]], levels: Sequence[int]) -> bool | None:
    """Whether everything at these levels is right; None where that is not known."""
    outcomes = [outcome for level in levels for outcome in by_level.get(level) or [None]]
    if any(outcome is not None and not outcome for outcome in outcomes):
        return False
    return None if None in outcomes else True
