"""Patterns and words that are kept as data, in the TOML files of this folder.

A file of patterns has, by name, lists of regular expressions, one of which has to match, in any
case but for the files in `_FLAGS`. ``{name}`` stands for the pattern of that name ahead in the
file; in `choice_patterns`, also for words of `choices`, which are kept by language.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from music_evals.notation.toml_files import read_toml

_FLAGS = {"values": re.NOFLAG, "choice_patterns": re.MULTILINE}
_WITHOUT_SPACES = ("zh", "ja", "ko", "any")  # their words need no edge of a word
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


def _in_languages(words: Mapping[str, str]) -> str:
    """A pattern of words by language."""
    signs = [words[language] for language in _WITHOUT_SPACES if language in words]
    others = [text for language, text in words.items() if language not in _WITHOUT_SPACES]
    return "|".join([rf"(?<!\w)(?i:{'|'.join(others)})(?!\w)", *signs])


@cache
def texts(name: str) -> Mapping[str, str]:
    """The texts of the patterns of a file."""
    patterns = {}
    if name == "choice_patterns":
        patterns = {key: _in_languages(words) for key, words in load("choices").items()}
    for key, alternatives in load(name).items():
        patterns[key] = filled("|".join(alternatives), patterns)
    return patterns


@cache  # compiled when it is first used, and not by whoever imports a reader
def pattern(name: str, key: str) -> re.Pattern[str]:
    """The pattern of a file by its name there."""
    return re.compile(texts(name)[key], _FLAGS.get(name, re.IGNORECASE))
