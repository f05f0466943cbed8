"""Kinds of questions on a score, and how a kind draws places and answers evenly."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeVar

from music_evals.datasets_builders.msu.questions.chained import lead_to
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

# 1 onset information, 2 notation and note, 3 chord and harmony, 4 texture and form
Level = Literal[1, 2, 3, 4]
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
    "name",
    "text",
]
"""Form of an answer, which decides the rule that checks it; only judges can check ``text``.

`scorers.readers.checking` has the same names, and a reader for each.
"""


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """An open question on a score; `kind` is the name of its `Kind`."""

    level: Level
    kind: str
    text: str
    answer: str
    answer_type: AnswerType
    lead: str = ""  # the sentences that lead to its measure; see `chained`


PLACES = 400
"""Most places of a score that a kind tries."""
Answers = Iterator[tuple[str, ...]]
"""Questions with one certain answer: the answer, and the texts for the blanks of the wording."""

Cases = Iterator[tuple[bool, *tuple[str, ...]]]
"""Questions with two answers: whether the first one is right, and the texts for the blanks of the
wording.
"""

Draw = Callable[[Reading, Random], Answers]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question."""

    level: Level
    name: str  # short, in lower case
    answer_type: AnswerType
    wording: str  # with numbered blanks
    draw: Draw  # yields the questions on a score
    weight: float = 1  # how readily it is chosen; above 1 for kinds that few scores allow
    lists_answers: bool = False  # the question lists all answers to choose from
    has_levels: bool = False  # about one measure, with many answers: asked at all difficulties

    def questions(
        self, reading: Reading, rng: Random, leads: Mapping[str, str]
    ) -> Iterator[ScoreQuestion]:
        """Draw questions with different answers; none if the score has no certain answer.

        If there are `leads`, the questions are those whose measure they lead to, see `lead_to`.
        """
        answers = set()
        for answer, *blanks in self.draw(reading, rng):
            text = self.wording.format(*blanks)
            lead, text = lead_to(text, leads) if leads else ("", text)
            if answer not in answers and text:
                answers.add(answer)
                yield ScoreQuestion(self.level, self.name, text, answer, self.answer_type, lead)


def evenly(cases: Callable[[Reading, Random], Cases], yes: str = "Yes", no: str = "No") -> Draw:
    """Draw one case for each of the two answers; none if the score has cases for only one
    answer.
    """

    def draw(reading: Reading, rng: Random) -> Answers:
        blanks_of: dict[bool, list[list[str]]] = {True: [], False: []}
        for is_yes, *blanks in cases(reading, rng):
            blanks_of[is_yes].append(blanks)
        if blanks_of[True] and blanks_of[False]:
            for is_yes in rng.sample((True, False), 2):
                yield yes if is_yes else no, *rng.choice(blanks_of[is_yes])

    return draw


def varied(pairs: Iterable[tuple[T, Any]], rng: Random, least: int = 2) -> Iterator[tuple[T, Any]]:
    """Draw one place per answer, from pairs of place and answer; nothing if fewer than `least`
    answers differ.
    """
    pairs = list(pairs)
    answers = sorted({answer for _, answer in pairs})
    if len(answers) >= least:
        for drawn in rng.sample(answers, len(answers)):
            yield rng.choice([place for place, answer in pairs if answer == drawn]), drawn


def sampled(size: int, rng: Random, most: int = PLACES) -> list[int]:
    """Draw at most `most` different numbers below `size`, in random order."""
    return rng.sample(range(size), min(most, size))


def cells(reading: Reading, rng: Random) -> list[tuple[int, Voice, Cell]]:
    """Draw measures of parts in random order; return index of the measure, part and cell."""
    size = len(reading.measures)
    places = sampled(size * len(reading.voices), rng)
    drawn = ((place % size, reading.voices[place // size]) for place in places)
    return [(index, voice, voice.cells[index]) for index, voice in drawn]


def of_cells(
    answer: Callable[[Voice, Cell], Any], most: int = PLACES
) -> Callable[[Reading, Random], Any]:
    """Ask about at most `most` measures of parts; `answer` returns None where no answer is
    certain.
    """

    def draw(reading: Reading, rng: Random) -> Iterator[tuple[Any, str]]:
        for index, voice, cell in cells(reading, rng)[:most]:
            value = answer(voice, cell)
            if value is not None:
                yield value, reading.where(index, voice)

    return draw
