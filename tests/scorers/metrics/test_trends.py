"""Steps and trends of checkpoints, against SciPy and simulations of checkpoints that wobble."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from music_evals.scorers.metrics.paired import holm
from music_evals.scorers.metrics.trends import WOBBLE, score_of_chosen, step_tests, trend_test

QUESTIONS = 240


def curve(rng: np.random.Generator, checkpoints: int, rise: float = 0) -> np.ndarray:
    """Right and wrong answers of checkpoints that wobble by three points."""
    means = 0.5 + rise * np.linspace(0, 1, checkpoints) + rng.normal(0, WOBBLE, checkpoints)
    hardness = rng.normal(0, 1, (QUESTIONS, 1))
    luck = sqrt(0.6) * hardness + sqrt(0.4) * rng.normal(0, 1, (QUESTIONS, checkpoints))
    return (luck < stats.norm.ppf(means)).astype(float)


def ps_of(answers: np.ndarray) -> tuple[float, float]:
    """The smallest corrected p of a step, and p of the trend."""
    variances = np.diff(answers, axis=1).var(axis=0, ddof=1) / QUESTIONS
    scores = answers.mean(axis=0)
    steps = holm(step_tests(np.diff(scores), variances))
    return min(steps), trend_test(scores, float(variances.mean())).p


@pytest.mark.parametrize("checkpoints", [3, 5, 10])
def test_checkpoints_that_wobble_seldom_alarm(checkpoints: int) -> None:
    """Tests by the questions alone alarmed in 22 to 44% of such tables."""
    rng = np.random.default_rng(checkpoints)
    ps = np.array([ps_of(curve(rng, checkpoints)) for _ in range(400)])
    assert ((ps < 0.05).mean(axis=0) <= 0.05).all()


def test_a_rise_is_a_trend_and_a_jump_is_a_step() -> None:
    rng = np.random.default_rng(1)
    trends = [ps_of(curve(rng, 8, rise=0.2))[1] for _ in range(100)]
    assert np.mean(np.array(trends) < 0.05) > 0.9
    variances = np.full(4, 0.001)
    assert holm(step_tests(np.array([0.01, 0.3, -0.01, 0.02]), variances))[1] < 0.01
    # As large as the other changes: no step.
    assert min(step_tests(np.array([-0.3, 0.3, -0.31, 0.32]), variances)) > 0.1


def test_a_line_is_that_of_scipy() -> None:
    """With many checkpoints the supposed wobble hardly counts."""
    rng = np.random.default_rng(2)
    scores = 0.3 + 0.001 * np.arange(400) + rng.normal(0, 0.05, 400)
    expected = stats.linregress(np.arange(400), scores)
    trend = trend_test(scores, 2 * (0.05**2 - WOBBLE**2))
    assert trend.rise == pytest.approx(399 * expected.slope)
    half = 399 * expected.stderr * stats.t.ppf(0.975, 402)
    assert trend.high - trend.rise == pytest.approx(half, rel=0.02)


def test_the_best_of_equal_checkpoints_is_no_better() -> None:
    rng = np.random.default_rng(6)
    best, fair = [], []
    for _ in range(100):
        answers = (rng.random((60, 8)) < 0.5).astype(float)
        best.append(answers.mean(axis=0).max())
        fair.append(score_of_chosen(answers, np.ones(60), range(60)))
    assert np.mean(best) > 0.58
    assert np.mean(fair) == pytest.approx(0.5, abs=0.015)


def test_a_checkpoint_that_is_better_everywhere_keeps_its_score() -> None:
    answers = np.tile([0.2, 0.9, 0.4], (20, 1))
    assert score_of_chosen(answers, np.ones(20), "ab" * 10) == pytest.approx(0.9)
