"""Libraries that only a few functions need, and the one line of error where one is missing."""

from importlib import import_module
from typing import Any


class MissingLibraryError(ImportError):
    """A library of an extra is not installed; the message says how to install it."""


def require(module: str, extra: str) -> Any:
    """Import a library that comes with an extra of this package.

    Args:
        module: name of the module, such as ``verovio`` or ``openpyxl.utils.exceptions``.
        extra: the extra that installs it, such as ``scores``.

    Raises:
        MissingLibraryError: the library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(f"{error.name} is not installed: pip install 'music-evals[{extra}]'") from error
