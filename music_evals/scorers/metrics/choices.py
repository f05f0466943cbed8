"""Figures for four-option questions that a model may leave unanswered.

Conventions: every response is right, wrong, or has no answer. There are ``N`` responses; ``V`` have
an answer and ``C`` are right. Responses to one question (repetitions, rotations of its options) are
not independent, so an interval counts each question once. Shares lie between 0 and 1.

Source: arXiv 2406.15885, section 4.1 (precision, recall, F1) and 6.1 (chosen letters).
"""

from functools import lru_cache

import numpy as np

from music_evals.scorers.metrics.estimates import Estimate, Estimates, share
from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.metrics.resampling import Interval, middle95

LETTERS = "ABCD"
_DRAWS = 4000


def choice_figures(right: int, answered: int, responses: int, questions: int) -> Estimates:
    """Return ``accuracy`` (= recall), ``precision`` and ``f1`` with 95% intervals.

    Without any answer precision and F1 are 0, as the paper has them, and precision's interval is 0
    to 1.

    Args:
        right: number of right responses, ``C``.
        answered: number of responses that hold an answer, ``V``, at least ``C``.
        responses: number of responses, ``N``, at least ``V`` and 1.
        questions: number of different questions among them, from 1 to ``N``.

    Example:
        >>> figures = choice_figures(right=30, answered=40, responses=60, questions=60)
        >>> figures["accuracy"].value, figures["precision"].value, figures["f1"].value
        (0.5, 0.75, 0.6)
    """
    each = questions / responses
    precision = right / answered if answered else 0.0
    precision_interval = wilson_interval(precision, answered * each) if answered else (0.0, 1.0)
    f1 = 2 * right / (answered + responses)
    f1_ends = f1_interval(right * each, (answered - right) * each, (responses - answered) * each)
    return {
        "accuracy": share(right / responses, questions),
        "precision": Estimate(precision, *precision_interval, round(answered * each)),
        "f1": Estimate(f1, *f1_ends, questions),
    }


@lru_cache(maxsize=4096)
def f1_interval(right: float, wrong: float, unanswered: float) -> Interval:
    """A 95% interval for F1 = 2C / (V + N), from the numbers of right, wrong and unanswered
    responses.

    It is the middle 95% of F1 over draws from the posterior of their probabilities under Jeffreys'
    prior, with a fixed seed. Unlike a bootstrap interval it has a width at 0 and 1. Numbers may be
    fractional if responses are not independent.

    Source: C. Goutte and E. Gaussier, "A probabilistic interpretation of precision, recall and
        F-score, with implication for evaluation", ECIR 2005; there with two outcomes less the
        unanswered one.
    """
    rng = np.random.default_rng(0)
    p_right, p_wrong, p_none = rng.dirichlet([right + 0.5, wrong + 0.5, unanswered + 0.5], _DRAWS).T
    low, high = middle95(2 * p_right / (2 * p_right + 2 * p_wrong + p_none))
    # The interval of a corner must reach the corner: nothing observed speaks against it.
    return (0.0 if right == 0 else low), (1.0 if wrong == unanswered == 0 else high)
