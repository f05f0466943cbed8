"""A judge's scores, corrected by those of a person on some of the items."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from music_evals.scorers.metrics.estimates import Estimate, difference, share
from music_evals.scorers.metrics.resampling import Names, numbered


def corrected_mean(
    judged: Sequence[float], labels: Sequence[float | None], clusters: Names
) -> Estimate | None:
    """Return the mean of a person's scores of all items, of which the person scored some.

    The judge's scores of all items help as far as they agree with the person's. The interval is
    Student's, over clusters. None if the person scored items of one cluster, or fewer.

    Args:
        judged: the judge's score of each item, from 0 to 1.
        labels: the person's score of each item; None where there is none. The items that have one
            are a random sample.
        clusters: the cluster of each item.

    Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient prediction-powered
        inference", arXiv 2311.01453, section 6, for the mean.
    """
    from scipy import stats

    scores, people = np.asarray(judged, float), np.asarray(labels, float)  # None becomes NaN
    known = ~np.isnan(people)
    groups = numbered(clusters)
    labelled = len(np.unique(groups[known]))
    if labelled < 2:
        return None
    weight = 0.0
    others = scores[~known]
    if len(others) and scores.var():
        covariance = np.cov(people[known], scores[known])[0, 1]
        best = covariance / scores.var(ddof=1) / (1 + known.sum() / len(others))
        weight = float(np.clip(best, 0, 1))
    rest = people[known] - weight * scores[known]
    influence = np.zeros(len(scores))
    influence[known] = (rest - rest.mean()) / len(rest)
    mean = float(rest.mean())
    if weight:
        influence[~known] = weight * (others - others.mean()) / len(others)
        mean += weight * float(others.mean())
    variance = labelled / (labelled - 1) * (np.bincount(groups, influence) ** 2).sum()
    half = float(stats.t.ppf(0.975, labelled - 1)) * sqrt(variance)
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), len(scores))


def youden(verdicts: Sequence[float], labels: Sequence[float]) -> Estimate | None:
    """Return Youden's J of a judge: the share of right answers that it calls right, minus that of
    wrong ones. None without right, or without wrong answers.

    Args:
        verdicts: 1 or 0 by the judge.
        labels: 1 or 0 by a person, or by how a statement was made.

    Example:
        >>> youden([1, 1, 0, 0, 1], [1, 1, 1, 0, 0]).value
        0.16666666666666663
    """
    pairs = list(zip(verdicts, labels, strict=True))
    right, wrong = ([verdict for verdict, label in pairs if label == value] for value in (1, 0))
    if not right or not wrong:
        return None
    first, second = (share(sum(group) / len(group), len(group)) for group in (right, wrong))
    return difference(first, second)
