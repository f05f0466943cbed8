"""What the surface of a LilyPond text states: its version, its definitions and the fields of its header."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from music_evals.notation.lilypond.syntax.lexer import (
    Kind,
    Token,
    block_spans,
    code_tokens,
    literal_value,
    string_value,
)

_BLOCKS: Final = re.compile(
    r"\\(?:version|language|include|header|paper|layout|midi|score|book|bookpart|markup|markuplist|void|addQuote|"
    r"defaultchild|sourcefilename|sourcefileline|pointAndClick\w*|display\w*)"
)
r"""Commands that begin something new at top level, where an assignment's value is complete.

``\new`` and ``\relative`` are left out, since they begin values too. At top level nobody writes them after a complete
value without being noticed. Adding them would make a definition longer, never shorter."""
_BEFORE_NAMES: Final = frozenset(
    {"\\new", "\\context", "\\change", "\\set", "\\unset", "\\override", "\\revert", "\\tempo"}
)
_NO_PRINTED_TEXT: Final = re.compile(
    r"\\(?:with-url|with-color|hspace|vspace|fontsize|abs-fontsize|magnify|musicglyph|char|raise|lower|scale|rotate|"
    r"translate|draw-line|postscript|fromproperty|epsfile|pad-markup|pad-around|general-align|lookup|note|"
    r"note-by-number|fill-with-pattern|override)"
)
"""Markup commands whose first argument is no text to print."""


class Definition(NamedTuple):
    """A variable that a text defines at top level: ``source[start:end]`` is ``name = value``."""

    name: str
    start: int
    value: int  # offset at which the value begins
    end: int


def version_of(text: str) -> str | None:
    r"""Return the version in the text's first ``\version``, or None."""
    for token, following in pairwise(code_tokens(text)):
        if token.text == "\\version" and (version := literal_value(following)) is not None:
            return version.strip()
    return None


def definitions(text: str) -> list[Definition]:
    """Return the variables that a text defines at top level, in order; a name may occur twice."""
    tokens = code_tokens(text)
    depths = _depths(tokens)
    starts = [index for index in range(len(tokens)) if not depths[index] and _is_assignment(tokens, index)]
    result: list[Definition] = []
    for index, following in pairwise([*starts, len(tokens)]):
        first = _path_end(tokens, index) + 1
        if first >= following:
            continue
        later = range(first + 1, following)
        stop = next((here for here in later if not depths[here] and _begins_anew(tokens, here)), following)
        token = tokens[index]
        name = string_value(token.text) if token.kind is Kind.STRING else token.text
        result.append(Definition(name, token.start, tokens[first].start, tokens[stop - 1].end))
    return result


def read_header(text: str) -> dict[str, str]:
    """Return the fields of a text's header as plain text with single spaces, in order of appearance.

    Empty fields are left out. The fields are those of the first header that has any; later headers add the fields that
    it lacks. Markup is reduced to its words. A field that refers to another field or to a variable gets that value.
    """
    fields: dict[str, str] = {}
    variables = {
        definition.name: value
        for definition in definitions(text)
        if text[definition.value] in '"\\#$'
        and (value := _plain_text(code_tokens(text, definition.value, definition.end), {}))
    }
    for start, end in block_spans(text, "\\header"):
        tokens = list(code_tokens(text, start, end))[2:]
        if tokens and tokens[-1].text == "}":
            tokens.pop()
        depths = _depths(tokens)
        names = [index for index in range(len(tokens)) if not depths[index] and _is_assignment(tokens, index)]
        for index, following in pairwise([*names, len(tokens)]):
            value = _plain_text(tokens[_path_end(tokens, index) + 1 : following], {**variables, **fields})
            if value:
                fields.setdefault(tokens[index].text.strip('"'), value)
    return fields


def is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word names a variable or a context, and no note; in ``c='`` it is a note, with its octave checked."""
    if index and tokens[index - 1].text == "=":
        return True
    following = [token.text for token in tokens[index + 1 : index + 3]]
    return following[:1] == ["="] and following[-1] not in ("'", ",")


def _plain_text(tokens: Sequence[Token], values: Mapping[str, str]) -> str:
    """The printed words of a value; `values` has those of variables."""
    if len(tokens) == 1 and tokens[0].kind is Kind.SCHEME:
        literal = tokens[0].text[1:].lstrip()
        return " ".join(string_value(literal).split()) if literal.startswith('"') else ""
    pieces: list[str] = []
    end_of_last, is_skipping = -1, False
    for token in tokens:
        printed = None
        if token.kind is Kind.COMMAND:
            is_skipping = _NO_PRINTED_TEXT.fullmatch(token.text) is not None
            printed = values.get(token.text[1:])
        elif is_skipping:
            is_skipping = token.text in ("-", ".")  # the sign and the digits of a number are several tokens
        elif token.kind is Kind.STRING:
            printed = string_value(token.text)
        elif token.kind in (Kind.WORD, Kind.NUMBER) or (token.kind is Kind.SIGN and token.text not in "{}"):
            printed = token.text
        if printed is not None:
            pieces.append(printed if token.start == end_of_last else " " + printed)
            end_of_last = token.end
    return " ".join("".join(pieces).split())


def _depths(tokens: Sequence[Token]) -> list[int]:
    """How many braces and double angles are open ahead of each token; a closing one belongs to the inside."""
    depths, depth = [], 0
    for token in tokens:
        depths.append(depth)
        if token.kind is Kind.SIGN:
            depth = max(0, depth + (token.text in ("{", "<<")) - (token.text in ("}", ">>")))
    return depths


def _is_assignment(tokens: Sequence[Token], index: int) -> bool:
    if tokens[index].kind not in (Kind.WORD, Kind.STRING):
        return False
    if index and (tokens[index - 1].text in _BEFORE_NAMES or tokens[index - 1][1::2] == (".", tokens[index].start)):
        return False
    here = _path_end(tokens, index)
    return here < len(tokens) and tokens[here].text == "="


def _path_end(tokens: Sequence[Token], index: int) -> int:
    """Index of the token after a name with its path (``name.path.1``): the equals sign of an assignment."""
    here = index + 1
    while (
        here + 1 < len(tokens)
        and tokens[here].text == "."
        and tokens[here + 1].kind in (Kind.WORD, Kind.NUMBER)
        # With white space between, the dot ends an abbreviation in a markup: \italic rit. b = 3
        and tokens[here - 1].end == tokens[here].start == tokens[here + 1].start - 1
    ):
        here += 2
    return here


def _begins_anew(tokens: Sequence[Token], index: int) -> bool:
    """Whether something other than the value begins at a top-level token behind the value's first token."""
    token, before = tokens[index], tokens[index - 1]
    is_complete = before.text in ("}", ">>") or before.kind in (Kind.STRING, Kind.SCHEME)
    if token.kind is Kind.COMMAND and _BLOCKS.fullmatch(token.text):
        return True
    return token.kind is Kind.SCHEME and is_complete and token.text[1:2] == "("
