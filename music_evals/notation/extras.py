"""Libraries of extras, which only a few functions need, and the error if such a library is
missing.
"""

import json
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from music_evals.notation.toml_files import read_toml

EXTRAS = {
    extra: tuple(packages) for extra, packages in read_toml(__package__, "extras.toml").items()
}
"""Extra of this package → packages that it needs; a model provider needs the extra of its name."""


def install(extra: str) -> str:
    """Return the command that installs an extra, from the clone or from where pip got the package.

    Example:
        >>> install("hf")
        "pip install -e '.[hf]' in the clone, or uvx --from '.[hf]' music-evals"
    """
    if (Path(__file__).parents[2] / "pyproject.toml").is_file():
        return f"pip install -e '.[{extra}]' in the clone, or uvx --from '.[{extra}]' music-evals"
    requirement = f"'music-evals[{extra}]{_source()}'"
    return f"pip install {requirement}, or uvx --from {requirement} music-evals"


@cache
def _source() -> str:
    """Where pip got this package, as a requirement says it; nothing if from an index."""
    text = distribution("music-evals").read_text("direct_url.json")
    return f" @ {json.loads(text)['url']}" if text else ""


class MissingLibraryError(ImportError):
    """A library of an extra is not installed; the message says how to install it."""


def require(module: str, extra: str) -> Any:
    """Import a library that comes with an extra of this package.

    Args:
        module: name of the module, such as ``verovio`` or ``partitura.io.importkern``.
        extra: the extra that installs it, such as ``scores``.

    Raises:
        MissingLibraryError: the library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(f"{error.name} is not installed: {install(extra)}") from error


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; none for an unknown extra."""
    missing = []
    for name in EXTRAS.get(extra, ()):
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    return missing
