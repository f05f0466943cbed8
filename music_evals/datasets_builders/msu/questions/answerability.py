"""Whether a rendering of a score holds the answer to a question: a clef is not heard, and MIDI knows no F sharp."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions.compose import KINDS, QUOTED, says
from music_evals.notation.scores.renderings import Rendered, Rendering

_MIDI: Final = frozenset({"sound", "signatures", "measures"})
_HELD: Final[Mapping[str, frozenset[str]]] = {"midi": _MIDI, "audio": frozenset({"sound"})}
"""What a rendering holds that does not hold all."""

_TWO_NAMES: Final = re.compile(r"(?:B|C♭|F♯|G♭|C♯|D♭) major|(?:G♯|A♭|D♯|E♭|A♯|B♭) minor")
_STAFF: Final = re.compile(r"\bstaff [0-9]")
_KEYS: Final = ("initial key", "cadence")  # kinds whose question or answer names a key
_IN_WORDS: Final = frozenset(kind.name for kind in KINDS if kind.is_text)


@cache
def needs(kind: str) -> frozenset[str]:
    """Return what an answer of a kind rests on, as ``renderings.toml`` names it.

    Example:
        >>> sorted(needs("bass note")), sorted(needs("cadence"))
        (['measures', 'spelling'], ['sound'])
    """
    table: Mapping[str, list[str]] = read_table("msu/questions/renderings.toml")
    return frozenset(fact for fact, kinds in table.items() if kind in kinds)


def is_answerable(rendering: Rendering, rendered: Rendered, kind: str | None, question: str, answer: str) -> bool:
    """Return whether a question can be answered from a rendering of its score.

    Args:
        rendering: the form.
        rendered: what the score is in that form.
        kind: the question's; None where people wrote it, which is asked where all is written.
        question: its text.
        answer: its answer.
    """
    held = _HELD.get(rendering)
    if held is not None:
        wanted = needs(kind) if kind else frozenset()
        # Measures are counted where they are not seen; an upbeat or a short measure would count as one.
        counted = held if rendered["is_regular"] else held - {"measures"}
        is_named = bool(QUOTED.search(question) or _STAFF.search(question))
        is_ambiguous = kind in _KEYS and bool(_TWO_NAMES.search(f"{question} {answer}")) and rendering == "audio"
        return bool(wanted) and wanted <= counted and not (is_named or is_ambiguous)
    words = answer.split(", ") if kind in _IN_WORDS else []
    return all(says(rendered["words"], each) for each in (*words, *QUOTED.findall(question)))
