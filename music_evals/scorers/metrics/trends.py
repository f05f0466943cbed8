"""Scores of checkpoints in their order: steps between neighbours, a trend, and the best of them.

Conventions: scores are from 0 to 1, in the order of training. Checkpoints wobble: training again
from nearly the same state gives another score, beyond the noise of the questions. The tests take
the wobble from the other checkpoints of the curve, together with what is supposed of it: a standard
deviation of `WOBBLE`, which counts as much as `_SUPPOSED` further checkpoints. So two checkpoints
can be told apart, and more of them replace the supposition.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from music_evals.scorers.metrics.resampling import Floats, Names, numbered

WOBBLE = 0.03
_SUPPOSED = 4.0  # degrees of freedom
# Neighbouring changes share a checkpoint, so their squares are correlated.
_WORTH_OF_A_CHANGE = 2 / 3  # degrees of freedom
_HALVES = 500


class Trend(NamedTuple):
    """The rise from the first to the last checkpoint, by a line, with its 95% interval and p."""

    rise: float
    low: float
    high: float
    p: float


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


def trend_test(scores: Floats, variance: float) -> Trend:
    """Fit a line to scores by the number of the checkpoint, and test its slope.

    Args:
        scores: of three checkpoints or more.
        variance: of the change between two checkpoints by its questions alone.
    """
    from scipy import stats

    places = np.arange(len(scores)) - (len(scores) - 1) / 2
    spread = float((places**2).sum())
    slope = float(places @ scores) / spread
    residuals = scores - scores.mean() - slope * places
    freedom = _SUPPOSED + len(scores) - 2
    supposed = _SUPPOSED * (variance / 2 + WOBBLE**2)
    error = sqrt((supposed + float((residuals**2).sum())) / freedom / spread)
    rise, half = (len(scores) - 1) * np.array([slope, stats.t.ppf(0.975, freedom) * error])
    p = 2 * stats.t.sf(abs(slope) / error, freedom)
    return Trend(float(rise), float(rise - half), float(rise + half), float(p))


def score_of_chosen(values: Floats, weights: Floats, clusters: Names) -> float:
    """Return what the best checkpoint scores on questions that did not choose it.

    It is the mean over random halves of the clusters: one half chooses, the other one scores. With
    the score of the best on all questions, luck counts as skill.

    Args:
        values: a row per question and a column per checkpoint.
        weights: of the questions.
        clusters: of the questions, two or more.
    """
    places = numbered(clusters)
    count = places.max() + 1
    totals, sizes = np.zeros((count, values.shape[1])), np.zeros((count, 1))
    np.add.at(totals, places, weights[:, None] * values)
    np.add.at(sizes, places, weights[:, None])
    rng = np.random.default_rng(0)
    halves = rng.permuted(np.tile(np.arange(count) % 2, (_HALVES, 1)), axis=1)
    choosing, scoring = ((half @ totals) / (half @ sizes) for half in (halves, 1 - halves))
    return float(scoring[np.arange(_HALVES), choosing.argmax(axis=1)].mean())
