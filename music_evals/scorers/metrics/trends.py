"""Scores of checkpoints in their order: steps between neighbours, a trend, and the best of them.

Conventions: scores are from 0 to 1, in the order of training. Checkpoints wobble: training again
from nearly the same state gives another score, beyond the noise of the questions. The tests take
the wobble from the other checkpoints of the curve, together with what is supposed of it: a standard
deviation of `WOBBLE`, which counts as much as `_SUPPOSED` further checkpoints. So two checkpoints
can be told apart, and more of them replace the supposition. A trend needs no supposition.
"""

import numpy as np

from music_evals.scorers.metrics.resampling import Floats, Names, numbered

WOBBLE = 0.03
_SUPPOSED = 4.0  # degrees of freedom
# Neighbouring changes share a checkpoint, so their squares are correlated.
_WORTH_OF_A_CHANGE = 2 / 3  # degrees of freedom
_HALVES = 200


def step_tests(changes: Floats, variances: Floats) -> list[float]:
    """Return p of each change between neighbours, two-sided, which allows for wobble.

    Args:
        changes: one less than there are checkpoints.
        variances: of the changes by their questions alone.

    Source: the supposed variance is joined with the measured one as by G. K. Smyth, "Linear models
        and empirical Bayes methods for assessing differential expression in microarray
        experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004).
    """
    from scipy import stats

    supposed = _SUPPOSED * (variances + 2 * WOBBLE**2)
    others = _WORTH_OF_A_CHANGE * ((changes**2).sum() - changes**2)
    freedom = _SUPPOSED + _WORTH_OF_A_CHANGE * (len(changes) - 1)
    deviates = np.abs(changes) / np.sqrt((supposed + others) / freedom)
    ps: list[float] = (2 * stats.t.sf(deviates, freedom)).tolist()
    return ps


def trend_p(scores: Floats) -> float:
    """Return p of a trend: of a rise or fall by the number of the checkpoint, two-sided.

    It is the share of orders of the checkpoints in which a line is as steep: all orders up to seven
    checkpoints, else 9,999 of them. So checkpoints may wobble as they like, if each does so on its
    own; fewer than five never have a p below 0.05.
    """
    from scipy import stats

    places = np.arange(len(scores))
    return float(
        stats.permutation_test(
            (scores - scores.mean(),),
            lambda ordered, axis: ordered @ places,
            permutation_type="pairings",
            n_resamples=9_999,
            rng=0,
        ).pvalue
    )


def score_of_chosen(values: Floats, clusters: Names) -> float:
    """Return what the best checkpoint scores on questions that did not choose it.

    It is the mean over random halves of the clusters: one half chooses, the other one scores. With
    the score of the best on all questions, luck counts as skill.

    Args:
        values: a row per question and a column per checkpoint.
        clusters: of the questions, two or more.
    """
    places = numbered(clusters)
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(_HALVES):
        is_choosing = (rng.permutation(places.max() + 1) % 2 == 0)[places]
        best = values[is_choosing].mean(axis=0).argmax()
        scores.append(values[~is_choosing, best].mean())
    return float(np.mean(scores))
