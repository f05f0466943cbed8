"""What a question on a complete score is, before it becomes a row of a dataset."""

from dataclasses import dataclass
from typing import Literal

Level = Literal[1, 2, 3, 4]
"""1 onset information, 2 notation and note, 3 chord and harmony, 4 texture and form."""

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
    """One open question on a score.

    Args:
        level: its level.
        kind: what is asked, e.g. ``"highest pitch"``: short, lower case, the same for all questions of its form.
        text: the question.
        answer: the reference answer.
        answer_type: how the answer can be checked.

    Example:
        >>> ScoreQuestion(2, "highest pitch", "In measure 3, what is the highest pitch?", "A5", "pitch").level
        2
    """

    level: Level
    kind: str
    text: str
    answer: str
    answer_type: AnswerType
