"""A number, within a tolerance: ``4%`` of the reference, or an absolute one.

A number at BPM is a tempo: if a statement has some, its other numbers do not count.
"""

import re
from itertools import chain

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.runs import with_points, without_asides
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.times import read_numbers
from music_evals.scorers.readers.words import folded

_METRE = re.compile(r"\d{1,2}/\d{1,2}")
_VALUE = r"(\d{1,4}(?:\.\d{1,6})?)"
_PER_MINUTE = (
    r"(?:bpm|(?:beats?|quarter notes|crotchets) (?:per|a|each) min|schlage pro min"
    r"|pulsos por min|拍)"
)
_WORDS = (
    r"(?:is|of|at|about|approximately|around|roughly|estimated|as|the|this|track|song|piece"
    r"|music|excerpt|recording|clip|es|ist|de|etwa|ca)"
)
_TEMPO = re.compile(
    rf"(?i)(?:{_VALUE} ?(?:-|to|and|or|bis|或|/) ?)?(?<![\d./]){_VALUE}[ -]?{_PER_MINUTE}"
    rf"|(?:bpm|tempo|速度|テンポ|♩|quarter(?: note)?) ?[:：=]?[ ~≈]{{0,3}}(?:{_WORDS}\b\W{{1,3}})"
    rf"{{0,7}}{_VALUE}(?![\d./-]|,\d| ?(?:to|or|bis)\b)"
)
_EXACT = 1e-9


def make(_: str, argument: str, *__: object) -> AnswerKind:
    """Make ``number`` with a tolerance."""
    tolerance = float(argument.rstrip("%") or 0)
    is_share = argument.endswith("%")

    def score(answer: str, reference: str) -> float:
        if not answer:
            return 0.0
        expected = float(reference)
        allowed = tolerance / 100 * abs(expected) if is_share else tolerance
        return float(abs(float(answer) - expected) <= allowed + _EXACT)

    return AnswerKind(
        read=_read,
        score=score,
        column="tempo|bpm|number|count|value",
    )


def _read(statement: str) -> list[str]:
    text = with_points(affirmed(folded(statement, numbers=True)))
    for part in (without_asides(text), text):
        tempi = filter(None, chain.from_iterable(_TEMPO.findall(part)))
        numbers = list(tempi) or read_numbers(_METRE.sub(" ", part)).values
        if values := [float(number) for number in numbers]:
            return [f"{value:g}" for value in dict.fromkeys(values)]
    return []
