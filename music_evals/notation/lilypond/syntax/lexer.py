r"""A lexer of LilyPond text: tokens with exact offsets, and blocks of them.

This is not a parser. It knows where comments, strings, Scheme, commands and words begin and end,
which is enough to find a block or an assignment. It takes time linear in the text and never fails:
an unclosed comment, string, brace or Scheme expression reaches to the end.

A word holds letters, with single ``-`` or ``_`` between. Octave marks, durations and dots are signs
and numbers: ``cis'4.`` is ``cis``, ``'``, ``4``, ``.``. The words of lyrics and markup are divided
in the same way.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

Kind = StrEnum("Kind", ["STRING", "SCHEME", "COMMAND", "WORD", "NUMBER", "SIGN"])
"""What a token is."""


class Token(NamedTuple):
    r"""A token: ``text`` is ``source[start:end]``.

    The text of a command begins with its backslash. The text of a string includes its quotes. A
    Scheme expression begins with ``#`` or ``$``. Signs are single characters except ``<<``, ``>>``
    and a backslash with the character after it: ``\\``, ``\<``, ``\!``.
    """

    kind: Kind
    text: str
    start: int
    end: int


_LETTER = r"[^\x00-@\[-`{-\x7f]"  # of ASCII, letters alone
_SYMBOL = rf"{_LETTER}(?:{_LETTER}|[-_](?={_LETTER}))*"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_TOKEN = re.compile(
    rf"""(?xs)
    (?P<skipped>[ \t\n\r\f\v\ufeff]+ | %\{{(?:.*?%\}}|.*) | %[^\n\r]*)
  | (?P<string>{_STRING})
  | (?P<scheme>[#$])
  | (?P<command>\\(?:{_SYMBOL}|{_STRING}))
  | (?P<word>{_SYMBOL})
  | (?P<number>[0-9]+)
  | (?P<sign>\\.|<<|>>|.)
    """,
)
_SCHEME = re.compile(
    rf"""(?xs)
    (?P<blank>\s+ | ;[^\n]*)
  | (?P<prefix>@ | \#?['`,])
  | (?P<open>\#?[(\[])
  | (?P<close>[)\]])
  | {_STRING} | \#(?:true|false|[tf]) | \#\\.[^\s()\[\]";]* | [^\s()\[\]";]+
    """,
)


@lru_cache(maxsize=4)  # callers ask for most texts many times
def tokenize(text: str) -> tuple[Token, ...]:
    r"""Return the tokens of a text, without white space and comments. A Scheme expression is one
    token, however long.

    Example:
        >>> [token.text for token in tokenize(r'''\clef "bass" cis'4. #(f "}") % end''')]
        ['\\clef', '"bass"', 'cis', "'", '4', '.', '#(f "}")']
    """
    tokens = []
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        if match.lastgroup == "scheme":
            position = _datum_end(text, position)
        if match.lastgroup and match.lastgroup != "skipped":
            tokens.append(
                Token(
                    Kind(match.lastgroup), text[match.start() : position], match.start(), position
                )
            )
    return tuple(tokens)


def string_value(literal: str) -> str:
    """Return the value of a string literal of LilyPond or Scheme."""
    inner = literal[1:-1] if len(literal) > 1 and literal.endswith('"') else literal[1:]
    return re.sub(
        r"(?s)\\(.)",
        lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]),
        inner,
    )


def literal_value(token: Token) -> str | None:
    """Return the string that a token denotes, also one given as Scheme (``#"a"``); None for any
    other token.
    """
    literal = token.text[1:].lstrip() if token.kind is Kind.SCHEME else token.text
    return string_value(literal) if literal.startswith('"') else None


def closing_index(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token that closes the brace at an index; the last index if none
    does.
    """
    depth = 0
    for here in range(index, len(tokens)):
        if tokens[here].kind is Kind.SIGN:
            depth += (tokens[here].text == "{") - (tokens[here].text == "}")
        if not depth:
            return here
    return len(tokens) - 1


def blocks(text: str, command: str) -> list[Sequence[Token]]:
    r"""Return the tokens of every block of a command, such as ``\paper``, that is not within
    another such block.
    """
    tokens = tokenize(text)
    result: list[Sequence[Token]] = []
    for index, token in enumerate(tokens[:-1]):
        is_inside = result and token.start < result[-1][-1].end
        if token.text == command and tokens[index + 1].text == "{" and not is_inside:
            result.append(tokens[index : closing_index(tokens, index + 1) + 1])
    return result


def _datum_end(text: str, start: int) -> int:
    """Return the offset after the one Scheme datum that follows at an offset, or after what is
    there in its place.
    """
    depth, end, position = 0, start, start
    while match := _SCHEME.match(text, position):
        position = match.end()
        if match.lastgroup == "blank":
            continue
        # It closes nothing in this datum, which is then missing.
        if match.lastgroup == "close" and not depth:
            break
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
        end = position
        if not depth and match.lastgroup != "prefix":
            break
    return end
