"""Recognising refusals: a reply will not or cannot answer, does not know, or says that it got no music.

`refusals.toml` has the words, in English, Chinese, German, French, Italian, Spanish, Portuguese, Japanese, Korean and
Russian. A reply is read clause by clause: one that gives an answer besides ("not sure, but I would say C") is none.
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
def _patterns() -> dict[str, re.Pattern[str]]:
    """What refuses, what commits to an answer, and where a clause ends."""
    tables: dict[str, Any] = tomllib.loads(files(__package__).joinpath("refusals.toml").read_text(encoding="utf-8"))
    shared = {name: tables.pop(name) for name in ("medium", "opinion", "turns", "commits")}
    medium, opinion = rf"(?:{'|'.join(shared['medium'])})s?\b", f"(?:{'|'.join(shared['opinion'])})"
    refuses = [text for language in tables.values() for text in language["refuses"]]
    patterns = {"refuses": refuses, "commits": shared["commits"], "turns": shared["turns"]}
    texts = {name: "|".join(parts) for name, parts in patterns.items()}
    filled = {name: text.replace("{medium}", medium).replace("{opinion}", opinion) for name, text in texts.items()}
    return {name: re.compile(unicodedata.normalize("NFKC", text), re.IGNORECASE) for name, text in filled.items()}


def unaccented(text: str) -> str:
    """The text without accents and compatibility forms: ``ré`` becomes ``re``, ``⁷`` becomes ``7``."""
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_APOSTROPHES)


def is_refusal(text: str) -> bool:
    """Return whether a reply says that it gives no answer, and no clause of it gives one.

    Example:
        >>> is_refusal("No image is available."), is_refusal("无法判断"), is_refusal("No accidentals")
        (True, True, False)
        >>> is_refusal("I'm not sure, but I would say C."), is_refusal("I'm sorry, but I cannot say.")
        (False, True)
    """
    plain = " ".join(unaccented(text[:MAX_CHARACTERS]).split()).strip("*_\"“”'「」 ")
    patterns = _patterns()
    clauses = [clause for clause in patterns["turns"].split(plain) if clause]
    others = [clause for clause in clauses if not patterns["refuses"].search(clause)]
    if len(others) == len(clauses):
        return False
    return not any(patterns["commits"].search(clause) for clause in others if not clause.endswith("?"))
