"""Forms of questions: a wording with blanks, and the drafts that fill them.

Any of the four options can be the right one. First, four similar cases are drawn, such as four
chords on one root. Then the question asks for one of them. If the wrong options were variations of
the right one, a reader could find the right one as their centre, without the question.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product, repeat, zip_longest
from random import Random
from typing import NamedTuple, TypeVar

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.questions.theory.terms import Term

T = TypeVar("T")
_NEAR = 3.0
_PATIENCE = 1_000


class Draft(NamedTuple):
    """A question of a form."""

    blanks: tuple[Term, ...]  # texts for the blanks of the wording
    right: Term
    wrong: tuple[Term, ...]  # the three wrong options


class Case(NamedTuple):
    """A possible question, with its answer."""

    blanks: tuple[Term, ...]
    answer: Term
    near: float = 0.0  # cases within about `_NEAR` of each other become options of one question
    sound: Hashable = (
        None  # must differ between options, as their words must; such as pitch classes
    )


Cases = Iterable[Case]
Fours = list[list[Case]]
Drafts = Callable[[Random], Iterator[Draft]]
"""Yields drafts in random order; endless, with repetitions, if there are too many to list."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of question: its kind, its name within the kind, its wording with numbered blanks, and
    its drafts.
    """

    kind: str
    name: str
    text: Term
    drafts: Drafts


def forms(kind: str, **drafts: Drafts) -> list[Form]:
    """Return the forms of a kind with the wording of ``wording.toml``, where names have hyphens."""
    wording = read_table("questions/theory/wording.toml")[kind]
    by_name = {name.replace("_", "-"): draw for name, draw in drafts.items()}
    return [Form(kind, name, Term(*wording[name]), draw) for name, draw in by_name.items()]


def fours(cases: Cases, rng: Random) -> Fours:
    """Group cases into fours with different answers and sounds, near cases together; leftovers are
    dropped.
    """
    complete: Fours = []
    unfinished: Fours = []
    is_falling = rng.random() < 0.5  # so that leftovers are at either end
    for case in sorted(
        cases, key=lambda case: case.near + rng.uniform(0, _NEAR), reverse=is_falling
    ):
        four = next(
            (four for four in unfinished if all(_differ(case, other) for other in four)), None
        )
        if four is None:
            unfinished.append(four := [])
        four.append(case)
        if len(four) == 4:
            unfinished.remove(four)
            rng.shuffle(four)
            complete.append(four)
    rng.shuffle(complete)
    return complete


def _differ(a: Case, b: Case) -> bool:
    return a.answer != b.answer and (a.sound is None or a.sound != b.sound)


def _draft(four: Sequence[Case], place: int) -> Draft:
    """Ask for a case of a four; the answers of the others are the wrong options."""
    blanks, right = four[place].blanks, four[place].answer
    return Draft(blanks, right, tuple(other.answer for at, other in enumerate(four) if at != place))


def dealt(blocks: Iterable[Cases], rng: Random) -> Iterator[Draft]:
    """Group the cases of blocks into fours, and ask for every case of every four; blocks take
    turns.

    Every four options occur in four questions, and each option is right once: the options alone
    give no hint. All fours of a block are used once before any is used again.
    """
    begun: list[Iterator[Draft]] = []
    for block in blocks:
        drafts = (_draft(four, place) for place, four in product(range(4), fours(block, rng)))
        begun.append(drafts)
        yield from islice(drafts, 1)
    yield from in_turn(begun)


def in_turn(sources: Iterable[Iterable[T]]) -> Iterator[T]:
    """Take an item of every source in turn, until all sources are exhausted."""
    for items in zip_longest(*sources):
        yield from (item for item in items if item is not None)


def by_block(
    blocks: Callable[[], Iterable[T]], *, shuffle: bool = True
) -> Callable[[Callable[[T], Cases]], Drafts]:
    """Decorate a function that yields the cases of a block: the result yields the drafts of all
    blocks.
    """

    def decorate(cases: Callable[[T], Cases]) -> Drafts:
        return lambda rng: dealt(map(cases, shuffled(blocks(), rng) if shuffle else blocks()), rng)

    return decorate


def all_cases(cases: Callable[[], Cases]) -> Drafts:
    """Decorate a function that yields all cases of a form: the result yields their drafts."""
    return lambda rng: dealt([cases()], rng)


def endless(draw: Callable[[Random], Iterable[Sequence[Case]]]) -> Drafts:
    """Decorate a function that draws some fours of cases: the result asks for one case of each.

    A four is skipped if any of its cases was used before, not only the drawn one. Otherwise rare
    cases would be right more often than common ones. After `_PATIENCE` skipped fours in a row the
    form ends.
    """

    def drafts(rng: Random) -> Iterator[Draft]:
        seen: set[tuple[Term, ...]] = set()
        skipped = 0
        for four in chain.from_iterable(map(draw, repeat(rng))):
            if seen.isdisjoint(case.blanks for case in four):
                draft = _draft(four, rng.randrange(4))
                seen.add(draft.blanks)
                skipped = 0
                yield draft
            elif (skipped := skipped + 1) == _PATIENCE:
                return

    return drafts


def shuffled(cases: Iterable[T], rng: Random) -> list[T]:
    """Return cases in random order."""
    cases = list(cases)
    return rng.sample(cases, len(cases))
