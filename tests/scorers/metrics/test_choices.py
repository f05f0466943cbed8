"""Figures of four-option questions, against worked cases, scikit-learn and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.metrics.choices import choice_figures, f1_interval


def test_a_worked_case():
    # 100 questions, 80 answered, 48 of them right: P = 0.6, R = 0.48, F1 = 2 * 0.6 * 0.48 / 1.08 =
    # 0.53333
    figures = choice_figures(right=48, answered=80, responses=100, questions=100)
    assert [figures[name].value for name in ("precision", "accuracy", "f1")] == pytest.approx(
        [0.6, 0.48, 0.5333333]
    )
    # Wilson's interval for 48 of 100, by hand: (0.48 + 0.019207 ± 0.099825) / 1.038414... = 0.3846,
    # 0.5768
    assert (figures["accuracy"].low, figures["accuracy"].high) == pytest.approx(
        (0.3846, 0.5768), abs=1e-4
    )


@pytest.mark.parametrize(  # rows of the paper's Table 1, comprehension
    ("precision", "recall", "f1"),
    [(63.15, 62.93, 63.04), (64.2, 45.86, 53.5), (35.95, 14.54, 20.7), (60, 11.06, 18.68)],
)
def test_f1_is_the_papers(precision, recall, f1):
    responses = 14_244
    right = round(recall / 100 * responses)
    answered = round(right / (precision / 100))
    assert 100 * choice_figures(right, answered, responses, responses)["f1"].value == pytest.approx(
        f1, abs=0.015
    )


def test_nothing_answered():
    figures = choice_figures(0, 0, 20, 20)
    precision, f1 = figures["precision"], figures["f1"]
    assert (precision.value, precision.low, precision.high) == (0, 0, 1)
    assert (f1.value, f1.low) == (0, 0)
    assert f1.high is not None
    assert f1.high < 0.2


def test_repetitions_do_not_narrow_an_interval():
    once = choice_figures(30, 40, 60, 60)
    four_times = choice_figures(120, 160, 240, 60)
    for name, figure in once.items():
        again = four_times[name]
        assert (again.value, again.low, again.high) == pytest.approx(
            (figure.value, figure.low, figure.high)
        )


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 80))
def test_the_figure_lies_in_its_interval(right: int, wrong: int, unanswered: int) -> None:
    responses = max(1, right + wrong + unanswered)
    figures = choice_figures(right, right + wrong, responses, responses)
    for figure in figures.values():
        assert figure.low is not None
        assert figure.high is not None
        assert 0 <= figure.low <= figure.value + 1e-9
        assert figure.value - 1e-9 <= figure.high <= 1


def test_the_interval_of_f1_covers_as_often_as_it_says():
    rng = np.random.default_rng(1)
    for probabilities in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.8, 0.15, 0.05]):
        truth = 2 * probabilities[0] / (2 - probabilities[2])
        draws = rng.multinomial(60, probabilities, size=400)
        covered = [
            low <= truth <= high for low, high in (f1_interval(*map(int, draw)) for draw in draws)
        ]
        assert 0.92 <= np.mean(covered) <= 0.985  # three standard errors of 400 draws around 0.95
