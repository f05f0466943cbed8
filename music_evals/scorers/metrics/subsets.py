"""Small sets of items that stand for a test: how they are chosen, and what a score on them says.

Conventions: responses are an array, a row per run of a model and a column per item, of scores from 0
to 1. Kinds are an array of 0 and 1, a row per kind and a column per item.

Source: the choice is kernel herding on the responses (Y. Chen, M. Welling, A. Smola, "Super-samples
    from kernel herding", UAI 2010), with a bonus for discrimination.
"""

import numpy as np

from music_evals.scorers.metrics.estimates import Estimate, difference
from music_evals.scorers.metrics.resampling import Floats

LEAST_RUNS = 8
"""Number of runs from which on discrimination counts."""
_LEAST = 1e-12


def discrimination(responses: Floats) -> Floats:
    """Return the correlation of each item with the score on the other items; 0 for an item on which
    all runs are alike.

    Example:
        >>> discrimination(np.array([[0, 0, 1], [1, 0, 1], [1, 1, 0.0]])).round(2).tolist()
        [0.0, -0.5, -0.87]
    """
    rest = responses.sum(axis=1, keepdims=True) - responses
    own, rest = responses - responses.mean(axis=0), rest - rest.mean(axis=0)
    scale = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
    correlations: Floats = (own * rest).sum(axis=0) / np.maximum(scale, _LEAST)
    return correlations


def choose_items(responses: Floats, kinds: Floats, size: int) -> list[int]:
    """Choose items one by one, so that each beginning of the result is a subset, too.

    The next item is the one that brings the score of each run, and the share of each kind, nearest
    to those on all items, with its discrimination as a bonus. With fewer than `LEAST_RUNS` runs
    there is no bonus.

    Example:
        >>> responses, kinds = np.array([[1, 1, 0, 0.0]]), np.array([[1, 0, 1, 0.0]])
        >>> choose_items(responses, kinds, 2)
        [0, 3]
    """
    bonus = np.random.default_rng(0).random(responses.shape[1]) * _LEAST  # decides ties
    if len(responses) >= LEAST_RUNS:
        bonus += discrimination(responses)
    features = np.vstack([responses, kinds])
    excess = features - features.mean(axis=1, keepdims=True)
    total = np.zeros((len(features), 1))
    order: list[int] = []
    for _ in range(size):
        cost = ((total + excess) ** 2).sum(axis=0) / len(responses) - bonus
        cost[order] = np.inf
        order.append(int(cost.argmin()))
        total += excess[:, order[-1:]]
    return order


def full_score(score: Estimate, error: float, models: int) -> Estimate:
    """Return the score on a subset as an estimate of that on all items.

    Its interval is wider than that of the items alone: the error that cross-validation over so many
    models found, times Student's t, is added in squares.

    Example:
        >>> full_score(Estimate(50, 40, 60), 4, 12).high
        63.3...
    """
    from scipy.stats import t

    error *= float(t.ppf(0.975, models - 1))
    return difference(score, Estimate(0, -error, error))
