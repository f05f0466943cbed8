"""What a kind of answers is."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_MOST_COMMON = 5


def unit(answer: str, reference: str) -> float:
    """The weight of an answer whose score is a mean over answers."""
    return 1.0


def commonest(references: Sequence[str]) -> list[str]:
    """The commonest references, as guesses.

    >>> commonest(["60", "62", "60"])
    ['60', '62']
    """
    return [reference for reference, _ in Counter(references).most_common(_MOST_COMMON)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKind:
    """A kind of answers.

    Args:
        name: as rows have it, with the argument.
        read: returns the different answers that a statement gives, in the form of references.
        score: what an answer is worth against a reference, from 0 to 1; an empty one is no answer.
        weight: what an answer counts in the mean, where the score is a ratio over all answers.
        write: a reference as a model would write it.
        guesses: answers that one may give to all questions, from their references.
        is_list: whether an answer may have several values, one a line.
        is_sure: whether a single value without a label is an answer, though several may be.
        column: a pattern of the headings of tables and fields of JSON that have the answer.
        is_long: whether an answer may have many lines, and is all that follows its label.
        is_prose: whether an answer is sentences, so that one that denies something is no refusal.
    """

    name: str = ""
    read: Callable[[str], list[str]]
    score: Callable[[str, str], float]
    weight: Callable[[str, str], float] = unit
    write: Callable[[str], str] = str
    guesses: Callable[[Sequence[str]], list[str]] = commonest
    is_list: bool = False
    is_sure: bool = False
    column: str = ""
    is_long: bool = False
    is_prose: bool = False
