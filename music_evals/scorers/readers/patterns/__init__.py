"""Patterns and words that are kept as data, in the TOML files of this folder.

A file of patterns has, by name, lists of regular expressions, one of which has to match, in any
case but for `_CASED`. ``{name}`` stands for the pattern of that name ahead in the file.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from music_evals.notation.toml_files import read_toml

_CASED = ("values",)  # files whose patterns tell capitals from small letters
Match = re.Match[str]


@cache
def load(name: str) -> dict[str, Any]:
    """The content of a file, by its name without ``.toml``."""
    return read_toml(__package__, f"{name}.toml")


def filled(text: str, parts: Mapping[str, str]) -> str:
    """A text with patterns for their names in braces."""
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", f"(?:{part})")
    return text


@cache
def texts(name: str) -> Mapping[str, str]:
    """The texts of the patterns of a file."""
    patterns: dict[str, str] = {}
    for key, alternatives in load(name).items():
        patterns[key] = filled("|".join(alternatives), patterns)
    return patterns


@cache  # compiled when it is first used, and not by whoever imports a reader
def pattern(name: str, key: str) -> re.Pattern[str]:
    """The pattern of a file by its name there."""
    return re.compile(texts(name)[key], 0 if name in _CASED else re.IGNORECASE)
