"""The same questions on an unknown score: transposed, or with the name of another piece."""

import re
from collections.abc import Sequence

from music_evals.datasets_builders.msu.rows import QuestionRow, ScoreRow
from music_evals.notation.abc.transposed import (
    direction_of,
    transpose_abc,
    transpose_names,
    transpose_signed,
)

# Types of answers that are names of notes.
_NOTE_NAMES = ("pitch", "pitches", "key", "chord")
_FIXED = re.compile(r"key signature|\bsharps?\b|\bflats?\b|升|降|transpos", re.IGNORECASE)
_QUOTED = re.compile("(“[^”]*”)")
_FIELD = re.compile("^([TC]):.*", re.MULTILINE)


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
        if _FIXED.search(row["question"]):
            continue
        texts = _QUOTED.split(row["question"])
        # Names of parts, such as “Horn in F”, do not change.
        texts[::2] = [transpose_signed(text, direction) for text in texts[::2]]
        answer = row["answer"]
        if answer_type in _NOTE_NAMES:
            answer = transpose_names(answer, direction)
        moved.append({**row, "question": "".join(texts), "answer": answer})
    return transpose_abc(abc, direction), moved


def renamed(
    score: ScoreRow, other: ScoreRow, abc: str, questions: Sequence[QuestionRow]
) -> tuple[ScoreRow, str, list[QuestionRow]]:
    """Give a score, its ABC and its questions the title and composer of another score."""
    new: ScoreRow = {**score, "title": other["title"], "composer": other["composer"]}
    names = {score["title"]: new["title"], score["composer"]: new["composer"]}
    names = {old: now for old, now in names.items() if old and now}
    pattern = re.compile("|".join(map(re.escape, names)) or "(?!)")  # which is nowhere

    def rename(text: str) -> str:
        return pattern.sub(lambda match: names[match[0]], text)

    fields = {"T": new["title"], "C": new["composer"]}
    rows: list[QuestionRow] = [
        {**row, "question": rename(row["question"]), "answer": rename(row["answer"])}
        for row in questions
    ]
    return new, _FIELD.sub(lambda match: f"{match[1]}:{fields[match[1]]}", abc), rows
