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
    """One open question on a score; `kind` is short, lower case, and the same for all questions of its form."""

    level: Level
    kind: str
    text: str
    answer: str
    answer_type: AnswerType
