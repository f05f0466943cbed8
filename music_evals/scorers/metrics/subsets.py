"""Small sets of items that stand for a test.

Conventions: responses are scores from 0 to 1, a row per run of a model and a column per item. Kinds
are 0 and 1, a row per kind and a column per item.

Source: the choice is kernel herding on the responses (Y. Chen, M. Welling, A. Smola, "Super-samples
    from kernel herding", UAI 2010), with a bonus for discrimination.
"""

import numpy as np

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
    scale = np.linalg.norm(own, axis=0) * np.linalg.norm(rest, axis=0)
    correlations: Floats = (own * rest).sum(axis=0) / np.maximum(scale, _LEAST)
    return correlations


def choose_items(responses: Floats, kinds: Floats, size: int) -> list[int]:
    """Choose items one by one, so that each beginning of the result is a subset, too.

    The next item is the one that brings the score of each run, and the share of each kind, nearest
    to those on all items, with its discrimination as a bonus; of equals the first. With fewer than
    `LEAST_RUNS` runs there is no bonus.

    Example:
        >>> responses, kinds = np.array([[1, 1, 0, 0.0]]), np.array([[1, 0, 1, 0.0]])
        >>> choose_items(responses, kinds, 2)
        [0, 3]
    """
    bonus = discrimination(responses) * (len(responses) >= LEAST_RUNS)
    features = np.vstack([responses, kinds])
    excess = features - features.mean(axis=1, keepdims=True)
    order: list[int] = []
    for _ in range(size):
        total = excess[:, order].sum(axis=1, keepdims=True)
        cost = ((total + excess) ** 2).sum(axis=0) / len(responses) - bonus
        cost[order] = np.inf
        order.append(int(cost.argmin()))
    return order
