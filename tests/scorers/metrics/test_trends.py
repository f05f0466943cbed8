"""Steps and trends of checkpoints, against SciPy and simulations of checkpoints that wobble."""

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from music_evals.scorers.metrics.paired import holm
from music_evals.scorers.metrics.trends import WOBBLE, score_of_chosen, step_tests, trend_p

QUESTIONS = 240


def curve(rng, checkpoints, rise=0):
    """Right and wrong answers of checkpoints that wobble by three points."""
    means = 0.5 + rise * np.linspace(0, 1, checkpoints) + rng.normal(0, WOBBLE, checkpoints)
    hardness = rng.normal(0, 1, (QUESTIONS, 1))
    luck = sqrt(0.6) * hardness + sqrt(0.4) * rng.normal(0, 1, (QUESTIONS, checkpoints))
    return (luck < stats.norm.ppf(means)).astype(float)


def ps_of(answers):
    """The smallest corrected p of a step, and p of the trend."""
    variances = np.diff(answers, axis=1).var(axis=0, ddof=1) / QUESTIONS
    scores = answers.mean(axis=0)
    steps = holm(step_tests(np.diff(scores), variances))
    return min(steps), trend_p(scores)


@pytest.mark.parametrize("checkpoints", [3, 5, 10])
def test_checkpoints_that_wobble_seldom_alarm(checkpoints):
    """Tests by the questions alone alarmed in 22 to 44% of such tables."""
    rng = np.random.default_rng(checkpoints)
    ps = np.array([ps_of(curve(rng, checkpoints)) for _ in range(400)])
    # The test of the trend is exact, so it is 5% but for the luck of the draws.
    assert ((ps < 0.05).mean(axis=0) <= (0.05, 0.07)).all()


def test_a_rise_is_a_trend_and_a_jump_is_a_step():
    rng = np.random.default_rng(1)
    trends = [ps_of(curve(rng, 8, rise=0.2))[1] for _ in range(100)]
    assert np.mean(np.array(trends) < 0.05) > 0.9
    variances = np.full(4, 0.001)
    assert holm(step_tests(np.array([0.01, 0.3, -0.01, 0.02]), variances))[1] < 0.01
    # As large as the other changes: no step.
    assert min(step_tests(np.array([-0.3, 0.3, -0.31, 0.32]), variances)) > 0.1


@pytest.mark.parametrize("scores", [[0.2, 0.4, 0.3, 0.5, 0.6], [0.5, 0.3, 0.3, 0.1]])
def test_p_of_a_trend_is_the_share_of_all_orders(scores):
    places = np.arange(len(scores))
    slopes = [abs(np.polyfit(places, order, 1)[0]) for order in permutations(scores)]
    steep = abs(np.polyfit(places, scores, 1)[0])
    assert trend_p(np.array(scores)) == pytest.approx(np.mean(np.array(slopes) >= steep - 1e-12))


def test_the_best_of_equal_checkpoints_is_no_better():
    rng = np.random.default_rng(6)
    best, fair = [], []
    for _ in range(100):
        answers = (rng.random((60, 8)) < 0.5).astype(float)
        best.append(answers.mean(axis=0).max())
        fair.append(score_of_chosen(answers, range(60)))
    assert np.mean(best) > 0.58
    assert np.mean(fair) == pytest.approx(0.5, abs=0.015)


def test_a_checkpoint_that_is_better_everywhere_keeps_its_score():
    answers = np.tile([0.2, 0.9, 0.4], (20, 1))
    assert score_of_chosen(answers, "ab" * 10) == pytest.approx(0.9)
