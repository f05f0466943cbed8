"""Values of a statement that stand in one list."""

import re
from collections.abc import Sequence
from typing import Any

_BETWEEN = re.compile(
    r"(?i)(?:[\s,;|/()\[\]\"'→>–-]|\([^()]{0,20}\)|(?:hz|s|sec|seconds|and|then|to|und|et|y)\b\.?){0,20}"
)


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
