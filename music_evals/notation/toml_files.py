"""The text files of packages, above all TOML: tables of words, signs and facts."""

import tomllib
from importlib.resources import files
from typing import Any


def read_toml(package: str, path: str) -> dict[str, Any]:
    """Read a TOML file in the folder of a package.

    >>> sorted(read_toml("music_evals.notation", "noise.toml"))[0]
    'abc'
    """
    return tomllib.loads(read_resource(package, path))


def read_resource(package: str, path: str) -> str:
    """Read a text in the folder of a package."""
    return files(package).joinpath(path).read_text(encoding="utf-8")
