"""Chains of steps of music theory, each of which works on the result of another: their words in
Chinese and English, and what they lead to.

``theory_chains.toml`` has the steps. Notes and keys are numbers on the line of fifths, tempos are
quarter notes a minute.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import Any

from music_evals.notation.toml_files import read_toml

LABELS = "PQRSTUWXYZ"
"""Labels of results; they are neither names of notes nor V, a numeral."""
TABLES: Mapping[str, Any] = read_toml(__package__, "theory_chains.toml")


Link = tuple[Any, Any]  # a step and the word in its blank, as in ``theory_chains.toml``
LINKS = [[*product(group["steps"], group["words"])] for group in TABLES["groups"]]
"""All links, by group; the steps of a group have the same words."""


def worded(link: Link, source: str, out: str) -> list[str]:
    """Word a step from the label of its source to the label of its result, by language."""
    texts = zip(*(entry["text"] for entry in link), strict=True)
    return [text.format(word, source=source, out=out) for text, word in texts]


def follow(links: Sequence[Link], level: int = 5) -> tuple[str, str] | None:
    """Name what a chain leads to, by language; None if a step does not fit its source, or the
    level.
    """
    kind = "start"
    number = 0
    for step, word in links:
        if kind not in word or word["level"] > level:
            return None
        if kind == "tempo":
            number *= Fraction(word[kind]) ** step["times"]
        else:
            number += word[kind] * step["times"]
        kind = step["to"][kind]
        result = TABLES["results"][kind]
        if number.denominator > 1 or int(number) not in range(*result["bounds"]):
            return None
    zh, en = map(str.format, result["text"], TABLES["notes"][int(number) % 35], [number] * 2)
    return zh, en


def solve(text: str) -> tuple[str, str] | None:
    """Name what a question on a chain, in either language, leads to; None if it has no chain."""
    steps = {}
    for link in chain(*LINKS):
        for pattern in worded(link, f"(?P<source>[{LABELS}])", f"(?P<out>[{LABELS}])"):
            for match in re.finditer(pattern, text):
                steps[match["out"]] = match.groupdict().get("source", ""), link
    links: list[Link] = []
    label = max(LABELS, key=text.rfind)
    while label in steps:
        label, link = steps.pop(label)
        links.insert(0, link)
    return follow(links) if links else None
