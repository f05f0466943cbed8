"""Figures for questions that are judged right or wrong: level-wise success, and agreement of
judges.

Conventions: an outcome is 1 or True for right, 0 or False for wrong, None for no outcome.

Source: arXiv 2511.20697, section 3.3 (agreement with human judgement), 5.1 (level-wise success
rate) and Table 3.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from music_evals.scorers.metrics.estimates import Estimate, share


def level_success(
    correct: Mapping[Hashable, Mapping[int, Sequence[bool | None]]], *, repetitions: int = 1
) -> dict[int, Estimate]:
    """The level-wise success rate, LSR(l): the share of scores with every question at levels 1 to l
    right.

    A score with a question at levels 1 to l that has no outcome, or with no question at one of
    them, does not count, also if another question is wrong: otherwise it could fail and not
    succeed. Levels without a score that counts are left out.

    Args:
        correct: the outcomes of each score's questions, by level.
        repetitions: how often each score was asked; intervals count each score once.

    Returns:
        Level → the rate over judged scores with Wilson's 95% interval.

    Example:
        >>> success = level_success({
        ...     "op. 1": {1: [True, True], 2: [True]},
        ...     "op. 2": {1: [True, True], 2: [False]},
        ...     "op. 3": {1: [True, None], 2: [True]},
        ... })
        >>> [(level, rate.value, rate.n) for level, rate in success.items()]
        [(1, 1.0, 2), (2, 0.5, 2)]
    """
    levels = sorted({level for by_level in correct.values() for level in by_level})
    rates = {}
    for number, level in enumerate(levels, start=1):
        states = [_mastered(by_level, levels[:number]) for by_level in correct.values()]
        if judged := len(states) - states.count(None):
            rate = share(states.count(True) / judged, judged / repetitions)
            rates[level] = replace(rate, n=judged)
    return rates


def unanimity(votes: Sequence[Sequence[int | None]]) -> list[float]:
    """Whether all judges agree on each item with at least two votes: 1 or 0; None is a judge that
    abstains.
    """
    cast = [[vote for vote in item if vote is not None] for item in votes]
    return [float(len(set(item)) == 1) for item in cast if len(item) > 1]


def joint_agreement(
    questions: Sequence[Mapping[str, Any]], clusters: Sequence[Hashable]
) -> Estimate | None:
    """The share of questions on which all judges and a person agree, with a percentile bootstrap
    interval.

    A question counts if every judge votes on it and a person has labelled it.

    Args:
        questions: each with its ``votes`` by judge and ``human``, the person's label; the values
            are outcomes.
        clusters: the cluster of each question, such as the score that it is on; the bootstrap draws
            whole clusters.

    Returns:
        The estimate, without an interval if there is one cluster; None if no question counts.

    Source: arXiv 2511.20697, section 3.3 and Appendix G.

    Example:
        >>> votes = {"a": 1, "b": 1}
        >>> questions = [{"votes": votes, "human": 1}, {"votes": votes, "human": 0}]
        >>> joint_agreement(questions, ["op. 1", "op. 1"]).value
        0.5
    """
    from scipy.stats import bootstrap

    by_cluster = defaultdict(list)
    for question, cluster in zip(questions, clusters, strict=True):
        outcomes = {*question["votes"].values(), question["human"]}
        if question["votes"] and None not in outcomes:
            by_cluster[cluster].append(len(outcomes) == 1)
    if not by_cluster:
        return None
    agreed, sizes = (list(map(count, by_cluster.values())) for count in (sum, len))
    found = Estimate(sum(agreed) / sum(sizes), n=sum(sizes))
    if len(sizes) == 1:
        return found
    drawn = bootstrap(
        (agreed, sizes),
        lambda agreed, sizes, axis: agreed.sum(axis) / sizes.sum(axis),
        paired=True,
        method="percentile",
        rng=0,
    )
    low, high = map(float, drawn.confidence_interval)
    return replace(found, low=low, high=high)


def _mastered(by_level: Mapping[int, Sequence[bool | None]], levels: Sequence[int]) -> bool | None:
    """Whether all questions at these levels are right; None if that is unknown."""
    outcomes = list(chain.from_iterable(by_level.get(level) or [None] for level in levels))
    return None if None in outcomes else all(outcomes)
