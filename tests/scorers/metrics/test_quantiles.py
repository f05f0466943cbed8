"""Intervals of quantiles, against printed tables and by how often they hold the quantile."""

import numpy as np
import pytest

from music_evals.scorers.metrics.quantiles import quantile_interval


@pytest.mark.parametrize(("number", "ranks"), [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (25, (8, 18)), (50, (18, 33))])
def test_ranks_of_the_median_are_those_of_printed_tables(number: int, ranks: tuple[int, int]) -> None:
    """As in the tables of the sign test, which books of nonparametric statistics print."""
    assert quantile_interval(list(range(number, 0, -1)), 0.5) == ranks


@pytest.mark.parametrize("number", [1, 5])
def test_too_few_values_have_no_interval(number: int) -> None:
    assert quantile_interval(list(range(number)), 0.5) is None


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_interval_holds_the_quantile_as_often_as_it_says(share: float) -> None:
    draws = np.random.default_rng(5).exponential(size=(400, 60))
    true = -np.log(1 - share)
    ends = [quantile_interval(draw, share) for draw in draws]
    assert np.mean([end is not None and end[0] <= true <= end[1] for end in ends]) > 0.94


def test_what_has_no_quantile_is_named() -> None:
    with pytest.raises(ValueError, match="values is empty"):
        quantile_interval([], 0.5)
    with pytest.raises(ValueError, match="share is 1"):
        quantile_interval([1.0], 1)
