"""Patterns and words that are kept as data, in the TOML files beside the readers.

A file of patterns has, by name, lists of regular expressions, one of which has to match, in any case. ``{name}`` stands
for the pattern of that name ahead in the file.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """The content of a file, by its name without ``.toml``."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def _texts(name: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, alternatives in load(name).items():
        text = "|".join(alternatives)
        for other, inner in texts.items():
            text = text.replace(f"{{{other}}}", f"(?:{inner})")
        texts[key] = text
    return texts


@cache  # compiled when it is first used, and not by whoever imports a reader
def pattern(name: str, key: str) -> re.Pattern[str]:
    """The pattern of a file by its name there."""
    return re.compile(_texts(name)[key], re.IGNORECASE)
