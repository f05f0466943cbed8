"""Numbers as people write them, and values that stand in one list."""

import re
from collections.abc import Sequence
from typing import Any

_SIGNS = r"""[\s,;:|+*/()\[\]{}"'→>、。。秒第和と–-]"""
_WORDS = (
    r"(?:hz|(?:midi )?note(?: number)?|midi|s|sec|seconds|and|then|an?|first|finally|to|und|et|y|e"
    r"|и)\b\.?"
)
_LEAD = r"\n[^\W\d][^:\d\n]{0,30}[:|]"  # of a line
_BETWEEN = re.compile(rf"(?i)(?:{_LEAD}|{_SIGNS}|\([^()]{{0,20}}\)|{_WORDS}){{0,20}}")
_LARGEST = 20_000  # of numbers that are written with commas: more is a list


def with_points(text: str) -> str:
    """Return a text with its numbers as in 1046.5: no commas for thousands, points for decimals.

    >>> with_points("1,046.5 Hz"), with_points("1,5; 3,2"), with_points("440,493,523")
    ('1046.5 Hz', '1.5; 3.2', '440,493,523')
    """

    def joined(match: re.Match[str]) -> str:
        number = match[0].replace(",", "")
        return number if int(number) <= _LARGEST else match[0]

    text = re.sub(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", joined, text)
    return re.sub(r"(?<![\d.,])(\d+),(\d{1,2})(?![.,]?\d)", r"\1.\2", text)


def single_run(text: str, spans: Sequence[tuple[int, int, Any]]) -> list[Any]:
    """Return the values of the only list in a text, given the places of all values.

    A list has nothing but separators between its values. A text with several lists has none, unless
    a single one has more than one value.

    >>> single_run("60, 62 and 64", [(0, 2, 60), (4, 6, 62), (11, 13, 64)])
    [60, 62, 64]
    """
    runs: list[list[Any]] = []
    end = -1
    for start, stop, value in spans:
        if runs and _BETWEEN.fullmatch(text, end, start):
            runs[-1].append(value)
        else:
            runs.append([value])
        end = stop
    longer = [run for run in runs if len(run) > 1]
    candidates = longer or runs
    return candidates[0] if len(candidates) == 1 else []


def without_asides(text: str) -> str:
    """Return a text without what is in round brackets.

    >>> without_asides("85 BPM (or 170)")
    '85 BPM '
    """
    return re.sub(r"\([^()]{0,200}\)", "", text)
