r"""Brings old LilyPond text to the current syntax: ``convert-ly``, and mends of what it leaves undone.

``convert-ly`` leaves a text as it is where its rules do not reach, and LilyPond then stops there. The mends change
neither pitches nor durations. They were made from the errors of LilyPond 2.24.3 on the pieces of the Mutopia Project:

- ``#(override-auto-beam-setting …)`` and its revert, and ``#(set-script-property …)``, gone since 2.14: left out. They
  say where beams end and on which side of slurs ornaments are;
- ``#(set-octavation 1)``: ``\ottava #1``;
- ``\applyMusic #unfold-repeats``, whose function takes an argument more today: ``\unfoldRepeats``;
- a number in Scheme with music right after it, ``#1\tuplet``: a space between, as Guile 2 reads both as one symbol;
- spacing that convert-ly computes from ``staff-space``, which is no variable in 2.24, and ``#(if …)`` in ``\paper``,
  where Guile 2 forbids definitions: left out;
- header fields that join strings by ``+``, for LilyPond's TeX of old: left out;
- a variable ``q``, a chord repetition today: ``qq``;
- a version of two or four numbers, which convert-ly refuses: three.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from music_evals.notation.lilypond.converters import modernise
from music_evals.notation.lilypond.syntax.header import definitions, version_of
from music_evals.notation.lilypond.syntax.lexer import (
    Edit,
    Kind,
    Token,
    apply_edits,
    block_spans,
    code_tokens,
    string_value,
)

_GONE: Final = re.compile(r"[#$]\(\s*(?:override-auto-beam-setting|revert-auto-beam-setting|set-script-property)\s")
_OCTAVATION: Final = re.compile(r"[#$]\(\s*set-octavation\s+(-?[0-9]+)\s*\)")
_GLUED: Final = re.compile(r"#-?[0-9]+(?:\.[0-9]+)?(?=[\\|{}<>~])")
_CONDITION: Final = re.compile(r"[#$]\(\s*if\s")
_SPACING: Final = re.compile(r"[#$]\([^()]*\bstaff-space\b")


def upgrade(text: str, *, cache: bool = False) -> str:
    r"""Bring LilyPond text with a ``\version`` to the current syntax; ConversionError as for `modernise`."""
    return mend(modernise(_with_three_numbers(text), cache=cache))


def mend(text: str) -> str:
    """Apply the mends of this module to a text after convert-ly."""
    # This comes first, since a number that swallows a brace hides where blocks end.
    text = apply_edits(text, list(_numbers(code_tokens(text))))
    tokens = code_tokens(text)
    edits = [
        *_scheme(tokens, block_spans(text, "\\paper")),
        *_headers(tokens, block_spans(text, "\\header")),
        *_repetitions(text, tokens),
    ]
    return apply_edits(text, edits)


def _numbers(tokens: Sequence[Token]) -> Iterator[Edit]:
    for token in tokens:
        if token.kind is Kind.SCHEME and (glued := _GLUED.match(token.text)):
            yield token.start + glued.end(), token.start + glued.end(), " "


def _scheme(tokens: Sequence[Token], papers: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.kind is not Kind.SCHEME:
            continue
        before = tokens[index - 1].text if index else ""
        in_paper = any(start < token.start < end for start, end in papers)
        if _GONE.match(token.text):
            # The value of a variable becomes an empty piece of music.
            yield token.start, token.end, "{ }" if before == "=" else ""
        elif octaves := _OCTAVATION.fullmatch(token.text):
            yield token.start, token.end, f"\\ottava #{octaves[1]}"
        elif in_paper and _CONDITION.match(token.text):
            yield token.start, token.end, ""
        elif _SPACING.match(token.text) and before == "=":
            first = index - 2
            while first > 1 and tokens[first - 1].text == ".":
                first -= 2
            yield tokens[first].start, token.end, ""
        elif token.text == "#unfold-repeats" and before == "\\applyMusic":
            yield tokens[index - 1].start, token.end, "\\unfoldRepeats"


def _headers(tokens: Sequence[Token], headers: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """Header fields whose value is a sum."""
    for start, end in headers:
        inside = [token for token in tokens if start < token.start < end - 1]
        signs = [index for index, token in enumerate(inside) if token.text == "=" and index]
        for index, following in pairwise([*signs, len(inside) + 1]):
            value = inside[index + 1 : following - 1]
            if any(token.kind is Kind.SIGN and token.text == "+" for token in value[1:2]):
                yield inside[index - 1].start, value[-1].end, ""


def _repetitions(text: str, tokens: Sequence[Token]) -> Iterator[Edit]:
    """A variable with the name of today's chord repetition."""
    starts = {definition.start for definition in definitions(text) if definition.name == "q"}
    if starts:
        for token in tokens:
            if token.start in starts or token.text == "\\q":
                yield token.end, token.end, "q"


def _with_three_numbers(text: str) -> str:
    version = version_of(text)
    if version is None or not re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,3}){1,5}", version) or version.count(".") == 2:
        return text
    numbers = ".".join([*version.split("."), "0"][:3])
    strings = (token for token in code_tokens(text) if token.kind is Kind.STRING)
    first = next(token for token in strings if string_value(token.text).strip() == version)
    return apply_edits(text, [(first.start, first.end, f'"{numbers}"')])
