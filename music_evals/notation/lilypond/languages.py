r"""Note names in the languages that LilyPond 2.24 knows, without the Arabic one.

A name is a stem, which says the step, and an ending, which says the alteration. Where a language does not follow its
own rule (Dutch ``es`` beside ``ees``, German ``b`` for what would be ``hes``) the names are listed one by one.

Source: the LilyPond Notation Reference, "Note names in other languages"; the tests compare every name with those of
LilyPond's own ``define-note-names.scm``.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from music_evals.notation.lilypond.syntax import Kind, Token, code_tokens, string_value

DEFAULT: Final = "nederlands"  # the language of a text that names none


class NoteName(NamedTuple):
    """What a note name says; it says nothing of the octave."""

    step: int  # 0 for C to 6 for B
    alteration: Fraction  # in semitones, sharp positive; quarter tones are halves


_Endings = Mapping[int, str]  # quarter tones -> endings, separated by spaces, the usual one first; - for none
_Exceptions = Mapping[tuple[int, int], str]  # (step, quarter tones) -> names instead of the rule's

_ES_IS: Final[_Endings] = {-4: "eses", -3: "eseh", -2: "es", -1: "eh", 0: "-", 1: "ih", 2: "is", 3: "isih", 4: "isis"}
_ESS_ISS: Final[_Endings] = {
    **{-4: "essess", -3: "esseh", -2: "ess", -1: "eh", 0: "-", 1: "ih", 2: "iss", 3: "issih", 4: "ississ"}
}
_BOTH: Final[_Endings] = {quarters: f"{_ESS_ISS[quarters]} {_ES_IS[quarters]}" for quarters in range(-4, 5)}
_B_D: Final[_Endings] = {-4: "bb", -3: "bsb", -2: "b", -1: "sb", 0: "-", 1: "sd", 2: "d", 3: "dsd", 4: "dd"}
_FRENCH: Final[_Endings] = {**_B_D, 4: "dd x"}
_CATALAN: Final[_Endings] = {
    **{-4: "bb", -3: "tqb", -2: "b", -1: "qb", 0: "-", 1: "qd qs", 2: "d s", 3: "tqd tqs", 4: "dd ss"}
}
_ENGLISH: Final[_Endings] = {
    -4: "ff -flatflat",
    -3: "tqf",
    -2: "f -flat",
    -1: "qf",
    0: "- -natural",
    1: "qs",
    2: "s -sharp",
    3: "tqs",
    4: "ss x -sharpsharp",
}
_SPANISH: Final[_Endings] = {-4: "bb", -3: "tcb", -2: "b", -1: "cb", 0: "-", 1: "cs", 2: "s", 3: "tcs", 4: "ss x"}
_PORTUGUESE: Final[_Endings] = {
    **{-4: "bb", -3: "btqt", -2: "b", -1: "bqt", 0: "-", 1: "sqt", 2: "s", 3: "stqt", 4: "ss"}
}
_FLEMISH: Final[_Endings] = {-4: "bb", -3: "bhb", -2: "b", -1: "hb", 0: "-", 1: "hk", 2: "k", 3: "khk", 4: "kk"}

_DUTCH_SHORT: Final[_Exceptions] = {(2, -4): "eeses eses", (2, -2): "ees es", (5, -4): "aeses ases", (5, -2): "aes as"}
_GERMAN_E: Final[_Exceptions] = {(2, -4): "eses", (2, -3): "eseh", (2, -2): "es"}
_GERMAN: Final[_Exceptions] = {
    **_GERMAN_E,
    **{(2, -1): "eh eeh", (5, -4): "asas ases", (5, -3): "asah aseh", (5, -2): "as", (5, -1): "ah aeh", (6, -2): "b"},
}
_FINNISH: Final[_Exceptions] = {
    **_GERMAN_E,
    **{(5, -4): "asas ases", (5, -3): "asah aseh", (5, -2): "as", (6, -4): "heses bb bes", (6, -2): "b"},
}
_SWEDISH: Final[_Exceptions] = {
    **{(2, -4): "essess", (2, -3): "esseh", (2, -2): "ess"},
    **{(5, -4): "assess", (5, -3): "asseh", (5, -2): "ass", (6, -2): "b"},
}
_NORWEGIAN: Final[_Exceptions] = {
    **{(2, -4): "essess eses eessess eeses", (2, -2): "ess es eess ees"},
    **{(5, -4): "assess ases aessess aeses", (5, -2): "ass as aess aes"},
    **{(6, -4): "bess bes", (6, -3): "beh", (6, -2): "b"},
}

_LETTERS: Final = "c d e f g a b"
_LETTERS_H: Final = "c d e f g a h"
_SYLLABLES: Final = "do re mi fa sol la si"

_RULES: Final[Mapping[str, tuple[str, _Endings, _Exceptions]]] = MappingProxyType(
    {
        "nederlands": (_LETTERS, _ES_IS, _DUTCH_SHORT),
        "català": (_SYLLABLES, _CATALAN, {}),
        "deutsch": (_LETTERS_H, _ES_IS, _GERMAN),
        "english": (_LETTERS, _ENGLISH, {}),
        "español": (_SYLLABLES, _SPANISH, {}),
        "français": ("do ré|re mi fa sol la si", _FRENCH, {}),
        "italiano": (_SYLLABLES, _B_D, {}),
        "norsk": (_LETTERS_H, _BOTH, _NORWEGIAN),
        "português": (_SYLLABLES, _PORTUGUESE, {}),
        "suomi": (_LETTERS_H, _ES_IS, _FINNISH),
        "svenska": (_LETTERS_H, _ESS_ISS, _SWEDISH),
        "vlaams": (_SYLLABLES, _FLEMISH, {}),
    }
)
_OTHER_SPELLINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"catalan": "català", "espanol": "español", "portugues": "português"}
)

LANGUAGES: Final[Sequence[str]] = (*_RULES, *_OTHER_SPELLINGS)  # names that a text may give in ``\language``


class LanguageError(ValueError):
    """A language of note names that is not known here."""


def note_names(language: str = DEFAULT) -> Mapping[str, NoteName]:
    """Return all note names of a language; LanguageError if it is none of `LANGUAGES`."""
    return _table(language)


def pitch_of(word: str, language: str = DEFAULT) -> NoteName | None:
    """Return what a word without octave marks says as a note name, or None if it is none in that language.

    Example:
        >>> pitch_of("bes"), pitch_of("b", "deutsch") == pitch_of("bes"), pitch_of("r")
        (NoteName(step=6, alteration=Fraction(-1, 1)), True, None)
    """
    return _table(language).get(word)


def name_of(step: int, alteration: Fraction | int, language: str = DEFAULT) -> str:
    """Return the usual name of a note, as `NoteName` describes it; ValueError if there is no such note.

    Example:
        >>> name_of(2, -1), name_of(6, -1, "deutsch"), name_of(0, Fraction(1, 2), "english")
        ('ees', 'b', 'cqs')
    """
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
    rule = _RULES.get(_OTHER_SPELLINGS.get(language, language))
    if rule is None:
        raise LanguageError(f"no language of note names {language!r}; known are {', '.join(LANGUAGES)}")
    stems, endings, exceptions = rule
    table: dict[str, NoteName] = {}
    for step, forms in enumerate(stems.split()):
        for quarters, ends in endings.items():
            names = [form + ("" if end == "-" else end) for end in ends.split() for form in forms.split("|")]
            pitch = NoteName(step, Fraction(quarters, 2))
            table |= dict.fromkeys(exceptions.get((step, quarters), " ".join(names)).split(), pitch)
    return MappingProxyType(table)
