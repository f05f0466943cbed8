"""Texts from logs in a form that is safe to show, and errors as reasons in one line."""

from pathlib import Path
from traceback import extract_tb
from unicodedata import category

_REASON = 300  # characters
_PACKAGE = str(Path(__file__).parents[1])


def plain(text: str, longest: int | None = None) -> str:
    r"""Return a text that no terminal, Markdown or XML takes for more than text, shortened if it is
    too long.

    White space becomes a space. Other control characters, marks of direction and lone surrogates
    become U+FFFD.

    Example:
        >>> plain("a\x1b[31m\tb")
        'a�[31m b'
    """
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}…"
    return text if text.isprintable() else "".join(map(_printable, text))


def reason(error: Exception) -> str:
    """Return an error in one line; an error that the package did not raise itself with its type and
    its place.
    """
    # Here, because commands that only show texts do not need it.
    from pydantic import (
        ValidationError,
    )

    frames = extract_tb(error.__traceback__)
    own_frames = [frame for frame in frames if frame.filename.startswith(_PACKAGE)]
    text = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif own_frames and not (isinstance(error, ValueError) and frames[-1] is own_frames[-1]):
        place = f"{own_frames[-1].name} of {own_frames[-1].filename.rpartition('/')[2]}"
        text = f"it cannot be used: {text} ({type(error).__name__} in {place})"
    return plain(" ".join(text.split()), _REASON)


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _printable(character: str) -> str:
    kind = category(character)
    if kind in ("Cc", "Zl", "Zp") and character.isspace():
        return " "
    is_no_character = kind == "Cn" and (
        ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    )
    return (
        "\N{REPLACEMENT CHARACTER}" if is_no_character or kind in ("Cc", "Cf", "Cs") else character
    )
