"""Composes twelve questions on a score, three a level, whose answers the score itself gives."""

import re
from random import Random
from typing import Any, Final

from music_evals.datasets_builders.msu.questions import harmony, notes, onset, texture
from music_evals.datasets_builders.msu.questions.kind import Kind, Level, ScoreQuestion
from music_evals.datasets_builders.msu.questions.reading import Reading, read

KINDS: Final[tuple[Kind, ...]] = (*onset.KINDS, *notes.KINDS, *harmony.KINDS, *texture.KINDS)
PER_LEVEL: Final = 3
# More yes/no questions in a level would let guessing go far; the published questions have about one in four.
_MOST_YES_NO: Final = 1
# Rounds with other places and other answers to yes/no questions, for scores that give few questions.
_ROUNDS: Final = 4
_LEVELS: Final[tuple[Level, ...]] = (1, 2, 3, 4)


class UnsuitableScoreError(ValueError):
    """The score does not give enough questions that have one sure answer."""


def compose_score_questions(score: Any, *, seed: int, name: str) -> list[ScoreQuestion]:
    """Compose twelve questions on a music21 score, three a level, all of different kinds; it gives the answers.

    The levels are those of MSU-Bench (section 3 of the paper); the forms of question are of its types (appendix E), in
    words of our own, and only those that a score answers without doubt: candidates with ties, missing data or more than
    one reading are left out. No question gives away its own answer or, in the case of the key, another's. The seed and
    the name of the score decide which kinds are asked, and of what.
    """
    try:
        reading = read(score)
    except ValueError as error:
        raise UnsuitableScoreError(str(error)) from error
    rng = Random(f"{seed}/{name}/questions")
    # The level that goes first is free to use the key; it is the first's turn or the third's, and where that leaves
    # too few of the third, it is always the third's.
    orders: list[list[Level]] = [rng.sample(_LEVELS, len(_LEVELS)), [3, 1, 2, 4]]
    chosen: list[ScoreQuestion] = []
    for order in orders:
        chosen = []
        for level in order:
            chosen += _choose(reading, level, rng, chosen)
        if len(chosen) == PER_LEVEL * len(_LEVELS):
            return sorted(chosen, key=lambda question: question.level)
    counts = {level: sum(question.level == level for question in chosen) for level in _LEVELS}
    short = [f"level {level} has {counts[level]}" for level in _LEVELS if counts[level] < PER_LEVEL]
    raise UnsuitableScoreError(f"the score gives too few sure questions: {', '.join(short)} of {PER_LEVEL}")


def _choose(reading: Reading, level: Level, rng: Random, others: list[ScoreQuestion]) -> list[ScoreQuestion]:
    chosen: list[ScoreQuestion] = []
    for limit in (_MOST_YES_NO, PER_LEVEL):
        for _ in range(_ROUNDS if limit == PER_LEVEL else 1):
            for kind in _shuffled(level, rng):
                if len(chosen) == PER_LEVEL:
                    return chosen
                if any(kind.name == question.kind for question in chosen):
                    continue
                count = sum(question.answer_type == "yes_no" for question in chosen)
                if kind.answer_type == "yes_no" and count >= limit:
                    continue
                question = kind.ask(reading, rng)
                if question and _is_fair(question, kind, [*others, *chosen]):
                    chosen.append(question)
    return chosen


def _shuffled(level: Level, rng: Random) -> list[Kind]:
    """The kinds of a level; heavy ones tend to the front."""
    keys = {kind: (rng.random() ** (1 / kind.weight), kind.name) for kind in KINDS if kind.level == level}
    return sorted(keys, reverse=True, key=keys.__getitem__)


def _is_fair(question: ScoreQuestion, kind: Kind, others: list[ScoreQuestion]) -> bool:
    """Whether nothing that is asked says the answer."""
    if question.answer_type != "yes_no" and not kind.lists_answers and says(question.text, question.answer):
        return False
    keys = [other.answer for other in others if other.answer_type == "key"]
    if any(says(question.text, each) for each in keys):
        return False
    return question.answer_type != "key" or not any(says(other.text, question.answer) for other in others)


def says(text: str, answer: str) -> bool:
    """Whether an answer stands in a text as whole words, in whatever case."""
    return re.search(rf"(?<![\w♯♭]){re.escape(answer)}(?![\w♯♭])", text, re.IGNORECASE) is not None
