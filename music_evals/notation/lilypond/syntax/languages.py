r"""Note names in the languages that LilyPond 2.24 knows, except Arabic.

The file ``languages.toml`` lists them. The tests compare it with LilyPond's own
``define-note-names.scm``.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from music_evals.notation.lilypond.syntax.lexer import Kind, Token, string_value, tokenize
from music_evals.notation.toml_files import read_toml

DEFAULT = "nederlands"  # the language of a text that sets none


class NoteName(NamedTuple):
    """The pitch that a note name spells, without its octave."""

    step: int  # 0 for C to 6 for B
    alteration: Fraction  # in semitones, sharp positive; quarter tones are halves


_NAMES: Mapping[str, Mapping[str, str]] = read_toml(__package__, "languages.toml")
_OTHER_SPELLINGS: Mapping[str, str] = {
    "catalan": "català",
    "espanol": "español",
    "portugues": "português",
}

LANGUAGES: Sequence[str] = (*_NAMES, *_OTHER_SPELLINGS)  # names that ``\language`` accepts


@cache
def note_names(language: str = DEFAULT) -> Mapping[str, NoteName]:
    """Return all note names of a language; ValueError if it is not one of `LANGUAGES`."""
    steps = _NAMES.get(_OTHER_SPELLINGS.get(language, language))
    if steps is None:
        raise ValueError(
            f"no language of note names {language!r}; known are {', '.join(LANGUAGES)}"
        )
    names: dict[str, NoteName] = {}
    for step, forms in enumerate(steps.values()):
        for quarters, synonyms in enumerate(forms.split(), start=-4):
            names |= dict.fromkeys(synonyms.split("/"), NoteName(step, Fraction(quarters, 2)))
    return MappingProxyType(names)


def pitch_of(word: str, language: str = DEFAULT) -> NoteName | None:
    """Return the pitch of a word without octave marks, or None if the word is no note name in that
    language.
    """
    return note_names(language).get(word)


def name_of(step: int | None, alteration: Fraction | int) -> str:
    """Return LilyPond's usual name of a pitch, given as in `NoteName`; ValueError if there is no
    such note.
    """
    for name, pitch in note_names(DEFAULT).items():
        if pitch == (step, alteration):
            return name
    raise ValueError(
        f"no note of step {step} and alteration {alteration}: steps are 0 to 6, alterations -2 to 2"
        " by halves"
    )


def language_of(text: str) -> str:
    """Return the language of a text's note names: the first one that it sets, or LilyPond's
    default.
    """
    return next(
        (name for pair in pairwise(tokenize(text)) if (name := language_set(*pair))), DEFAULT
    )


def language_set(command: Token, following: Token) -> str | None:
    r"""Return the language that ``\language``, or ``\include`` of a file of names, sets; None for
    other tokens.
    """
    name = string_value(following.text) if following.kind is Kind.STRING else ""
    is_include = command.text == "\\include" and name.endswith(".ly") and name[:-3] in LANGUAGES
    return name[:-3] if is_include else name if command.text == "\\language" else None
