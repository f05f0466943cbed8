"""Figures of measures against scikit-learn, SciPy and NumPy, and intervals by their properties."""

import random
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import f1_score

from music_evals.scorers.metrics.measures import (
    count_figures,
    measure_f1,
    penalised_tau,
    published_tau,
)


def test_f1_agrees_with_scikit_learn_on_indicators():
    rng = random.Random(1)
    for _ in range(30):
        named = {rng.randint(0, 8) for _ in range(rng.randint(0, 5))}
        right = {rng.randint(0, 8) for _ in range(rng.randint(0, 3))}
        indicators = [[measure in some for measure in range(9)] for some in (right, named)]
        assert measure_f1(named, right) == pytest.approx(f1_score(*indicators, zero_division=1.0))


def test_counts_agree_with_numpy():
    rng = random.Random(2)
    for _ in range(40):
        right = [rng.randint(1, 60) for _ in range(rng.randint(1, 40))]
        answers = [
            None if rng.random() < 0.2 else max(0, gold + rng.randint(-12, 12)) for gold in right
        ]
        found = count_figures(answers, right, len(right))
        errors = np.array(
            [np.nan if a is None else abs(a - gold) for a, gold in zip(answers, right, strict=True)]
        )
        for name, most in (("exact", 0), ("within_1", 1), ("within_5", 5), ("within_10", 10)):
            assert found[name].value == pytest.approx(np.mean(errors <= most))
        if not np.isnan(errors).all():
            assert found["median_absolute_error"].value == pytest.approx(np.nanmedian(errors))


def test_counts_without_a_readable_answer_have_no_error():
    found = count_figures([None], [8], 1)
    assert [found[name].value for name in ("exact", "within_10")] == [0, 0]
    assert "median_absolute_error" not in found


def test_tau_agrees_with_scipy_on_the_ranks_of_random_orders():
    rng = random.Random(1)
    for _ in range(40):
        size = rng.randint(2, 9)
        order, reference = rng.sample(range(size), size), rng.sample(range(size), size)
        ranks = [[one.index(thing) for thing in range(size)] for one in (order, reference)]
        assert penalised_tau(order, reference) == pytest.approx(
            (kendalltau(*ranks).statistic + 1) / 2
        )
    # What SciPy makes of the digits themselves is another number.
    assert penalised_tau([1, 2, 0, 3], [2, 0, 3, 1]) == penalised_tau("bcad", "cadb") == 0.5
    assert kendalltau([1, 2, 0, 3], [2, 0, 3, 1]).statistic == pytest.approx(-2 / 3)
    assert sum(
        penalised_tau(order, (0, 1, 2, 3)) for order in permutations(range(4))
    ) / 24 == pytest.approx(0.5)


def test_published_tau_agrees_with_scipy_on_the_digits():
    for answer in map("".join, permutations("0123")):
        for right in map("".join, permutations("0123")):
            expected = (kendalltau(list(map(int, answer)), list(map(int, right))).statistic + 1) / 2
            assert published_tau(answer, right) == pytest.approx(expected)
    assert {
        published_tau(answer, "0123") for answer in (None, "", "012", "01234", "0012", "0124", "9")
    } == {0}


@pytest.mark.parametrize("answer", [None, "", "012", "01234", "0012", "0124", "abcd"])
def test_what_is_no_order_earns_nothing(answer):
    assert penalised_tau(answer, "0123") == 0
    with pytest.raises(ValueError, match="is no order"):
        penalised_tau(answer, "0112")
