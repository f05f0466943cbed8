"""Parts of the variance, against a published analysis; and the interval over wordings."""

import numpy as np
import pytest
from scipy.stats import norm

from music_evals.scorers.metrics.components import variance_components, wordings_interval

# Ten parts, measured three times by each of three people: "Measurement Systems Analysis" of the AIAG.
PARTS = """
0.29 0.41 0.64 0.08 0.25 0.07 0.04 -0.11 -0.15
-0.56 -0.68 -0.58 -0.47 -1.22 -0.68 -1.38 -1.13 -0.96
1.34 1.17 1.27 1.19 0.94 1.34 0.88 1.09 0.67
0.47 0.50 0.64 0.01 1.03 0.20 0.14 0.20 0.11
-0.80 -0.92 -0.84 -0.56 -1.20 -1.28 -1.46 -1.07 -1.45
0.02 -0.11 -0.21 -0.20 0.22 0.06 -0.29 -0.67 -0.49
0.59 0.75 0.66 0.47 0.55 0.83 0.02 0.01 0.21
-0.31 -0.20 -0.17 -0.63 0.08 -0.34 -0.46 -0.56 -0.49
2.26 1.99 2.01 1.80 2.12 2.19 1.77 1.45 1.87
-1.36 -1.25 -1.31 -1.68 -1.62 -1.50 -1.49 -1.77 -2.16
"""


def test_the_parts_are_those_of_a_published_analysis():
    """Its mean squares are 9.81799, 1.58363, 0.01994 and 0.04598; statsmodels has the same."""
    values = np.array(PARTS.split(), dtype=float).reshape(10, 3, 3)
    expected = ((9.81799 - 0.01994) / 9, (1.58363 - 0.01994) / 30, 0, 0.04598)
    assert variance_components(values) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("spread", "of_one"), [(0.0, 0.9), (0.5, 0.0)])
def test_the_interval_holds_the_mean_over_other_wordings(spread, of_one):
    """Of 300 tables of 100 questions in three wordings; `of_one`: the interval of one wording holds it
    in more than this share, or, where wordings matter, in less than 0.8.
    """
    rng = np.random.default_rng(0)
    holds = holds_by_one = 0
    for _ in range(300):
        latent = rng.normal(size=(100, 1)) + spread * rng.normal(size=(1, 3))
        values = (rng.random((100, 3)) < norm.cdf(latent)).astype(float)
        _, (low, high) = wordings_interval(values, range(100), [0] * 100)
        holds += low <= 0.5 <= high
        holds_by_one += abs(values[:, 0].mean() - 0.5) <= 0.098
    assert holds / 300 >= 0.9
    assert (holds_by_one / 300 > of_one) if of_one else (holds_by_one / 300 < 0.8)


def test_all_right_in_each_wording_is_worth_all_questions():
    mean, (low, high) = wordings_interval(np.ones((50, 3)), range(50), [0] * 50)
    assert (mean, high) == (1, 1)
    assert low == pytest.approx(0.9289, abs=1e-4)  # 50 of 50, exact
