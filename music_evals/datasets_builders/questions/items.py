"""Questions of any benchmark, as a guesser without the music sees them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase

from music_evals.datasets_builders import AnyRow

_MUSIC = re.compile(r"\b[XML]: ?\d")  # the beginning of a score in ABC
YES_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
"""The beginning of an answer to a question that asks for yes or no."""
_LANGUAGE = re.compile(r"-(zh|en)$")  # the end of the id of a question in two languages
_KINDS = ("language", "level", "subtheme_en", "kind")
_COMMON = 5  # from so many questions of a kind on, their answers count as all answers to the kind
_OTHERS = (
    "answer_kind",
    "answer_type",
    "id",
    "question",
    "options",
    "answer",
    "target",
    "piece",
    "score_id",
    "score",
)
Views = Mapping[str, Sequence[float]]
"""Name → numbers that describe a stimulus, as many for every stimulus of a task."""
COLUMNS = (*_KINDS, *_OTHERS)
"""The columns that guessers use; a row has some of them. Sound and pages are not read."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question as a guesser may see it."""

    form: str
    question: str  # without the music that it is about
    options: tuple[str, ...]  # empty for an open question
    answer: str  # a text; one of the options, if there are any
    group: str  # a piece or work; a guesser never learns from the group that it is tried on
    unit: str  # the question in any language: two languages count once
    opening: str = ""  # the music that the options continue, or that a number is asked of
    kind: str = ""  # of an open question
    answer_type: str = ""  # of an open question
    views: Views = field(default_factory=dict, hash=False)  # of the stimulus


def form_of(row: AnyRow) -> str:
    """Return the form of a question: the values of the columns that name kinds of questions.

    >>> form_of({"language": "en", "subtheme_en": "chords",
    ...     "answer": "A"}), form_of({"answer": "A"})
    ('en chords', 'all')
    """
    return " ".join(str(row[name]) for name in _KINDS if row.get(name)) or "all"


def item_of(row: AnyRow, *, continues: bool = False) -> Item | None:
    """Read a row of any benchmark; None if its answer is not a single option but, for example, an
    order of options.

    Args:
        row: has `COLUMNS`, of which `id` and either `answer` or `target` are needed. The answer is
            a text, one of the texts `options`, or the letter or index of an option.
        continues: whether the options continue the music in `score`, or in the question if there is
            no `score`.

    >>> item = item_of({"id": "a", "options": ["C", "D"], "answer": "1", "kind": "keys"})
    >>> item.form, item.options, item.answer
    ('keys', ('C', 'D'), 'D')
    """
    if row.get("answer_kind") not in (None, "label"):
        return None
    options, answer = tuple(row.get("options") or ()), str(row.get("target") or row["answer"])
    if options:
        option = _option_of(answer, options)
        if option is None:
            return None
        answer = option
    text = row.get("question") or row.get("kind") or ""
    question, *_ = _MUSIC.split(text, maxsplit=1)
    opening = ""
    if continues or (not options and answer.isdecimal()):
        opening = row.get("score") or text[len(question) :]
    unit = _LANGUAGE.sub("", row["id"])
    group = row.get("piece") or row.get("score_id") or unit
    kind, answer_type = (str(row.get(name) or "") for name in ("kind", "answer_type"))
    return Item(form_of(row), question, options, answer, group, unit, opening, kind, answer_type)


def _option_of(answer: str, options: Sequence[str]) -> str | None:
    """The option that an answer names by its letter or index, or by its text."""
    if len(answer) > 1:
        return answer if answer in options else None
    place = int(answer) if answer.isdecimal() else ascii_uppercase.find(answer)
    return options[place] if 0 <= place < len(options) else None


def vocabularies(answers: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the answers that a guesser of open questions chooses from, by kind of question.

    For yes/no questions these are Yes and No, for other kinds the different answers to the kind. A
    rare kind has the answers to all kinds with its type of answer.

    Args:
        answers: kind, type of answer, and answer of each question.

    >>> vocabularies([("tie", "yes_no", "No"), *[("key", "key", one) for one in "CDCGC"], ("last",
    ...     "key", "E")])
    {'tie': ['No', 'Yes'], 'key': ['C', 'D', 'G'], 'last': ['C', 'D', 'E', 'G']}
    """
    entries = list(answers)
    counts = Counter(kind for kind, _, _ in entries)
    drawn: dict[str, list[str]] = {}
    for kind, answer_type in dict.fromkeys((kind, answer_type) for kind, answer_type, _ in entries):
        own = {answer for other, _, answer in entries if other == kind}
        alike = {answer for _, other, answer in entries if other == answer_type}
        is_yes_no = all(YES_NO.match(answer) for answer in own)
        drawn[kind] = (
            ["No", "Yes"] if is_yes_no else sorted(own if counts[kind] >= _COMMON else alike)
        )
    return drawn
