"""Kendall's τ of orders, against SciPy on the ranks of the things."""

import random
from itertools import permutations

import pytest
from scipy.stats import kendalltau

from music_evals.scorers.metrics.ordering import kendall_tau, penalised_tau


def scipys(order: list[int], reference: list[int]) -> float:
    things = sorted(reference)
    return float(kendalltau([order.index(t) for t in things], [reference.index(t) for t in things]).statistic)


def test_tau_agrees_with_scipy_on_random_orders() -> None:
    rng = random.Random(1)
    for _ in range(40):
        size = rng.randint(2, 9)
        order, reference = rng.sample(range(size), size), rng.sample(range(size), size)
        assert kendall_tau(order, reference) == pytest.approx(scipys(order, reference))
        assert penalised_tau(order, reference) == pytest.approx((scipys(order, reference) + 1) / 2)


def test_names_of_the_things_do_not_matter() -> None:
    """The share of pairs in the right order is that of the music, whatever the options' indices are."""
    assert penalised_tau("1203", "2031") == penalised_tau("bcad", "cadb")
    # What SciPy makes of the digits themselves is another number.
    assert kendall_tau([1, 2, 0, 3], [2, 0, 3, 1]) == 0.0
    assert kendalltau([1, 2, 0, 3], [2, 0, 3, 1]).statistic == pytest.approx(-2 / 3)


def test_chance_is_one_half() -> None:
    taus = [penalised_tau(order, (0, 1, 2, 3)) for order in permutations(range(4))]
    assert sum(taus) / 24 == pytest.approx(0.5)
    assert sorted(set(taus)) == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])


@pytest.mark.parametrize("answer", [None, "", "012", "01234", "0012", "0124", "abcd"])
def test_what_is_no_order_earns_nothing(answer: str | None) -> None:
    assert penalised_tau(answer, "0123") == 0


def test_a_reference_must_be_an_order() -> None:
    with pytest.raises(ValueError, match="are no orders of the same things"):
        penalised_tau("0123", "0112")
    with pytest.raises(ValueError, match="two or more things"):
        kendall_tau([1], [1])
