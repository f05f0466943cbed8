"""What the answers share: the place that a question names, and how a question is told by its words."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from music_evals.baselines.msu.music import Pitch
from music_evals.baselines.msu.score import Measure, Part, Score

Answer = Callable[[Score, re.Match[str]], str]
"""Answers a question that its pattern fits; `ValueError` where it cannot be told."""

WHERE: Final = r"measure (?P<number>[0-9]{1,6})(?: of (?P<part>the part “[^”]*”|staff [0-9]{1,3} from the top))?"
"""A measure, and a part where there are several."""

PART: Final = r"(?P<part>the part “[^”]*”|staff [0-9]{1,3} from the top)"
"""A part."""

SPAN: Final = r"measures? (?P<first>[0-9]{1,6})(?:–(?P<last>[0-9]{1,6}))?"
"""Some measures, one after the other."""


class Rule(NamedTuple):
    """A pattern that fits the beginning of a question, and what answers it."""

    pattern: re.Pattern[str]
    answer: Answer


def rule(pattern: str, answer: Answer) -> Rule:
    """Make a rule.

    Args:
        pattern: fits the beginning of the question, in any case.
        answer: answers it.

    Returns:
        The rule.

    Example:
        >>> rule("How many staves", lambda score, match: str(len(score.parts))).pattern.match("how many?") is None
        True
    """
    return Rule(re.compile(pattern, re.IGNORECASE), answer)


def part(score: Score, match: re.Match[str]) -> Part:
    """The part that a question names, or the only one.

    Args:
        score: the score.
        match: of a pattern with `WHERE` or `PART`.

    Returns:
        The part.

    Raises:
        ValueError: there is no such part, or there are several.

    Example:
        >>> part(Score(parts=[Part("1", "Alto")]), re.match(PART, "the part “Alto”")).voice
        '1'
    """
    label = match["part"]
    if label is None:
        found = score.parts
    elif label.lower().startswith("staff"):
        place = int(label.split()[1])
        found = score.parts[place - 1 : place] if place else []
    else:
        name = label.partition("“")[2].rstrip("”")
        # A quotation mark cannot stand within one in ABC.
        found = [each for each in score.parts if name.replace('"', "'") == each.name]
    if len(found) != 1:
        raise ValueError(f"{len(found)} parts are {label!r}")
    return found[0]


def measure(score: Score, match: re.Match[str]) -> Measure:
    """The measure that a question names.

    Args:
        score: the score.
        match: of a pattern with `WHERE`.

    Returns:
        The measure.

    Raises:
        ValueError: there is none, or there are several.

    Example:
        >>> measure(Score(parts=[Part("1", "", [Measure(3)])]), re.match(WHERE, "measure 3")).number
        3
    """
    return part(score, match).measure(int(match["number"]))


def span(score: Score, match: re.Match[str]) -> list[list[Measure]]:
    """The measures that a question names, in every part.

    Args:
        score: the score.
        match: of a pattern with `SPAN`.

    Returns:
        For each part, its measures.

    Raises:
        ValueError: a part has none of them.

    Example:
        >>> found = span(Score(parts=[Part("1", "", [Measure(3), Measure(4)])]), re.match(SPAN, "measures 3–4"))
        >>> [[each.number for each in row] for row in found]
        [[3, 4]]
    """
    first = int(match["first"])
    last = int(match["last"] or first)
    rows = [[each for each in one.measures if first <= each.number <= last] for one in score.parts]
    if not all(rows):
        raise ValueError(f"there are no measures {first} to {last}")
    return rows


def one(found: set[str]) -> str:
    """The only element.

    Args:
        found: the candidates.

    Returns:
        It.

    Raises:
        ValueError: there is none, or there are several.

    Example:
        >>> one({"mf"})
        'mf'
    """
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} answers")
    return next(iter(found))


def yes(is_so: bool) -> str:
    """Yes or No.

    Args:
        is_so: which.

    Returns:
        The word.

    Example:
        >>> yes(True)
        'Yes'
    """
    return "Yes" if is_so else "No"


def listed(pitches: set[Pitch]) -> str:
    """Write pitches from the lowest up.

    Args:
        pitches: the pitches.

    Returns:
        Their names and octaves, with commas.

    Raises:
        ValueError: there are none.

    Example:
        >>> listed({Pitch("G", 1, 4), Pitch("B", -1, 3)})
        'B♭3, G♯4'
    """
    if not pitches:
        raise ValueError("there are no such pitches")
    return ", ".join(str(each) for each in sorted(pitches, key=lambda each: (each.height, each.place)))
