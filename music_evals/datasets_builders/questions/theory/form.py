"""What a form of question is: a wording with blanks, and the drafts that fill them.

Options are made so that any of the four may be the right one. Four cases are drawn first, in a way that treats them
alike: four chords on one root, say. Then one of them is asked for. Were the wrong options made out of the right one, by
changing it here or there, it would be the centre of them and could be told without reading the question.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product, starmap
from random import Random
from typing import Final, NamedTuple, TypeVar

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.questions.theory.terms import Term

T = TypeVar("T")
_NEAR: Final = 3.0


class Draft(NamedTuple):
    """One question of a form."""

    asked: tuple[Term, ...]  # what fills the blanks of the form's wording
    right: Term  # the right option
    wrong: tuple[Term, ...]  # the three wrong ones


class Case(NamedTuple):
    """Something that can be asked, with its answer."""

    asked: tuple[Term, ...]
    answer: Term
    near: float = 0.0  # what lies within about `_NEAR` of each other is set against each other
    sound: Hashable = None  # what must differ between options beside their words, such as pitch classes


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


def fours(cases: Iterable[Case], rng: Random) -> list[list[Case]]:
    """Deal cases into fours of different answers and sounds, near ones together; what is left over is dropped."""
    dealt: list[list[Case]] = []
    unfinished: list[list[Case]] = []
    is_falling = rng.random() < 0.5  # what is left over is at either end
    for case in sorted(cases, key=lambda case: case.near + rng.uniform(0, _NEAR), reverse=is_falling):
        four = next((four for four in unfinished if all(_differ(case, other) for other in four)), None)
        if four is None:
            unfinished.append(four := [])
        four.append(case)
        if len(four) == 4:
            unfinished.remove(four)
            rng.shuffle(four)
            dealt.append(four)
    rng.shuffle(dealt)
    return dealt


def _differ(one: Case, other: Case) -> bool:
    return one.answer != other.answer and (one.sound is None or one.sound != other.sound)


def draft(four: Sequence[Case], place: int) -> Draft:
    """Ask for one of four cases; the others' answers are the wrong options."""
    asked, right = four[place].asked, four[place].answer
    return Draft(asked, right, tuple(other.answer for at, other in enumerate(four) if at != place))


def dealt(blocks: Iterable[Iterable[Case]], rng: Random) -> Iterator[Draft]:
    """Deal blocks of cases into fours and ask for each case of each four: one of every block in turn.

    Every four options are asked about four times, and each of them is right once, so that nothing can be told from the
    options alone. Each four is asked about once before any is again.
    """
    later: list[Iterator[Draft]] = []
    for block in blocks:
        drafts: Iterator[Draft] = starmap(
            draft, [(four, place) for place, four in product(range(4), fours(block, rng))]
        )
        later.append(drafts)
        yield from islice(drafts, 1)
    while later:
        for drafts in list(later):
            if following := next(drafts, None):
                yield following
            else:
                later.remove(drafts)


def endless(found: Iterable[Sequence[Case]], rng: Random) -> Iterator[Draft]:
    """Ask for one case of each four.

    A four is passed over where any of its cases has been asked for before, not only the drawn one: else rare cases
    would be right more often than common ones.
    """
    seen: set[tuple[Term, ...]] = set()
    for four in found:
        if seen.isdisjoint(case.asked for case in four):
            one = draft(four, rng.randrange(4))
            seen.add(one.asked)
            yield one


def shuffled(cases: Iterable[T], rng: Random) -> list[T]:
    """Put cases into a random order."""
    cases = list(cases)
    return rng.sample(cases, len(cases))
