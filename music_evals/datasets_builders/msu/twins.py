"""The same questions on an unknown score: transposed, or with the name of another piece."""

import re
from collections.abc import Sequence
from typing import Final

from music_evals.datasets_builders.msu.dataset import QuestionRow, ScoreRow
from music_evals.notation.abc.transposed import (
    direction_of,
    transpose_abc,
    transpose_names,
    transpose_signed,
)

_NOTE_NAMES: Final = (
    "pitch",
    "pitches",
    "key",
    "chord",
)  # types of answers that are names of notes
_FIXED: Final = re.compile(r"key signature|\bsharps?\b|\bflats?\b|升|降|transpos", re.IGNORECASE)
_QUOTED: Final = re.compile("(“[^”]*”)")
_FIELD: Final = {"T:": "title", "C:": "composer"}


def transposed(
    abc: str, questions: Sequence[QuestionRow], types: Sequence[str]
) -> tuple[str, list[QuestionRow]]:
    """Transpose a score and its questions by a major second, in the direction with fewer
    accidentals.

    Questions on key signatures, sharps and flats are left out: their answers change.

    Args:
        abc: the score.
        questions: its questions.
        types: the types of their answers.

    Raises:
        ValueError: the ABC cannot be read, or a key would have more than seven accidentals.
    """
    direction = direction_of(abc)
    moved: list[QuestionRow] = []
    for row, answer_type in zip(questions, types, strict=True):
        if not _FIXED.search(row["question"]):
            # Names of parts, such as “Horn in F”, do not change.
            texts = enumerate(_QUOTED.split(row["question"]))
            question = "".join(
                text if place % 2 else transpose_signed(text, direction) for place, text in texts
            )
            answer = (
                transpose_names(row["answer"], direction)
                if answer_type in _NOTE_NAMES
                else row["answer"]
            )
            moved.append({**row, "question": question, "answer": answer})
    return transpose_abc(abc, direction), moved


def renamed(
    score: ScoreRow, other: ScoreRow, abc: str, questions: Sequence[QuestionRow]
) -> tuple[ScoreRow, str, list[QuestionRow]]:
    """Give a score, its ABC and its questions the title and composer of another score."""
    new: ScoreRow = {**score, "title": other["title"], "composer": other["composer"]}
    names = {old: now for key in ("title", "composer") if (old := score[key]) and (now := new[key])}
    lines = [
        f"{line[:2]}{new[_FIELD[line[:2]]]}" if line[:2] in _FIELD else line  # type: ignore[literal-required]
        for line in abc.split("\n")
    ]
    rows: list[QuestionRow] = [
        {
            **row,
            "question": _rename(row["question"], names),
            "answer": _rename(row["answer"], names),
        }
        for row in questions
    ]
    return new, "\n".join(lines), rows


def _rename(text: str, names: dict[str, str]) -> str:
    return (
        re.sub("|".join(map(re.escape, names)), lambda match: names[match[0]], text)
        if names
        else text
    )
