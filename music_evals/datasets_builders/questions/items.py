"""Questions of any benchmark's rows, as one may see them who does not get the music."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final

_MUSIC: Final = re.compile(r"\b[XML]: ?\d")  # where a score in ABC begins
_LANGUAGE: Final = re.compile(r"-(zh|en)$")  # at the end of the id of a question that comes in both
_KINDS: Final = ("language", "level", "subtheme_en", "kind")
COLUMNS: Final = (*_KINDS, *("id", "question", "options", "answer", "target", "piece", "score_id", "score"))
"""What is read of a row, where it is there; sound and pages stay unread."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question as a guesser may see it; without options it has to be answered by an answer seen before."""

    form: str
    question: str  # without the music that it is about
    options: tuple[str, ...]
    answer: str  # a text; among the options, where there are any
    group: str  # what is not to be both learned from and tried on, as the questions of one piece
    unit: str  # the question, whatever its language: in two, it counts once
    opening: str = ""  # the music that the options go on with, where they do


def form_of(row: Mapping[str, Any]) -> str:
    """Return what questions of the same kind in a dataset's config have in common, by the columns that say so.

    >>> form_of({"language": "en", "subtheme_en": "chords", "answer": "A"}), form_of({"answer": "A"})
    ('en chords', 'all')
    """
    return " ".join(str(row[name]) for name in _KINDS if row.get(name)) or "all"


def item_of(row: Mapping[str, Any], config: str = "", *, continues: bool = False) -> Item | None:
    """Read a row of any benchmark, or None where its answer is not one option, as an order of options is.

    Args:
        row: with `answer` or `target`: a text, one of the texts `options`, or the letter or index of one; `question`,
            `piece` or `score_id` and the kind (`language`, `level`, `subtheme_en`, `kind`) are used where they are
            there.
        config: what comes first in the name of its form.
        continues: whether the options go on with the music in `score`, or in the question.

    >>> item_of({"id": "a", "options": ["C", "D"], "answer": "1", "kind": ""}, "keys")
    Item(form='keys all', question='', options=('C', 'D'), answer='D', group='a', unit='a', opening='')
    """
    options, answer = tuple(row.get("options") or ()), str(row.get("target") or row["answer"])
    if options and len(answer) == 1:
        place = int(answer) if answer.isdecimal() else ascii_uppercase.find(answer)
        if not 0 <= place < len(options):
            return None
        answer = options[place]
    elif options and answer not in options:
        return None
    question = row.get("question") or row.get("kind") or ""
    asked, *_ = _MUSIC.split(question, maxsplit=1)
    opening = (row.get("score") or question[len(asked) :]) if continues else ""
    unit = _LANGUAGE.sub("", row["id"])
    form = f"{config} {form_of(row)}".strip()
    return Item(form, asked, options, answer, row.get("piece") or row.get("score_id") or unit, unit, opening)
