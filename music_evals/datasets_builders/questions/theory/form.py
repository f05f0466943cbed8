"""What a form of question is: a wording with blanks, and the drafts that fill them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from music_evals.datasets_builders.questions.theory.terms import Term

Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Draft:
    """One question of a form.

    Args:
        asked: what fills the blanks of the form's wording.
        right: the right option.
        wrong: candidates for the wrong options; those worded as the right one are left out later, others must be wrong.
    """

    asked: tuple[Term, ...]
    right: Term
    wrong: Sequence[Term]


@dataclass(frozen=True, slots=True)
class Form:
    """One form of question.

    Args:
        kind: the kind that it belongs to.
        name: its own name within the kind.
        text: its wording, with numbered blanks in braces.
        drafts: yields its drafts in an order drawn from the random source; endless, and not free of
            repetition, where they are drawn rather than listed.
    """

    kind: str
    name: str
    text: Term
    drafts: Callable[[Random], Iterator[Draft]]


def shuffled(cases: Sequence[Case], rng: Random) -> list[Case]:
    """Put cases into a random order.

    Example:
        >>> sorted(shuffled([1, 2, 3], Random(1)))
        [1, 2, 3]
    """
    return rng.sample(cases, len(cases))
