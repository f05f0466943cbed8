"""Splits LilyPond text into tokens, in linear time, whatever the text is."""

import re
from typing import Final, Literal, NamedTuple, cast

MAX_CHARACTERS: Final = 2_000_000
"""The longest text that is read."""

Kind = Literal["string", "scheme", "command", "word", "number", "script", "sign"]

# A name may hold single dashes and underscores between letters; `\\` and anything else is a command of one sign.
_NAME: Final = r"[^\W\d_]+(?:[-_][^\W\d_]+)*"
_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<block>%\{)|(?P<comment>%[^\n]*)"
    r'|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"?)'
    r"|(?P<scheme>[#$])"
    rf'|(?P<command>\\(?:{_NAME}|[0-9]+|"[^"\n]*"|.))'
    rf"|(?P<word>{_NAME})"
    r"|(?P<number>-?[0-9]+\.[0-9]+|[0-9]+)"
    r"|(?P<script>[-^_](?:[.>^_!+|-]|[0-9]+))"
    r"|(?P<sign><<|>>|.)",
    re.DOTALL,
)
_SCHEME: Final = re.compile(
    r'\s+|;[^\n]*|"[^"\\]*(?:\\.[^"\\]*)*"?|#\\(?:[^\W\d_]+|.)|#\{|#\}|[()\[\]]|[\'`,@]|#(?=\()|[^\s()\[\]";\'`,{}#]+|.',
    re.DOTALL,
)
_EMBEDDED: Final = re.compile(r"#[{}]")


class UnreadableScoreError(ValueError):
    """A text that cannot be read as LilyPond within bounds."""


class Token(NamedTuple):
    """A piece of LilyPond text, at offsets `start` to `end`; a string is kept with its quotation marks."""

    kind: Kind
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    r"""Split a text, without white space and comments.

    A Scheme expression is one token, however long it is.

    Args:
        text: LilyPond.

    Raises:
        UnreadableScoreError: the text is longer than `MAX_CHARACTERS`.

    Example:
        >>> [token.text for token in tokens("fis'4. % high\n\\tweak #'(a b) c->")]
        ['fis', "'", '4', '.', '\\tweak', "#'(a b)", 'c', '->']
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableScoreError(f"the score has {len(text)} characters; accepted are at most {MAX_CHARACTERS}")
    found: list[Token] = []
    place = 0
    while (match := _TOKEN.match(text, place)) is not None:
        place = match.end()
        kind = match.lastgroup
        if kind == "block":
            end = text.find("%}", place)
            place = len(text) if end < 0 else end + 2
        elif kind == "scheme":
            place = _scheme_end(text, place)
            found.append(Token("scheme", text[match.start() : place], match.start(), place))
        elif kind != "space" and kind != "comment":
            found.append(Token(cast(Kind, kind), match[0], match.start(), place))
    return found


def _scheme_end(text: str, place: int) -> int:
    """Where the Scheme expression ends that begins at a place."""
    depth = 0
    while (match := _SCHEME.match(text, place)) is not None:
        piece = match[0]
        if depth == 0 and (piece.isspace() or piece in ")]}{"):
            break
        place = match.end()
        if piece in "'`,@#" and len(piece) == 1:
            continue
        if piece == "#{":
            place = _embedded_end(text, place)
        elif piece in "([":
            depth += 1
        elif piece in ")]":
            depth -= 1
        if depth == 0:
            break
    return place


def _embedded_end(text: str, place: int) -> int:
    """Where the LilyPond within Scheme ends, whose opening sign was before a place."""
    depth = 1
    while depth:
        match = _EMBEDDED.search(text, place)
        if match is None:
            return len(text)
        depth += 1 if match[0] == "#{" else -1
        place = match.end()
    return place
