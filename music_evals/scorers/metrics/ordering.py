"""How near an order of things, each named once, comes to the right one."""

from collections.abc import Hashable, Sequence
from itertools import combinations


def kendall_tau(order: Sequence[Hashable], reference: Sequence[Hashable]) -> float:
    """Kendall's τ of two orders: of all pairs of things, the share in the same order less the share in the other.

    This is the correlation of the things' ranks, from -1 to 1. The correlation of what stands at each place, which is
    another number from three things on, depends on how the things happen to be named.

    Raises:
        ValueError: the orders do not name the same things once each, or fewer than two.

    Source: M. G. Kendall, "A new measure of rank correlation", Biometrika 30 (1938).
    """
    things = set(reference)
    if len(things) < 2 or not len(things) == len(reference) == len(order) or set(order) != things:
        raise ValueError(
            f"{list(order)} and {list(reference)} are no orders of the same things: each must name the same two or "
            "more things, once each"
        )
    rank = {thing: place for place, thing in enumerate(reference)}
    pairs = list(combinations(order, 2))
    agreeing = sum(rank[first] < rank[second] for first, second in pairs)
    return (2 * agreeing - len(pairs)) / len(pairs)


def penalised_tau(answer: Sequence[Hashable] | None, reference: Sequence[Hashable]) -> float:
    """Kendall's τ moved to 0 to 1, which is the share of pairs in the right order; 0 for what is no order.

    Raises:
        ValueError: the reference is no order.

    Source: arXiv 2606.08722, section 3.3 (bar_sequencing).

    Example:
        >>> penalised_tau("2130", "2130"), penalised_tau("0312", "2130"), penalised_tau("2113", "2130")
        (1.0, 0.0, 0.0)
    """
    kendall_tau(reference, reference)  # checks it
    if answer is None or len(answer) != len(reference) or set(answer) != set(reference):
        return 0.0
    return (kendall_tau(answer, reference) + 1) / 2
