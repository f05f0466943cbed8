"""Answers to questions on a whole score that counting answers: who plays most, when the parts enter, how often."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from music_evals.baselines.msu.asked import PART, SPAN, WHERE, Rule, one, part, rule, yes
from music_evals.baselines.msu.score import Measure, Part, Score


def _named(part_: Part) -> str:
    if not part_.name:
        raise ValueError("the part has no name")
    return part_.name


def _best(score: Score, measured: Callable[[Part], int]) -> str:
    """Name of the part that has most of it."""
    most = max(map(measured, score.parts))
    return one({_named(each) for each in score.parts if measured(each) == most})


def _notes(part_: Part) -> int:
    return sum(len(each.notes) for each in part_.measures)


def _heights(measures: list[Measure]) -> list[int]:
    return [pitch.height for each in measures for event in each.events for pitch in event.pitches]


def _width(part_: Part) -> int:
    heights = [pitch.height for each in part_.measures for event in each.notes for pitch in event.pitches]
    return max(heights, default=0) - min(heights, default=0)


def _frequent(parts: list[Part]) -> str:
    counts = Counter(event.value for each in parts for found in each.measures for event in found.notes)
    most = max(counts.values())
    return f"{one({value for value, count in counts.items() if count == most} - {''})} note"


def _fullest(score: Score, _: re.Match[str]) -> str:
    counts: Counter[int] = Counter()
    for each in score.parts:
        for found in each.measures:
            counts[found.number] += sum(len(event.pitches) for event in found.notes)
    most = max(counts.values())
    return one({str(number) for number, count in counts.items() if count == most})


def _entries(score: Score) -> list[Measure]:
    """The measure in which each part has its first note."""
    return [next(iter(found)) for found in ([m for m in each.measures if m.notes] for each in score.parts) if found]


def _last_entry(score: Score, _: re.Match[str]) -> str:
    return str(max(each.number for each in _entries(score)))


def _first_entry(score: Score, _: re.Match[str]) -> str:
    starts = [(found.number, min(event.start for event in found.notes)) for found in _entries(score)]
    return one({_named(each) for each, start in zip(score.parts, starts, strict=True) if start == min(starts)})


def _highest(parts: list[Part]) -> str:
    tops = {each.number: max(_heights([each])) for one_part in parts for each in one_part.measures if _heights([each])}
    return ", ".join(str(number) for number, height in tops.items() if height == max(tops.values()))


def _metre_changes(score: Score, _: re.Match[str]) -> str:
    return one({str(sum(found.has_new_metre for found in each.measures)) for each in score.parts})


def _is_full(score: Score, match: re.Match[str]) -> str:
    return yes(all(each.measure(int(match["number"])).notes for each in score.parts))


def _outline(found: Measure) -> list[tuple[object, ...]]:
    written = (event for event in found.events if not event.is_hidden)
    return sorted((event.start, event.length, event.value, *map(str, event.pitches)) for event in written)


def _repeats(score: Score, match: re.Match[str]) -> str:
    found = part(score, match)
    return yes(_outline(found.measure(int(match["number"]))) == _outline(found.measure(int(match["other"]))))


def _returns(score: Score, match: re.Match[str]) -> str:
    found = part(score, match)
    place = found.measures.index(found.measure(int(match["number"])))
    outline = _outline(found.measures[place])
    later = [str(each.number) for each in found.measures[place + 1 :] if _outline(each) == outline]
    if not later:
        raise ValueError("the measure does not come again")
    return ", ".join(later)


def _register(score: Score, match: re.Match[str]) -> str:
    numbers = range(int(match["first"]), int(match["last"] or match["first"]) + 1)
    heights = _heights([each for each in part(score, match).measures if each.number in numbers])
    if heights and max(heights) < 60:
        return "Low"
    if heights and min(heights) >= 72:
        return "High"
    if heights and min(heights) >= 60 and max(heights) < 72:
        return "Middle"
    raise ValueError("the notes lie in several registers")


RULES: Final[tuple[Rule, ...]] = (
    rule(r"Which part has the most notes", lambda score, _: _best(score, _notes)),
    rule(r"Which part has the widest range", lambda score, _: _best(score, _width)),
    rule(rf"What is the most frequent note value in {PART}", lambda score, match: _frequent([part(score, match)])),
    rule(r"What is the most frequent note value of the piece", lambda score, _: _frequent(score.parts)),
    rule(r"Which measure has the most notes", _fullest),
    rule(r"In which measure does the last of the parts", _last_entry),
    rule(r"Which part begins the piece alone", _first_entry),
    rule(rf"In which measures does the highest note of {PART}", lambda score, match: _highest([part(score, match)])),
    rule(r"In which measures does the highest note of the piece", lambda score, _: _highest(score.parts)),
    rule(r"How many times does the time signature change", _metre_changes),
    rule(rf"Does every part have at least one note in {WHERE}", _is_full),
    rule(rf"Does measure (?P<other>[0-9]{{1,6}})(?: in {PART})? repeat measure (?P<number>[0-9]{{1,6}})", _repeats),
    rule(rf"In which later measures does {WHERE} come again", _returns),
    rule(rf"In which register do {SPAN}(?: in {PART})? lie", _register),
)
"""What answers questions of level 4."""
