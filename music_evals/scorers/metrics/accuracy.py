"""Figures for questions that are judged right or wrong: level-wise success, and agreement of judges.

Conventions: an outcome is 1 or True for right, 0 or False for wrong, None for no outcome.

Source: arXiv 2511.20697, section 3.3 (agreement with human judgement), 5.1 (level-wise success rate) and Table 3.
"""

from collections.abc import Hashable, Mapping, Sequence

from music_evals.scorers.metrics.figures import share


def level_success(
    correct: Mapping[Hashable, Mapping[int, Sequence[bool | None]]], *, repetitions: int = 1
) -> dict[int, dict[str, float]]:
    """The level-wise success rate, LSR(l): the share of scores with every question at levels 1 to l right.

    A score fails level l where any question at levels up to l is wrong. Where none is wrong but one has no outcome, or
    the score has no question at one of the levels that others have, it is not judged and leaves the denominator. Levels
    at which no score is judged are left out.

    Args:
        correct: the outcomes of each score's questions, by level.
        repetitions: how many times each score was asked; the numbers of scores count each time, an interval does not.

    Returns:
        By level ``success`` with Wilson's 95% interval, and the numbers of ``judged_scores`` and ``unjudged_scores``.

    Raises:
        ValueError: `repetitions` is below 1.

    Example:
        >>> success = level_success({
        ...     "op. 1": {1: [True, True], 2: [True]},
        ...     "op. 2": {1: [True, True], 2: [False]},
        ...     "op. 3": {1: [True, None], 2: [True]},
        ... })
        >>> [(level, found["success"], found["judged_scores"]) for level, found in success.items()]
        [(1, 1.0, 2), (2, 0.5, 2)]
    """
    if repetitions < 1:
        raise ValueError(f"repetitions is {repetitions}; each score is asked at least once")
    levels = sorted({level for by_level in correct.values() for level in by_level})
    found: dict[int, dict[str, float]] = {}
    for number, level in enumerate(levels, start=1):
        states = [_mastered(by_level, levels[:number]) for by_level in correct.values()]
        if judged := len(states) - states.count(None):
            rate = share("success", states.count(True) / judged, judged / repetitions)
            found[level] = {**rate, "judged_scores": judged, "unjudged_scores": states.count(None)}
    return found


def unanimity(votes: Sequence[Sequence[int | None]]) -> list[float]:
    """Whether all judges agree on each item with at least two votes: 1 or 0; None is a judge that abstains."""
    cast = [[vote for vote in item if vote is not None] for item in votes]
    return [float(len(set(item)) == 1) for item in cast if len(item) > 1]


def _mastered(by_level: Mapping[int, Sequence[bool | None]], levels: Sequence[int]) -> bool | None:
    """Whether everything at these levels is right; None where that is not known."""
    outcomes = [outcome for level in levels for outcome in by_level.get(level) or [None]]
    if any(outcome is not None and not outcome for outcome in outcomes):
        return False
    return None if None in outcomes else True
