"""What the surface of a LilyPond text states: its version and the fields of its header."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from music_evals.notation.lilypond.syntax.lexer import (
    Kind,
    Token,
    blocks,
    literal_value,
    string_value,
    tokenize,
)


def version_of(text: str) -> str | None:
    r"""Return the version in the text's first ``\version``, or None."""
    return next((version.strip() for _, version in stated_versions(text)), None)


def stated_versions(text: str) -> Iterator[tuple[Token, str]]:
    r"""Yield the versions that a text states by ``\version``, and their tokens."""
    for command, version in pairwise(tokenize(text)):
        if command.text == "\\version" and (stated := literal_value(version)) is not None:
            yield version, stated


def read_header(text: str) -> dict[str, str]:
    """Return the fields of a text's header as plain text with single spaces, in order of
    appearance.

    Empty fields are left out. The fields are those of the first header that has any; later headers
    add the fields that it lacks. Markup is reduced to its words. A field that refers to another
    field gets its value.
    """
    fields: dict[str, str] = {}
    for block in blocks(text, "\\header"):
        tokens = block[2:-1] if block[-1].text == "}" else block[2:]
        for index, following in pairwise([*_assignments(tokens), len(tokens)]):
            if value := _plain_text(tokens[index + 2 : following], fields):
                fields.setdefault(tokens[index].text.strip('"'), value)
    return fields


def _assignments(tokens: Sequence[Token]) -> list[int]:
    """Indices of the names that are assigned to outside of braces."""
    names, depth = [], 0
    for index, (token, following) in enumerate(pairwise(tokens)):
        if not depth and token.kind in (Kind.WORD, Kind.STRING) and following.text == "=":
            names.append(index)
        if token.kind is Kind.SIGN:
            depth = max(0, depth + (token.text == "{") - (token.text == "}"))
    return names


def _plain_text(tokens: Sequence[Token], fields: Mapping[str, str]) -> str:
    """The printed words of a value. Scheme prints nothing, except for a string that is all of the
    value.
    """
    if len(tokens) == 1 and (value := literal_value(tokens[0])) is not None:
        return " ".join(value.split())
    pieces: list[str] = []
    end_of_last = -1
    for token in tokens:
        printed = token.text if token.text not in "{}" else None
        if token.kind is Kind.COMMAND:
            printed = fields.get(token.text[1:])
        elif token.kind in (Kind.STRING, Kind.SCHEME):
            printed = string_value(token.text) if token.kind is Kind.STRING else None
        if printed is not None:
            pieces.append(printed if token.start == end_of_last else " " + printed)
            end_of_last = token.end
    return " ".join("".join(pieces).split())
