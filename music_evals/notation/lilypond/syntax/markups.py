r"""Where a markup ends, and which tokens after a command are its arguments and no music.

``\markup`` takes one markup. A markup command takes as many arguments as its kind has: `markups.toml` says which of
them are values and which are markups. The tests compare it with LilyPond's own definitions.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from music_evals.notation.lilypond.syntax.lexer import LYRICS, MARKUPS, Kind, Token, closing_index

_NAMES: Final = tomllib.loads(files(__package__).joinpath("markups.toml").read_text(encoding="utf-8"))
ARGUMENTS: Final[Mapping[str, str]] = {name: kinds for kinds, names in _NAMES.items() for name in names.split()}
"""Markup command → kinds of its arguments: ``v`` for a value, ``m`` for a markup. An unknown command has one markup."""
_BLOCKS: Final = frozenset({"\\header", "\\paper", "\\layout", "\\midi", "\\with"})
_NESTING: Final = 200  # commands within each other without braces
_WORD_END: Final = re.compile(r'[$#{}"\\ \t\n\r\f]')


def markup_end(text: str, tokens: Sequence[Token], index: int, level: int = 0) -> int:
    r"""Return the index of the token after the markup that begins behind a token: ``\markup`` or a markup command.

    Args:
        text: the whole text.
        tokens: its tokens without comments.
        index: of the token ahead of the markup.
        level: how many markup commands are open already.
    """
    index += 1
    if index >= len(tokens) or level > _NESTING:
        return min(index, len(tokens))
    token = tokens[index]
    if token.text == "{":
        return closing_index(tokens, index) + 1
    if token.kind is Kind.COMMAND:
        name = token.text[1:]
        index += 1
        for kind in ARGUMENTS.get(name, "m"):
            is_value = kind == "v"
            index = value_end(tokens, index) if is_value else markup_end(text, tokens, index - 1, level + 1)
        return index
    if token.kind in (Kind.STRING, Kind.SCHEME):
        return index + 1
    if token.text in ("}", ">>"):  # there is no markup
        return index
    stop = _WORD_END.search(text, token.start)
    end = stop.start() if stop else len(text)
    while index < len(tokens) and tokens[index].start < end:
        index += 1
    return index


def arguments_end(text: str, tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token after a command and those of its arguments that are no music."""
    name = tokens[index].text
    if name in MARKUPS:
        return max(markup_end(text, tokens, index), index + 1)
    here = index + 1
    if name in LYRICS:  # \lyricsto "voice" { … }, \lyricsto voice \lyricmode { … }
        while here < len(tokens) and tokens[here].kind in (Kind.STRING, Kind.SCHEME, Kind.WORD):
            here += 1
    elif name not in _BLOCKS:
        return here
    return closing_index(tokens, here) + 1 if here < len(tokens) and tokens[here].text == "{" else here


def value_end(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token after a value.

    A value is a number with sign, decimals and unit, a string, Scheme, a word, a variable, or a block in braces.
    """
    if index < len(tokens) and tokens[index].text in ("-", "+"):
        index += 1
    if index < len(tokens) and tokens[index].kind is Kind.NUMBER:
        index += 1
        if index + 1 < len(tokens) and tokens[index].text == "." and tokens[index + 1].start == tokens[index].end:
            index += 2 if tokens[index + 1].kind is Kind.NUMBER else 0
        if index < len(tokens) and tokens[index].text in ("\\cm", "\\mm", "\\in", "\\pt"):
            index += 1
        return index
    if index < len(tokens) and tokens[index].text == "{":
        return closing_index(tokens, index) + 1
    return min(index + 1, len(tokens))
