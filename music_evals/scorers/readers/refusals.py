"""Recognising refusals: a reply will not or cannot answer, does not know, or says that it got no music.

`refusals.toml` has the words, in English, Chinese, German, French, Italian, Spanish, Japanese, Korean and Russian.
"""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any, Final

MAX_CHARACTERS: Final = 4_000  # of an answer that are read
_APOSTROPHES: Final = str.maketrans("’ʼ`´‘＇", "''''''")


@cache  # compiled when the first reply is read, and not by whoever imports this
def _patterns() -> list[re.Pattern[str]]:
    tables: dict[str, Any] = tomllib.loads(files(__package__).joinpath("refusals.toml").read_text(encoding="utf-8"))
    medium, see = rf"(?:{'|'.join(tables.pop('medium'))})s?\b", rf"(?:{'|'.join(tables.pop('see'))})\b"
    texts = [text for language in tables.values() for text in language["patterns"]]
    texts += [rf"\b(?:{'|'.join(language['words'])})\b" for language in tables.values() if "words" in language]
    filled = (text.replace("{medium}", medium).replace("{see}", see) for text in texts)
    return [re.compile(unicodedata.normalize("NFKC", text), re.IGNORECASE | re.DOTALL) for text in filled]


def unaccented(text: str) -> str:
    """The text without accents and compatibility forms: ``ré`` becomes ``re``, ``⁷`` becomes ``7``."""
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_APOSTROPHES)


def is_refusal(text: str) -> bool:
    """Return whether a reply says that it gives no answer.

    Example:
        >>> is_refusal("No image is available."), is_refusal("无法判断"), is_refusal("No accidentals")
        (True, True, False)
    """
    plain = " ".join(unaccented(text[:MAX_CHARACTERS]).split()).strip("*_\"“”'「」 ")
    return any(pattern.search(plain) for pattern in _patterns())
