"""What a kind of question is, and how the kinds draw places and answers evenly."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from music_evals.datasets_builders.msu.questions.question import AnswerType, Level, ScoreQuestion
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

PLACES: Final = 400
"""How many places of a score a kind looks at."""

Answered = tuple[str, str]
"""A question and its answer."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Kind:
    """One form of question.

    Args:
        level: its level.
        name: as in `ScoreQuestion`.
        answer_type: as in `ScoreQuestion`.
        draw: a question on a score and its answer; None where the score has no such question with one sure answer.
        weight: how readily it is chosen; above 1 for what few scores have.
        lists_answers: the text names all answers to choose from, the right one among them.
    """

    level: Level
    name: str
    answer_type: AnswerType
    draw: Callable[[Reading, Random], Answered | None]
    weight: float = 1
    lists_answers: bool = False

    def ask(self, reading: Reading, rng: Random) -> ScoreQuestion | None:
        """Draw a question.

        Args:
            reading: the score.
            rng: decides the place.

        Returns:
            The question; None where there is none with one sure answer.
        """
        drawn = self.draw(reading, rng)
        return drawn and ScoreQuestion(self.level, self.name, *drawn, self.answer_type)


def cells(reading: Reading, rng: Random) -> list[tuple[int, Voice, Cell]]:
    """Some measures of some parts, shuffled.

    Args:
        reading: the score.
        rng: decides which.

    Returns:
        Index of the measure, the part and what it has there.
    """
    size = len(reading.measures)
    places = rng.sample(range(size * len(reading.voices)), min(PLACES, size * len(reading.voices)))
    found = ((place % size, reading.voices[place // size]) for place in places)
    return [(index, voice, voice.cells[index]) for index, voice in found]


def where(reading: Reading, index: int, voice: Voice | None = None) -> str:
    """How a question names a measure, and a part where there are several.

    Args:
        reading: the score.
        index: of the measure.
        voice: the part, if one is meant.

    Returns:
        Such as ``measure 3 of the part “Alto”``.
    """
    number = reading.measures[index].number
    return f"measure {number} of {voice.label}" if voice and voice.label else f"measure {number}"


def span(reading: Reading, index: int, count: int) -> str:
    """How a question names some measures.

    Args:
        reading: the score.
        index: of the first.
        count: how many.

    Returns:
        Such as ``measures 3–4``.
    """
    first, last = reading.measures[index].number, reading.measures[index + count - 1].number
    return f"measures {first}–{last}" if count > 1 else f"measure {first}"


def of(voice: Voice) -> str:
    """The part, where it has to be named.

    Args:
        voice: the part.

    Returns:
        Such as `` in the part “Alto”``; empty where the score has one part.
    """
    return f" in {voice.label}" if voice.label else ""


def evenly(rng: Random, yes: Sequence[str], no: Sequence[str]) -> Answered | None:
    """A yes/no question for which the score has both answers, so that either is as likely.

    Args:
        rng: decides.
        yes: questions to which the answer is yes.
        no: questions to which it is no.

    Returns:
        One of them and its answer; None if one list is empty.

    Example:
        >>> evenly(Random(1), ["Is it?"], [])
    """
    if not yes or not no:
        return None
    return (rng.choice(yes), "Yes") if rng.random() < 0.5 else (rng.choice(no), "No")


def first(items: Iterable[_Item | None]) -> _Item | None:
    """The first that is not None.

    Args:
        items: looked at one after the other.

    Returns:
        It; None if there is none.

    Example:
        >>> first([None, 2, 3])
        2
    """
    return next((item for item in items if item is not None), None)
