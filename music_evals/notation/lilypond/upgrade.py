r"""Old LilyPond text in the current syntax: ``convert-ly``, and what it leaves undone.

``convert-ly`` leaves a text as it is where its rules do not reach, and where LilyPond then stops. What `mend` does
about that changes neither pitches nor durations. It was made from the errors of LilyPond 2.24.3 on the pieces of the
Mutopia Project, and knows:

- ``#(override-auto-beam-setting …)`` and its revert, and ``#(set-script-property …)``, gone since 2.14: left out; they
  say where beams end and on which side of slurs ornaments stand;
- ``#(set-octavation 1)``: ``\ottava #1``;
- ``\applyMusic #unfold-repeats``, whose function takes an argument more today: ``\unfoldRepeats``;
- a number in Scheme with music right after it, ``#1\tuplet``: a space between, as Guile 2 takes them for one symbol;
- spacing that convert-ly computes from ``staff-space``, which is no variable in 2.24, and ``#(if …)`` in ``\paper``,
  which defines in a place where Guile 2 forbids it: left out;
- header fields that join strings by ``+``, for LilyPond's TeX of old: left out;
- a variable ``q``, a chord repetition today: ``qq``;
- a version of two or four numbers, which convert-ly refuses: three.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from music_evals.notation.lilypond.compiler import modernise, modernise_together
from music_evals.notation.lilypond.syntax import (
    Edit,
    Kind,
    Token,
    block_spans,
    code_tokens,
    definitions,
    edited,
    string_value,
    version_of,
)

_GONE: Final = re.compile(r"[#$]\(\s*(?:override-auto-beam-setting|revert-auto-beam-setting|set-script-property)\s")
_OCTAVATION: Final = re.compile(r"[#$]\(\s*set-octavation\s+(-?[0-9]+)\s*\)")
_GLUED: Final = re.compile(r"#-?[0-9]+(?:\.[0-9]+)?(?=[\\|{}<>~])")
_CONDITION: Final = re.compile(r"[#$]\(\s*if\s")
_SPACING: Final = re.compile(r"[#$]\([^()]*\bstaff-space\b")


def upgrade(text: str, *, cache: bool = False) -> str:
    r"""Bring LilyPond text with a ``\version`` to the current syntax; ConversionError as for `modernise`."""
    return mend(modernise(_with_three_numbers(text), cache=cache))


def prepare_upgrades(texts: Iterable[str]) -> None:
    """Do for many texts at once what takes `upgrade` with the cache longest."""
    modernise_together(_with_three_numbers(text) for text in texts)


def mend(text: str) -> str:
    """Change what convert-ly leaves undone; the module says what."""
    # First, since a number that swallows a brace hides where blocks end.
    text = edited(text, list(_numbers(code_tokens(text))))
    found = code_tokens(text)
    edits = [
        *_scheme(found, block_spans(text, "\\paper")),
        *_headers(found, block_spans(text, "\\header")),
        *_repetitions(text, found),
    ]
    return edited(text, edits)


def _numbers(found: Sequence[Token]) -> Iterator[Edit]:
    for token in found:
        if token.kind is Kind.SCHEME and (glued := _GLUED.match(token.text)):
            yield token.start + glued.end(), token.start + glued.end(), " "


def _scheme(found: Sequence[Token], papers: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    for index, token in enumerate(found):
        if token.kind is not Kind.SCHEME:
            continue
        before = found[index - 1] if index else None
        in_paper = any(start < token.start < end for start, end in papers)
        if _GONE.match(token.text):
            # As the value of a variable, an empty piece of music stands for it.
            yield token.start, token.end, "{ }" if before is not None and before.text == "=" else ""
        elif octaves := _OCTAVATION.fullmatch(token.text):
            yield token.start, token.end, f"\\ottava #{octaves[1]}"
        elif in_paper and _CONDITION.match(token.text):
            yield token.start, token.end, ""
        elif _SPACING.match(token.text) and before is not None and before.text == "=":
            first = index - 2
            while first > 1 and found[first - 1].text == ".":
                first -= 2
            yield found[first].start, token.end, ""
        elif token.text == "#unfold-repeats" and before is not None and before.text == "\\applyMusic":
            yield before.start, token.end, "\\unfoldRepeats"


def _headers(found: Sequence[Token], headers: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """Fields whose value is a sum."""
    for start, end in headers:
        inside = [token for token in found if start < token.start < end - 1]
        signs = [index for index, token in enumerate(inside) if token.text == "=" and index]
        for index, following in pairwise([*signs, len(inside) + 1]):
            value = inside[index + 1 : following - 1]
            if any(token.kind is Kind.SIGN and token.text == "+" for token in value[1:2]):
                yield inside[index - 1].start, value[-1].end, ""


def _repetitions(text: str, found: Sequence[Token]) -> Iterator[Edit]:
    """A variable with the name of today's chord repetition."""
    starts = {definition.start for definition in definitions(text) if definition.name == "q"}
    if starts:
        for token in found:
            if token.start in starts or token.text == "\\q":
                yield token.end, token.end, "q"


def _with_three_numbers(text: str) -> str:
    stated = version_of(text)
    if stated is None or not re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,3}){1,5}", stated) or stated.count(".") == 2:
        return text
    numbers = ".".join([*stated.split("."), "0"][:3])
    places = [(one.start, one.end) for one in code_tokens(text) if one.kind is Kind.STRING]
    first = next(place for place in places if string_value(text[slice(*place)]).strip() == stated)
    return edited(text, [(*first, f'"{numbers}"')])
