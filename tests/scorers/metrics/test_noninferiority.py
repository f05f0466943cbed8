"""Non-inferiority, against Tango's example, the likelihood, and simulations."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from music_evals.scorers.metrics.noninferiority import questions_needed, score_statistic, verdict
from music_evals.scorers.metrics.paired import compare


def test_the_example_of_the_paper():
    """Tango 1998: 44 pairs, one lost and none gained, and a margin of 0.1 give 1.709."""
    assert score_statistic(1, 0, 44, 0.1) == pytest.approx(1.709, abs=5e-4)


@pytest.mark.parametrize(
    ("lost", "gained", "pairs", "margin"),
    [(3, 1, 44, 0.1), (12, 5, 84, 0.03), (100, 60, 1433, 0.03)],
)
def test_the_statistic_is_that_at_the_largest_likelihood(lost, gained, pairs, margin):
    def unlikeliness(share):
        same = (pairs - lost - gained) * np.log(1 - 2 * share + margin)
        return -float(lost * np.log(share) + gained * np.log(share - margin) + same)

    ends = (margin + 1e-12, (1 + margin) / 2 - 1e-12)
    share = minimize_scalar(unlikeliness, bounds=ends, options={"xatol": 1e-12}).x
    variance = (2 * share - margin - margin**2) / pairs
    expected = ((gained - lost) / pairs + margin) / np.sqrt(variance)
    assert score_statistic(lost, gained, pairs, margin) == pytest.approx(expected, rel=1e-5)


def drawn(rng, pairs, drop):
    """Two runs that differ on a fifth of the questions, or more."""
    differing = max(0.2, drop)
    shares = [(differing + drop) / 2, (differing - drop) / 2, 1 - differing]
    lost, gained, same = rng.multinomial(pairs, shares)
    first = [1.0] * lost + [0.0] * gained + [1.0] * same
    return compare(first, [0.0] * lost + [1.0] * gained + [1.0] * same)


@pytest.mark.parametrize(
    ("pairs", "drop", "least"),
    [
        (84, 0.0, {"too few questions": 0.8}),
        (84, 0.02, {"too few questions": 0.8}),
        (84, 0.03, {"too few questions": 0.9}),
        (84, 0.3, {"worse": 0.95}),
        (1433, 0.02, {"too few questions": 0.8}),
        (1433, 0.03, {"too few questions": 0.9}),
        (1433, 0.08, {"worse": 0.95}),
        (4000, 0.0, {"no worse": 0.95}),
    ],
)
def test_states_by_questions_and_drop(pairs, drop, least):
    rng = np.random.default_rng(2)
    states = [verdict(drawn(rng, pairs, drop), 0.03) for _ in range(400)]
    for state, share in least.items():
        assert states.count(state) >= share * 400  # type: ignore[arg-type]
    # Of a drop of 2 none is called worse, and of one of 3 at most so many either way.
    assert states.count("worse") <= 0.04 * 400 or drop > 0.03
    assert states.count("no worse") <= 0.04 * 400 or drop < 0.03


def test_the_number_of_questions_shows_it_in_four_of_five_cases():
    rng = np.random.default_rng(3)
    needed = questions_needed(drawn(rng, 20_000, 0), 0.03)
    assert needed
    states = [verdict(drawn(rng, needed, 0), 0.03) for _ in range(400)]
    assert states.count("no worse") / 400 == pytest.approx(0.8, abs=0.06)
    assert questions_needed(drawn(rng, 100, 0), 0) is None


def test_pieces_count_as_one():
    """All answers on a piece changed together: ten pieces cannot hold the gate."""
    pieces = [piece for piece in range(10) for _ in range(100)]
    first = [float(piece < 8) for piece in pieces]
    second = [float(piece in (0, 1, 2, 3, 4, 5, 6, 8)) for piece in pieces]
    assert verdict(compare(first, second, pieces), 0.03) == "too few questions"
    assert verdict(compare(first, second), 0.03) == "no worse"
