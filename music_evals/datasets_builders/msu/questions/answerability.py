"""Whether a question can be answered from a rendering of its score: a clef is not audible, and MIDI
has no F sharp.
"""

import re
from collections.abc import Mapping
from functools import cache

from music_evals.datasets_builders import read_table
from music_evals.notation.scores.renderings import Rendered, Rendering

_MIDI = frozenset({"sound", "signatures", "measures"})
_FACTS: Mapping[str, frozenset[str]] = {"midi": _MIDI, "audio": frozenset({"sound"})}
"""Rendering → the facts that it shows; renderings that are not listed show all facts."""

_QUOTED = re.compile("“([^”]*)”")  # names of parts
_STAFF = re.compile(r"\bstaff [0-9]")
_TWO_NAMES = re.compile(r"(?:B|C♭|F♯|G♭|C♯|D♭) major|(?:G♯|A♭|D♯|E♭|A♯|B♭) minor")
_KEYS = ("initial key", "cadence")  # kinds whose question or answer names a key


@cache
def needs(kind: str) -> frozenset[str]:
    """Return the facts that an answer of a kind depends on, by their names in ``renderings.toml``.

    Example:
        >>> sorted(needs("bass note")), sorted(needs("cadence"))
        (['measures', 'spelling'], ['sound'])
    """
    table = read_table("msu/questions/renderings.toml")
    return frozenset(fact for fact, kinds in table.items() if kind in kinds)


def contains(text: str, answer: str) -> bool:
    """Whether a text contains an answer as complete words, in upper or lower case."""
    return re.search(rf"(?<![\w♯♭]){re.escape(answer)}(?![\w♯♭])", text, re.IGNORECASE) is not None


def shows_words(text: str, kind: str | None, question: str, answer: str) -> bool:
    """Whether a text contains the names of parts in the question and, if the answer is in words,
    the answer.
    """
    words = answer.split(", ") if kind and "words" in needs(kind) else []
    return all(contains(text, name) for name in (*words, *_QUOTED.findall(question)))


def is_answerable(
    rendering: Rendering, rendered: Rendered, kind: str | None, question: str, answer: str
) -> bool:
    """Return whether a question can be answered from a rendering of its score.

    Args:
        rendering: the form.
        rendered: the score in that form.
        kind: the kind of the question; None for the authors' questions, which need complete
            notation.
        question: the text of the question.
        answer: the reference answer.
    """
    facts = _FACTS.get(rendering)
    if facts is None:
        return shows_words(rendered["words"], kind, question, answer)
    needed = needs(kind) if kind else frozenset()
    # Measures that are not visible are counted. After an upbeat or a short measure the count is
    # wrong.
    available = facts if rendered["is_regular"] else facts - {"measures"}
    if not needed or not needed <= available:
        return False
    if _QUOTED.search(question) or _STAFF.search(question):
        return False
    names_a_key = kind in _KEYS and rendering == "audio"
    return not (names_a_key and _TWO_NAMES.search(f"{question} {answer}"))
