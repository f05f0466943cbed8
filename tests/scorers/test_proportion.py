"""Wilson's interval against SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from music_evals.scorers.metrics.proportion import wilson_interval


@given(st.integers(1, 2000), st.data())
def test_agrees_with_scipy(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson_interval(successes / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("proportion", "n"), [(0.5, 0), (-0.1, 10), (1.1, 10), (float("nan"), 10)])
def test_bad_input_is_named(proportion: float, n: int) -> None:
    with pytest.raises(ValueError, match=r"n is 0|proportion is"):
        wilson_interval(proportion, n)
