"""Texts out of logs as they can be shown, and errors as reasons in one line."""

from pathlib import Path
from traceback import extract_tb
from typing import Final
from unicodedata import category

_REASON: Final = 300  # characters
_HERE: Final = str(Path(__file__).parents[1])


def plain(text: str, longest: int | None = None) -> str:
    r"""Return a text that no terminal, Markdown or XML takes for more than text, cut where it is too long.

    White space becomes a space, other control characters, marks of direction and lone surrogates become U+FFFD.

    Example:
        >>> plain("a\x1b[31m\tb")
        'a�[31m b'
    """
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}…"
    return text if text.isprintable() else "".join(map(_shown, text))


def reason(error: Exception) -> str:
    """Say in a line what went wrong; of an error that is not said by code of ours also its type, and where it arose."""
    from pydantic import ValidationError  # here, as commands that show texts need not wait for it

    frames = extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_HERE)]
    text = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif ours and not (isinstance(error, ValueError) and frames[-1] is ours[-1]):
        text += f" ({type(error).__name__} in {ours[-1].name} of {ours[-1].filename.rpartition('/')[2]})"
    return plain(" ".join(text.split()), _REASON)


def _shown(character: str) -> str:
    kind = category(character)
    if kind in ("Cc", "Zl", "Zp") and character.isspace():
        return " "
    is_none = kind == "Cn" and (ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF)
    return "\N{REPLACEMENT CHARACTER}" if is_none or kind in ("Cc", "Cf", "Cs") else character
