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
_SCHEME_KINDS: Final[Mapping[str | None, Kind]] = {
    **{"comment": Kind.COMMENT, "block": Kind.COMMENT, "string": Kind.STRING, "embedded": Kind.SCHEME},
    **{"atom": Kind.WORD, "open": Kind.SIGN, "close": Kind.SIGN, "prefix": Kind.SIGN},
}
_MAX_CACHED: Final = 1_000_000  # characters of a text whose tokens are cached; callers ask for most texts many times
_NESTING: Final = 32  # levels of LilyPond within Scheme within LilyPond; deeper text counts as one expression


def tokenize(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    r"""Yield the tokens of a text, or of a passage that begins outside of strings and comments, without white space.

    Comments are included. A Scheme expression is one token, however long; `scheme_tokens` splits it.

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


def scheme_tokens(text: str, token: Token) -> Iterator[Token]:
    """Yield the tokens within a Scheme token: strings, comments, signs, and symbols and other atoms as words.

    LilyPond text within ``#{ … #}``, with these marks, is one token of the kind scheme.
    """
    for inner in _lex_scheme(text, token.start, 0):
        if inner.end > token.end:
            return
        yield inner


def embedded_span(text: str, token: Token) -> tuple[int, int]:
    """Return start and end of the LilyPond text within ``#{ … #}``, a token from `scheme_tokens`."""
    is_closed = text.endswith("#}", token.start + 2, token.end)
    return token.start + 2, token.end - 2 if is_closed else token.end


class Lines:
    """Converts LilyPond's places in a text to offsets; it counts lines from 1, and characters in a line from 0."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a place; ValueError if the text has no such place."""
        if not 1 <= line <= len(self._starts) or not 0 <= character <= self._end(line) - self._starts[line - 1]:
            raise ValueError(f"the text has no character {character} in line {line}")
        return self._starts[line - 1] + character

    def offset_of_column(self, line: int, column: int) -> int:
        """Return the offset of a place in a message (``file:3:5``); columns count from 0, tab stops are at 8."""
        offset, passed = self.offset(line, 0), 0
        while passed < column:
            if offset == self._end(line):
                raise ValueError(f"line {line} has {passed} columns, not {column}")
            passed += 8 - passed % 8 if self._text[offset] == "\t" else 1
            offset += 1
        return offset

    def _end(self, line: int) -> int:
        return self._starts[line] - 1 if line < len(self._starts) else len(self._text)


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


def comment_spans(text: str, start: int, end: int, level: int = 0) -> Iterator[tuple[int, int]]:
    """Yield start and end of every comment in a passage, also within Scheme.

    ValueError if LilyPond within Scheme is nested more than 32 levels deep.
    """
    if level > _NESTING:
        raise ValueError(f"LilyPond within Scheme is nested more than {_NESTING} deep")
    for token in tokenize(text, start, end):
        if token.kind is Kind.COMMENT:
            yield token.start, token.end
        elif token.kind is Kind.SCHEME:
            for inner in scheme_tokens(text, token):
                if inner.kind is Kind.COMMENT:
                    yield inner.start, inner.end
                elif inner.kind is Kind.SCHEME:
                    yield from comment_spans(text, *embedded_span(text, inner), level + 1)


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
            for inner in _lex_scheme(text, position, level):
                stop = inner.end
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


def _lex_scheme(text: str, position: int, level: int) -> Iterator[Token]:
    """Yield the tokens of the one Scheme datum after the ``#`` or ``$`` at an offset."""
    position += 2 if text.startswith("@", position + 1) else 1
    depth = 0
    while position < len(text):
        match = _SCHEME.match(text, position)
        assert match is not None  # the groups cover all characters
        group, stop = match.lastgroup, match.end()
        if group == "space":
            position = stop
            continue
        if group == "close" and not depth:  # it closes nothing in this datum, which is then missing
            return
        depth += (group == "open") - (group == "close")
        if group == "block":
            stop = _end_after(text, "!#" if match[0] == "#!" else "|#", stop)
        elif group == "string":
            stop = _string_end(text, stop)
        elif group == "embedded":
            if level >= _NESTING:
                stop = len(text)
            else:
                for token in _lex(text, stop, len(text), level + 1, within_scheme=True):
                    stop = token.end
                stop = _end_after(text, "#}", stop)
        yield Token(_SCHEME_KINDS[group], text[position:stop], position, stop)
        if not depth and group in ("string", "embedded", "close", "atom"):
            return
        position = stop


def _string_end(text: str, position: int) -> int:
    match = _REST_OF_STRING.match(text, position)
    return match.end() if match else len(text)


def _end_after(text: str, mark: str, position: int) -> int:
    place = text.find(mark, position)
    return len(text) if place < 0 else place + len(mark)
