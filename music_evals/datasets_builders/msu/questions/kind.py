"""What questions on a complete score and their kinds are, and how the kinds draw places and answers evenly."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Literal, TypeVar

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

Level = Literal[1, 2, 3, 4]  # 1 onset information, 2 notation and note, 3 chord and harmony, 4 texture and form
AnswerType = Literal[
    "yes_no",
    "pitch",
    "pitches",
    "key",
    "metre",
    "clef",
    "number",
    "measures",
    "duration",
    "chord",
    "numeral",
    "cadence",
    "text",
]
"""What an answer is made of, which says how a rule can check it; ``text`` is anything else, for judges alone."""


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """One open question on a score; `kind` is short, lower case, and the same for all questions of its form."""

    level: Level
    kind: str
    text: str
    answer: str
    answer_type: AnswerType


PLACES: Final = 400  # how many places of a score a kind looks at
Answers = Iterator[tuple[str, ...]]
"""Questions on a score that have one sure answer each: that, and what fills the blanks."""

Cases = Iterator[tuple[bool, *tuple[str, ...]]]
"""Questions on a score: whether the answer is yes, and what fills the blanks."""

Draw = Callable[[Reading, Random], Answers]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """One form of question."""

    level: Level  # its level
    name: str  # as in `ScoreQuestion`
    answer_type: AnswerType  # as in `ScoreQuestion`
    draw: Draw  # yields its questions on a score
    weight: float = 1  # how readily it is chosen; above 1 for what few scores have
    lists_answers: bool = False  # the text names all answers to choose from, the right one among them
    is_text: bool = False  # the answer stands on the pages in these words, names separated by commas

    def questions(self, reading: Reading, rng: Random) -> Iterator[ScoreQuestion]:
        """Draw questions, each with another answer; nothing where the score has none with one sure answer."""
        wording = read_table("msu/questions/wording.toml")[str(self.level)][self.name]
        answers = set()
        for answer, *blanks in self.draw(reading, rng):
            if answer not in answers:
                answers.add(answer)
                yield ScoreQuestion(self.level, self.name, wording.format(*blanks), answer, self.answer_type)


def evenly(cases: Callable[[Reading, Random], Cases], yes: str = "Yes", no: str = "No") -> Draw:
    """Draw one of a kind's cases for either answer; nothing where the score has one answer only."""

    def draw(reading: Reading, rng: Random) -> Answers:
        found: dict[bool, list[list[str]]] = {True: [], False: []}
        for is_yes, *blanks in cases(reading, rng):
            found[is_yes].append(blanks)
        if found[True] and found[False]:
            for is_yes in rng.sample((True, False), 2):
                yield yes if is_yes else no, *rng.choice(found[is_yes])

    return draw


def varied(found: Iterable[tuple[T, Any]], rng: Random, least: int = 2) -> Iterator[tuple[T, Any]]:
    """Draw a place for every answer, in any order."""
    found = list(found)
    answers = sorted({answer for _, answer in found})
    if len(answers) >= least:
        for answer in rng.sample(answers, len(answers)):
            yield rng.choice([place for place, each in found if each == answer]), answer


def sampled(size: int, rng: Random, most: int = PLACES) -> list[int]:
    """Some of so many places, shuffled."""
    return rng.sample(range(size), min(most, size))


def cells(reading: Reading, rng: Random) -> list[tuple[int, Voice, Cell]]:
    """Some measures of some parts, shuffled: index of the measure, the part and what it has there."""
    size = len(reading.measures)
    places = sampled(size * len(reading.voices), rng)
    found = ((place % size, reading.voices[place // size]) for place in places)
    return [(index, voice, voice.cells[index]) for index, voice in found]


def of_cells(answer: Callable[[Voice, Cell], Any]) -> Callable[[Reading, Random], Any]:
    """Asks about a measure of a part what a function answers of it; None where it has no sure answer."""

    def draw(reading: Reading, rng: Random) -> Iterator[tuple[Any, str]]:
        for index, voice, cell in cells(reading, rng):
            found = answer(voice, cell)
            if found is not None:
                yield found, where(reading, index, voice)

    return draw


def where(reading: Reading, index: int, voice: Voice | None = None) -> str:
    """How a question names a measure, and a part where there are several: ``measure 3 of the part “Alto”``."""
    number = reading.measures[index].number
    return f"measure {number} of {voice.label}" if voice and voice.label else f"measure {number}"


def span(reading: Reading, index: int, count: int) -> str:
    """How a question names some measures from an index on, such as ``measures 3–4``."""
    first, last = reading.measures[index].number, reading.measures[index + count - 1].number
    return f"measures {first}–{last}" if count > 1 else f"measure {first}"


def numbers(reading: Reading, indices: Iterable[int]) -> str:
    """The numbers of some measures, as an answer lists them."""
    return ", ".join(str(reading.measures[index].number) for index in indices)


def of(voice: Voice) -> str:
    """The part, where it has to be named, such as `` in the part “Alto”``."""
    return f" in {voice.label}" if voice.label else ""
