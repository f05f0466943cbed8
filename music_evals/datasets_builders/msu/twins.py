"""The same questions on a score that nobody has seen: transposed, or under the name of another piece."""

import re
from collections.abc import Sequence
from typing import Final

from music_evals.datasets_builders.msu.dataset import QuestionRow, ScoreRow
from music_evals.notation.abc.transposed import (
    Direction,
    direction_of,
    transpose_abc,
    transpose_names,
    transpose_signed,
)

_MOVED: Final = ("pitch", "pitches", "key", "chord")  # types of answers that are names of notes
_FIXED: Final = re.compile(r"key signature|\bsharps?\b|\bflats?\b|升|降|transpos", re.IGNORECASE)
_QUOTED: Final = re.compile("(“[^”]*”)")
_FIELD: Final = {"T:": "title", "C:": "composer"}


def transposed(abc: str, questions: Sequence[QuestionRow], types: Sequence[str]) -> tuple[str, list[QuestionRow]]:
    """Return a score a major second higher or lower, whichever has fewer accidentals, and its questions so.

    Questions on signatures of keys, and on sharps and flats, are left out: their answers do not move along.

    Args:
        abc: the score.
        questions: on it.
        types: the type of answer of each.

    Raises:
        ValueError: the ABC cannot be read, or would have more than seven accidentals.
    """
    direction = direction_of(abc)
    moved = [
        _moved(row, kind, direction)
        for row, kind in zip(questions, types, strict=True)
        if not _FIXED.search(row["question"])
    ]
    return transpose_abc(abc, direction), moved


def renamed(
    score: ScoreRow, other: ScoreRow, abc: str, questions: Sequence[QuestionRow]
) -> tuple[ScoreRow, str, list[QuestionRow]]:
    """Return a score under title and composer of another, and its questions so."""
    new: ScoreRow = {**score, "title": other["title"], "composer": other["composer"]}
    names = {old: now for key in ("title", "composer") if (old := score[key]) and (now := new[key])}
    lines = [
        f"{line[:2]}{new[_FIELD[line[:2]]]}" if line[:2] in _FIELD else line  # type: ignore[literal-required]
        for line in abc.split("\n")
    ]
    rows: list[QuestionRow] = [
        {**row, "question": _named(row["question"], names), "answer": _named(row["answer"], names)} for row in questions
    ]
    return new, "\n".join(lines), rows


def _moved(row: QuestionRow, answer_type: str, direction: Direction) -> QuestionRow:
    # Names of parts, such as “Horn in F”, stay.
    pieces = _QUOTED.split(row["question"])
    question = "".join(one if place % 2 else transpose_signed(one, direction) for place, one in enumerate(pieces))
    answer = transpose_names(row["answer"], direction) if answer_type in _MOVED else row["answer"]
    return {**row, "question": question, "answer": answer}


def _named(text: str, names: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], text) if names else text
