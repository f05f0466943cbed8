r"""A lexer of LilyPond text: tokens with exact offsets, their spans, and edits.

This is not a parser. It knows where comments, strings, Scheme, commands and words begin and end, which is enough to
find a block or an assignment. It takes time linear in the text and never fails: an unclosed comment, string, brace or
Scheme expression reaches to the end.

The rules are those of LilyPond 2.24's lexer (Notation Reference, "Input syntax"). There are two modes. Within lyrics
and markup a word holds almost any character (``50%`` is a word there). Elsewhere a word holds letters, with single
``-`` or ``_`` between. Octave marks, durations and dots are signs and numbers: ``cis'4.`` is ``cis``, ``'``, ``4``,
``.``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

Kind = StrEnum("Kind", ["COMMENT", "STRING", "SCHEME", "COMMAND", "WORD", "NUMBER", "SIGN"])
"""What a token is."""


class Token(NamedTuple):
    r"""A token: ``text`` is ``source[start:end]``.

    The text of a command begins with its backslash. The text of a string includes its quotes. A Scheme expression
    begins with ``#`` or ``$``. Signs are single characters except ``<<``, ``>>`` and a backslash with the character
    after it: ``\\``, ``\<``, ``\!``.
    """

    kind: Kind
    text: str
    start: int
    end: int


Edit = tuple[int, int, str]
"""Start and end of a passage, and the text that replaces it."""

MARKUPS: Final = frozenset({"\\markup", "\\markuplist", "\\markuplines"})
LYRICS: Final = frozenset({"\\lyricmode", "\\lyrics", "\\addlyrics", "\\lyricsto"})
LONG: Final = frozenset({"\\breve", "\\longa", "\\maxima"})  # durations that are commands

_LETTER: Final = r"[a-zA-Z\u0080-\U0010ffff]"
_SYMBOL: Final = rf"{_LETTER}(?:{_LETTER}|[-_](?={_LETTER}))*"
_COMMON: Final = rf"""
    (?P<space>[ \t\n\r\f\v\ufeff]+)
  | (?P<comment>%(?!\{{)[^\n\r]*)
  | (?P<block>%\{{)
  | (?P<string>")
  | (?P<quoted>\\")
  | (?P<scheme>[#$])
  | (?P<command>\\{_SYMBOL})
"""
_SIGN: Final = r" | (?P<number>[0-9]+) | (?P<sign> \\. | << | >> | . )"
_MUSIC: Final = re.compile(_COMMON + rf" | (?P<word>{_SYMBOL})" + _SIGN, re.VERBOSE | re.DOTALL)
_TEXT: Final = re.compile(
    _COMMON + r' | (?P<word>[^$#{}"\\\s0-9%|*.=][^$#{}"\\\s0-9]*)' + _SIGN, re.VERBOSE | re.DOTALL
)
_REST_OF_STRING: Final = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCHEME: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>;[^\n]*)
  | (?P<block>\#!|\#\|)
  | (?P<string>")
  | (?P<embedded>\#\{)
  | (?P<open>\#?[(\[])
  | (?P<close>[)\]])
  | (?P<prefix>\#;|\#?,@|\#?['`,])
  | (?P<atom>\#(?:true|false|[tf])|\#\\.[^\s()\[\]";]*|[^\s()\[\]";]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final[Mapping[str | None, Kind]] = {
    **{kind.value: kind for kind in Kind},
    "block": Kind.COMMENT,
    "quoted": Kind.COMMAND,
}
_MAX_CACHED: Final = 1_000_000  # characters of a text whose tokens are cached; callers ask for most texts many times
_NESTING: Final = 32  # levels of LilyPond within Scheme within LilyPond; deeper text counts as one expression


def tokenize(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    r"""Yield the tokens of a text, or of a passage that begins outside of strings and comments, without white space.

    Comments are included. A Scheme expression is one token, however long.

    Example:
        >>> [token.text for token in tokenize(r'''\clef "bass" cis'4. #(f "}") % end''')]
        ['\\clef', '"bass"', 'cis', "'", '4', '.', '#(f "}")', '% end']
    """
    yield from _lex(text, start, len(text) if end is None else end, 0)


def code_tokens(text: str, start: int = 0, end: int | None = None) -> Sequence[Token]:
    """Return all tokens of a text, or of a passage of it, except the comments."""
    if start == 0 and end is None and len(text) <= _MAX_CACHED:
        return _cached_code_tokens(text)
    return [token for token in tokenize(text, start, end) if token.kind is not Kind.COMMENT]


@lru_cache(maxsize=4)
def _cached_code_tokens(text: str) -> tuple[Token, ...]:
    return tuple(token for token in tokenize(text) if token.kind is not Kind.COMMENT)


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Replace passages of a text; of overlapping edits the first by start counts, then the longest."""
    pieces, end_of_last = [], 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start >= end_of_last:
            pieces += [text[end_of_last:start], new]
            end_of_last = end
    return "".join([*pieces, text[end_of_last:]])


def string_value(literal: str) -> str:
    """Return the value of a string literal of LilyPond or Scheme."""
    inner = literal[1:-1] if len(literal) > 1 and literal.endswith('"') else literal[1:]
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), inner, flags=re.DOTALL)


def literal_value(token: Token) -> str | None:
    """Return the string that a token denotes, also one given as Scheme (``#"a"``); None for any other token."""
    literal = token.text[1:] if token.kind is Kind.SCHEME else token.text
    return string_value(literal) if literal.startswith('"') else None


def closing_index(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token that closes the brace or angles at an index; the last index if none does."""
    opening = tokens[index].text
    ending = {"{": "}", "<<": ">>"}[opening]
    depth = 0
    for here in range(index, len(tokens)):
        depth += (tokens[here].text == opening) - (tokens[here].text == ending)
        if not depth:
            return here
    return len(tokens) - 1


def block_spans(text: str, command: str) -> list[tuple[int, int]]:
    r"""Return start and end of every block of a command, such as ``\paper``, that is not within another such block."""
    tokens = code_tokens(text)
    spans: list[tuple[int, int]] = []
    for index, token in enumerate(tokens[:-1]):
        is_inside = spans and token.start < spans[-1][1]
        if token.kind is Kind.COMMAND and token.text == command and tokens[index + 1].text == "{" and not is_inside:
            spans.append((token.start, tokens[closing_index(tokens, index + 1)].end))
    return spans


def _lex(text: str, start: int, end: int, level: int, *, within_scheme: bool = False) -> Iterator[Token]:
    """Yield tokens from an offset on, up to ``#}`` where the text is embedded in Scheme."""
    position = start
    modes = [False]  # whether each open brace holds words of lyrics or markup
    pending: str | None = None  # the command whose brace of lyrics or markup may follow
    while position < end:
        match = (_TEXT if modes[-1] else _MUSIC).match(text, position)
        assert match is not None  # the group "sign" matches any character
        group, stop = match.lastgroup, match.end()
        if group == "space":
            position = stop
            continue
        if group == "scheme":
            if within_scheme and text.startswith("#}", position):
                return
            stop = _scheme_end(text, position, level)
        elif group == "block":
            stop = _end_after(text, "%}", stop)
        elif group in ("string", "quoted"):
            stop = _string_end(text, stop)
        stop = min(stop, end)
        token = Token(_KINDS[group], text[position:stop], position, stop)
        if token.kind is Kind.SIGN and token.text == "{":
            modes.append(pending is not None or modes[-1])
        elif token.kind is Kind.SIGN and token.text == "}" and len(modes) > 1:
            modes.pop()
        pending = _pending_command(token, pending)
        yield token
        position = stop


def _pending_command(token: Token, pending: str | None) -> str | None:
    """Return the command whose brace of lyrics or markup may still follow a token."""
    if token.kind is Kind.COMMENT:
        return pending
    if token.kind is Kind.COMMAND and (token.text in MARKUPS or token.text in LYRICS):
        return token.text
    if pending in MARKUPS:
        return pending if token.kind in (Kind.COMMAND, Kind.SCHEME, Kind.NUMBER, Kind.STRING) else None
    if pending == "\\lyricsto" and token.kind in (Kind.STRING, Kind.WORD, Kind.SCHEME):
        return "\\lyricmode"
    return None


def _scheme_end(text: str, position: int, level: int) -> int:
    """Return the offset after the one Scheme datum that follows the ``#`` or ``$`` at an offset."""
    position += 2 if text.startswith("@", position + 1) else 1
    end, depth = position, 0
    while position < len(text):
        match = _SCHEME.match(text, position)
        assert match is not None  # the groups cover all characters
        group, position = match.lastgroup, match.end()
        if group == "space":
            continue
        if group == "close" and not depth:  # it closes nothing in this datum, which is then missing
            return end
        depth += (group == "open") - (group == "close")
        if group == "block":
            position = _end_after(text, "!#" if match[0] == "#!" else "|#", position)
        elif group == "string":
            position = _string_end(text, position)
        elif group == "embedded":
            position = _embedded_end(text, position, level)
        end = position
        if not depth and group in ("string", "embedded", "close", "atom"):
            break
    return end


def _embedded_end(text: str, position: int, level: int) -> int:
    """Return the offset after LilyPond text within Scheme, which ends with ``#}``."""
    if level >= _NESTING:
        return len(text)
    for token in _lex(text, position, len(text), level + 1, within_scheme=True):
        position = token.end
    return _end_after(text, "#}", position)


def _string_end(text: str, position: int) -> int:
    match = _REST_OF_STRING.match(text, position)
    return match.end() if match else len(text)


def _end_after(text: str, mark: str, position: int) -> int:
    place = text.find(mark, position)
    return len(text) if place < 0 else place + len(mark)
