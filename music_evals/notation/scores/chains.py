"""Sentences that lead from measure to measure, before a question on the last one.

Only the notes decide, so that any reading of a score leads to the same measure.

Example:
    >>> from music21.chord import Chord
    >>> parts = {"staff 1 from the top": {1: Chord("C4"), 2: Chord("C4 E4"), 3: Chord()}}
    >>> resolve("Among the 2 measures after measure 1, take the one with the highest note of "
    ...     "staff 1 from the top. Is there a rest in that measure?", parts.get)
    'Is there a rest in measure 2?'
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

STEP = "Among the {} measures after {}, take the one with the {} note of {}. "
"""Sentence with blanks for a number of measures, ``measure`` and a number or ``it``, ``highest`` or
``lowest``, and a part.
"""
TARGET = "that measure"
"""How a question names the measure that the sentences lead to."""
_STEP = re.compile(
    r"Among the ([0-9]{1,4}) measures after (?:measure ([0-9]{1,6})|it), "
    r"take the one with the (lowest|highest) note of (.{1,200}?)\. "
)


def resolve(text: str, measures_of: Callable[[str], Mapping[int, Any]]) -> str:
    """Return a question without the sentences that lead to its measure, and with its number.

    Args:
        text: the sentences and the question.
        measures_of: takes the name of a part in a question, and returns its measures by number,
            with ``pitches`` of music21.

    Raises:
        ValueError: several measures fit a sentence, or none.
        LookupError: there is no such part or measure.
    """
    place = 0
    for count, start, end, part in _STEP.findall(text):
        place = int(start or place)
        choose = max if end == "highest" else min
        measures, heights = measures_of(part), {}
        for number in range(place + 1, place + int(count) + 1):
            if pitches := measures[number].pitches:
                heights[number] = choose(pitch.ps for pitch in pitches)
        (place,) = (number for number in heights if heights[number] == choose(heights.values()))
    return _STEP.sub("", text).replace(TARGET, f"measure {place}")
