"""Figures for answers that count, name or order measures, and intervals of combined figures.

Conventions: a measure is a number from 1 (a pickup is 0); None is an answer that cannot be read;
shares, F1 and the ends of intervals lie between 0 and 1, intervals are two-sided 95%.

Source: arXiv 2606.08722, section 3.3 (understanding).
"""

from collections.abc import Collection, Hashable, Sequence
from itertools import combinations
from statistics import median

from music_evals.scorers.metrics.estimates import Estimate, Estimates, share

_TOLERANCES = {"exact": 0, "within_1": 1, "within_5": 5, "within_10": 10}


def measure_f1(answer: Collection[int] | None, reference: Collection[int]) -> float:
    """F1 of the measures that an answer names: 2·hits / (named + right), or 1 where both are empty.

    Example:
        >>> measure_f1({3, 4}, {4}), measure_f1(set(), set()), measure_f1(None, set())
        (0.6666666666666666, 1.0, 0.0)
    """
    if answer is None:
        return 0.0
    named = set(answer)
    right = set(reference)
    return 2 * len(named & right) / (len(named) + len(right)) if named or right else 1.0


def count_figures(
    answers: Sequence[int | None], reference: Sequence[int], questions: int
) -> Estimates:
    """How near numbers of measures come to the right ones, of which there are as many and at least
    one.

    ``exact``, ``within_1``, ``within_5`` and ``within_10`` are shares of all answers, also
    unreadable ones, with intervals for the number of questions. ``median_absolute_error``, in
    measures, is over readable answers and absent without any.
    """
    errors = [
        abs(answer - right)
        for answer, right in zip(answers, reference, strict=True)
        if answer is not None
    ]
    figures = {
        name: share(sum(error <= most for error in errors) / len(answers), questions)
        for name, most in _TOLERANCES.items()
    }
    if errors:
        figures["median_absolute_error"] = Estimate(float(median(errors)), n=len(errors))
    return figures


def published_count_figures(
    answers: Sequence[str | None], reference: Sequence[str], questions: int, readable: int
) -> Estimates:
    """How near numbers of measures come to the right ones, as published.

    ``exact`` is the share of all answers that are the right text, ``024`` for ``24`` not among
    them. ``within_1``, ``within_5`` and ``within_10`` are shares of the readable answers alone, 0
    where there are none. ``median_absolute_error`` is the upper of two middle ones.

    Args:
        answers: in digits, None where it cannot be read.
        reference: as many right ones in digits, at least one.
        questions: how many questions these are answers to.
        readable: and how many of them have an answer that can be read.

    Source: arXiv 2606.08722, section 3.3, and its code.

    Example:
        >>> figures = published_count_figures(["4", "9", "1", None], ["4", "4", "8", "8"], 4, 3)
        >>> [round(figures[name].value, 2) for name in ("exact", "within_5",
        ...     "median_absolute_error")]
        [0.25, 0.67, 5.0]
    """
    pairs = [(answer, right) for answer, right in zip(answers, reference, strict=True) if answer]
    equal = sum(answer == right for answer, right in pairs)
    figures = {"exact": share(equal / len(answers), questions)}
    errors = sorted(abs(int(answer) - int(right)) for answer, right in pairs)
    for name, most in _TOLERANCES.items():
        if name != "exact":
            near = sum(error <= most for error in errors)
            figures[name] = Estimate(0.0, 0.0, 1.0, 0)
            if errors:
                figures[name] = share(near / len(errors), readable)
    if errors:
        figures["median_absolute_error"] = Estimate(float(errors[len(errors) // 2]), n=len(errors))
    return figures


def published_tau(answer: str | None, reference: str) -> float:
    """Kendall's τ of two orders' digits as they stand, moved to 0 to 1, as published; 0 for what is
    no order.

    It correlates the numbers at each place, but `penalised_tau` the places of each number; the two
    differ. An order has as many digits as `reference`, all different and below that number.

    Source: arXiv 2606.08722, section 3.3, and its code.

    Example:
        >>> published_tau("1203", "2031"), penalised_tau("1203", "2031")
        (0.16666666666666666, 0.5)
    """
    digits, right = (list(map(int, order or "")) for order in (answer, reference))
    if len(digits) != len(right) or len(set(digits)) != len(digits) or max(digits) >= len(right):
        return 0.0
    pairs = list(combinations(zip(digits, right, strict=True), 2))
    agreeing = [(one[0] < other[0]) == (one[1] < other[1]) for one, other in pairs]
    return sum(agreeing) / len(pairs)


def penalised_tau(answer: Sequence[Hashable] | None, reference: Sequence[Hashable]) -> float:
    """Kendall's τ of an order and the right one, moved to 0 to 1; 0 for what is no order of the
    same things.

    That is the share of pairs in the right order. Ranks are correlated, not names, so the result
    does not depend on how the things are named.

    Source: arXiv 2606.08722, section 3.3 (bar_sequencing); M. G. Kendall, "A new measure of rank
        correlation", Biometrika 30 (1938).

    Example:
        >>> penalised_tau("2130", "2130"), penalised_tau("0312", "2130"), penalised_tau("2113",
        ...     "2130")
        (1.0, 0.0, 0.0)
    """
    rank = {thing: place for place, thing in enumerate(reference)}
    if not 2 <= len(rank) == len(reference):
        raise ValueError(
            f"{list(reference)} is no order: it must name two or more things, once each"
        )
    if answer is None or len(answer) != len(reference) or set(answer) != set(reference):
        return 0.0
    pairs = list(combinations(answer, 2))
    agreeing = sum(rank[first] < rank[second] for first, second in pairs)
    return ((2 * agreeing - len(pairs)) / len(pairs) + 1) / 2
