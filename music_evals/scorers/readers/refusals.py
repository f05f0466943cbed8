"""Telling a refusal: a reply that will not, cannot or does not know, or that says that it got no music to look at.

English, Chinese, German, French, Italian, Spanish and Japanese; `refusals.toml` has the words. Readers that take a word
for "none" or "no" know besides what such an answer is made of, so that a refusal in other words is not taken for one.
"""

import re
import tomllib
import unicodedata
from importlib.resources import files
from typing import Any, Final

MAX_CHARACTERS: Final = 4_000
"""Characters of an answer that are looked at."""

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_APOSTROPHES: Final = str.maketrans("’ʼ`´‘＇", "''''''")


def _patterns() -> list[re.Pattern[str]]:
    told: dict[str, Any] = tomllib.loads(files(__package__).joinpath("refusals.toml").read_text(encoding="utf-8"))
    medium, see = rf"(?:{'|'.join(told.pop('medium'))})s?\b", rf"(?:{'|'.join(told.pop('see'))})\b"
    texts = [text for language in told.values() for text in language["patterns"]]
    texts += [rf"\b(?:{'|'.join(language['words'])})\b" for language in told.values() if "words" in language]
    filled = (text.replace("{medium}", medium).replace("{see}", see) for text in texts)
    return [re.compile(unicodedata.normalize("NFKC", text), re.IGNORECASE | re.DOTALL) for text in filled]


_REFUSALS: Final = _patterns()


def unaccented(text: str) -> str:
    """The text without accents and compatibility forms: ``ré`` becomes ``re``, ``⁷`` becomes ``7``."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_APOSTROPHES)


def is_refusal(text: str) -> bool:
    """Tell whether an answer says that there is none.

    Example:
        >>> is_refusal("No image is available."), is_refusal("无法判断"), is_refusal("No accidentals")
        (True, True, False)
    """
    plain = " ".join(unaccented(text[:MAX_CHARACTERS]).split()).strip("*_\"“”'「」 ")
    return any(pattern.search(plain) for pattern in _REFUSALS)
