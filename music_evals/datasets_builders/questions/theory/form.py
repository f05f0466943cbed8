"""What a form of question is: a wording with blanks, and the drafts that fill them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.questions.theory.terms import Term

T = TypeVar("T")


class Draft(NamedTuple):
    """One question of a form."""

    asked: tuple[Term, ...]  # what fills the blanks of the form's wording
    right: Term  # the right option
    # Candidates for the wrong options; those worded as the right one are left out later, others must be wrong.
    wrong: Sequence[Term]


Drafts = Callable[[Random], Iterator[Draft]]
"""Yields drafts in an order drawn from the random source; endless, with repetitions, where they are not listed."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form of question: its kind, its own name within the kind, its wording with numbered blanks, its drafts."""

    kind: str
    name: str
    text: Term
    drafts: Drafts


def forms(kind: str, **drafts: Drafts) -> list[Form]:
    """Return the forms of a kind with the wording of ``wording.toml``, whose names have hyphens."""
    wording = read_table("questions/theory/wording.toml")[kind]
    named = {name.replace("_", "-"): draw for name, draw in drafts.items()}
    return [Form(kind, name, Term(*wording[name]), draw) for name, draw in named.items()]


def draft(word: Callable[[T], Term], right: T, wrong: Iterable[T], *asked: Term) -> Draft:
    """Make a draft whose options are all worded in the same way."""
    return Draft(asked, word(right), [word(each) for each in wrong])


def shuffled(cases: Iterable[T], rng: Random) -> list[T]:
    """Put cases into a random order."""
    cases = list(cases)
    return rng.sample(cases, len(cases))
