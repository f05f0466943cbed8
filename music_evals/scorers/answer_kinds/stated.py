"""An answer in a form that the question states; each of several answers may be right.

References are lists in JSON: ``["bar 18 beat 3", "bar 42 beat 1"]``. An answer is right if it has
the same values as one of them in the same order, or with ``stated:any`` in any order; with
``stated:name``, also if it names the same person or piece. Case, commas, zeros ahead of minutes,
and "bar", "measure", "beat" and "note" do not count; notes and keys may have any spelling.
"""

import json
import re

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.readers.names import is_same_name
from music_evals.scorers.readers.pitches import spelled
from music_evals.scorers.readers.words import folded

_ASIDE = re.compile(r"(?i)\b(?:bars?|measures?|mm?|beats?|notes?|and)\b\.?|\b0(?=\d:)")
_MOST = 400  # characters of an answer


def make(_: str, argument: str, *__: object) -> AnswerKind:
    """Make ``stated``, ``stated:any`` or ``stated:name``."""

    order = sorted if argument == "any" else list

    def is_same(answer: str, right: str) -> bool:
        is_name = argument == "name" and is_same_name(answer, right) is True
        return is_name or order(_values(answer)) == order(_values(right))

    return AnswerKind(
        read=lambda statement: [statement] if len(statement) < _MOST else [],
        score=lambda answer, rights: float(
            any(is_same(answer, right) for right in json.loads(rights))
        ),
        write=lambda rights: str(json.loads(rights)[0]),
        is_list=argument != "name",
    )


def _values(text: str) -> list[str]:
    # Without these words first, as "bar" would be read as a name of notes.
    plain = spelled(_ASIDE.sub(" ", folded(text, numbers=True)))
    return re.findall(r"[^\s,;\"“”]+", plain.casefold())
