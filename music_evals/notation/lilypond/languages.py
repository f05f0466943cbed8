r"""Note names in the languages that LilyPond 2.24 knows, without the Arabic one.

They are listed in ``languages.toml``; the tests compare them with LilyPond's own ``define-note-names.scm``.
"""

import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from music_evals.notation.lilypond.syntax import Kind, Token, code_tokens, string_value

DEFAULT: Final = "nederlands"  # the language of a text that names none


class NoteName(NamedTuple):
    """What a note name says; it says nothing of the octave."""

    step: int  # 0 for C to 6 for B
    alteration: Fraction  # in semitones, sharp positive; quarter tones are halves


_NAMES: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    files("music_evals.notation.lilypond").joinpath("languages.toml").read_text(encoding="utf-8")
)
_OTHER_SPELLINGS: Final[Mapping[str, str]] = {"catalan": "català", "espanol": "español", "portugues": "português"}

LANGUAGES: Final[Sequence[str]] = (*_NAMES, *_OTHER_SPELLINGS)  # names that a text may give in ``\language``


def note_names(language: str = DEFAULT) -> Mapping[str, NoteName]:
    """Return all note names of a language; ValueError if it is none of `LANGUAGES`."""
    return _table(language)


def pitch_of(word: str, language: str = DEFAULT) -> NoteName | None:
    """Return what a word without octave marks says as a note name, or None if it is none in that language."""
    return _table(language).get(word)


def name_of(step: int, alteration: Fraction | int, language: str = DEFAULT) -> str:
    """Return the usual name of a note, as `NoteName` describes it; ValueError if there is no such note."""
    for name, pitch in _table(language).items():
        if pitch == (step, alteration):
            return name
    raise ValueError(
        f"no note of step {step} and alteration {alteration}: steps are 0 to 6, alterations -2 to 2 by halves"
    )


def language_changes(text: str) -> list[tuple[int, str]]:
    r"""Where a text sets the language of its note names, by ``\language`` or by including ``NAME.ly``, and to what."""
    return [(token.start, name) for token, after in pairwise(code_tokens(text)) if (name := language_set(token, after))]


def language_set(token: Token, after: Token) -> str | None:
    """Return the language that a command and the string after it set, if they do."""
    if after.kind is not Kind.STRING or token.text not in ("\\language", "\\include"):
        return None
    name = string_value(after.text)
    if token.text == "\\language":
        return name
    return name[:-3] if name.endswith(".ly") and name[:-3] in LANGUAGES else None


def language_of(text: str) -> str:
    """Return the language of a text's note names: the one that it sets first, or LilyPond's default."""
    changes = language_changes(text)
    return changes[0][1] if changes else DEFAULT


@cache
def _table(language: str) -> Mapping[str, NoteName]:
    names = _NAMES.get(_OTHER_SPELLINGS.get(language, language))
    if names is None:
        raise ValueError(f"no language of note names {language!r}; known are {', '.join(LANGUAGES)}")
    table: dict[str, NoteName] = {}
    for step, forms in enumerate(names.values()):
        for quarters, same in enumerate(forms.split(), start=-4):
            table |= dict.fromkeys(same.split("/"), NoteName(step, Fraction(quarters, 2)))
    return MappingProxyType(table)
