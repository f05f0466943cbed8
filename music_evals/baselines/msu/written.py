"""Answers to questions on what is written in a measure."""

import re
from collections.abc import Callable
from typing import Final

from music_evals.baselines.msu.asked import SPAN, WHERE, Answer, Rule, listed, measure, one, rule, span, yes
from music_evals.baselines.msu.music import Event, Pitch, signed
from music_evals.baselines.msu.score import Measure, Score

_ARTICULATIONS: Final = {
    "staccato": "Staccato",
    "wedge": "Staccatissimo",
    "tenuto": "Tenuto",
    "marcato": "Marcato",
    "^": "Marcato",
    "accent": "Accent",
    "emphasis": "Accent",
    ">": "Accent",
}
_ORNAMENTS: Final = {
    "trill": "Trill",
    "uppermordent": "Upper mordent",
    "pralltriller": "Upper mordent",
    "lowermordent": "Lower mordent",
    "mordent": "Lower mordent",
    "turn": "Turn",
    "invertedturn": "Inverted turn",
}


def _pitches(events: list[Event]) -> list[Pitch]:
    found = [pitch for event in events for pitch in event.pitches]
    if not found:
        raise ValueError("there are no notes")
    return found


def _highest(score: Score, match: re.Match[str]) -> str:
    return str(max(_pitches(measure(score, match).notes), key=lambda pitch: pitch.height))


def _lowest(score: Score, match: re.Match[str]) -> str:
    return str(min(_pitches(measure(score, match).notes), key=lambda pitch: pitch.height))


def _end_note(choose: Callable[..., Event]) -> Answer:
    def answer(score: Score, match: re.Match[str]) -> str:
        notes = measure(score, match).notes
        return str(one({str(each) for each in choose(notes, key=lambda event: event.start).pitches}))

    return answer


def _departing(each: Measure) -> set[Pitch]:
    sharps = each.sharps
    return {p for event in each.events for p in event.pitches if p.alter != signed(p.letter, sharps)}


def _extreme_value(choose: Callable[..., Event], sign: str) -> Answer:
    def answer(score: Score, match: re.Match[str]) -> str:
        found = measure(score, match)
        event = choose(found.notes if sign == "note" else found.rests, key=lambda event: event.length)
        return f"{one({event.value} - {''})} {sign}"

    return answer


def _dynamic(score: Score, match: re.Match[str]) -> str:
    number = int(match["number"])
    found = [measure(score, match)] if match["part"] else [each.measure(number) for each in score.parts]
    return one({mark for each in found for _, mark in each.dynamics})


def _articulations(event: Event) -> set[str]:
    found = {_ARTICULATIONS[mark] for mark in event.marks if mark in _ARTICULATIONS}
    return found - {"Staccato", "Tenuto"} | {"Portato"} if {"Staccato", "Tenuto"} <= found else found


def _articulation(score: Score, match: re.Match[str]) -> str:
    return one({name for event in measure(score, match).notes for name in _articulations(event)})


def _ornament(score: Score, match: re.Match[str]) -> str:
    marks = {mark for event in measure(score, match).notes for mark in event.marks}
    return one({_ORNAMENTS[mark] for mark in marks if mark in _ORNAMENTS})


def _whether(test: Callable[[Measure], bool]) -> Answer:
    return lambda score, match: yes(test(measure(score, match)))


def _is_last_tied(each: Measure) -> bool:
    end = max(event.end for event in each.notes)
    return any(event.is_tied for event in each.notes if event.end == end)


def _repeat(score: Score, match: re.Match[str]) -> str:
    return yes(any(each.has_repeat for row in span(score, match) for each in row))


def _new_metre(score: Score, match: re.Match[str]) -> str:
    number = int(match["number"])
    found = [each.measure(number) for each in score.parts]
    return one({each.metre for each in found if each.has_new_metre})


def _new_key(score: Score, match: re.Match[str]) -> str:
    number = int(match["number"])
    found = [each.measure(number) for each in score.parts]
    return one({str(abs(each.sharps)) for each in found if each.has_new_key})


def _new_clef(score: Score, match: re.Match[str]) -> str:
    return one(set(measure(score, match).new_clefs) - {""})


def _count(score: Score, match: re.Match[str]) -> str:
    return str(sum(len(event.pitches) for event in measure(score, match).notes))


def _marked(name: str) -> Answer:
    return _whether(lambda each: any(name in _articulations(event) for event in each.notes))


RULES: Final[tuple[Rule, ...]] = (
    rule(rf"In {WHERE}, what is the highest pitch", _highest),
    rule(rf"In {WHERE}, what is the lowest pitch", _lowest),
    rule(rf"In {WHERE}, what is the first note", _end_note(min)),
    rule(rf"In {WHERE}, what is the last note", _end_note(max)),
    rule(rf"In {WHERE}, is there a note with an accidental", _whether(lambda each: bool(_departing(each)))),
    rule(
        rf"In {WHERE}, which pitches depart from the key signature",
        lambda score, match: listed(_departing(measure(score, match))),
    ),
    rule(rf"In {WHERE}, what is the value of the shortest note", _extreme_value(min, "note")),
    rule(rf"In {WHERE}, what is the value of the longest note", _extreme_value(max, "note")),
    rule(rf"In {WHERE}, what is the value of the shortest rest", _extreme_value(min, "rest")),
    rule(rf"In {WHERE}, what is the value of the longest rest", _extreme_value(max, "rest")),
    rule(rf"Is there a rest in {WHERE}", _whether(lambda each: bool(each.rests))),
    rule(rf"Which dynamic marking stands in {WHERE}", _dynamic),
    rule(rf"Which articulation mark do notes bear in {WHERE}", _articulation),
    rule(rf"Is any note in {WHERE} marked staccato", _marked("Staccato")),
    rule(rf"Which ornament sign stands in {WHERE}", _ornament),
    rule(
        rf"Is there a fermata in {WHERE}",
        _whether(lambda each: any("fermata" in mark for event in each.events for mark in event.marks)),
    ),
    rule(rf"Is there a grace note in {WHERE}", _whether(lambda each: any(event.is_grace for event in each.events))),
    rule(rf"Is there a chord in {WHERE}", _whether(lambda each: any(len(event.pitches) > 1 for event in each.notes))),
    rule(rf"Is a note at the end of {WHERE} tied over", _whether(_is_last_tied)),
    rule(rf"Is there a repeat sign[^?]* in {SPAN}", _repeat),
    rule(rf"To which time signature does {WHERE} change", _new_metre),
    rule(rf"The key signature changes at {WHERE}", _new_key),
    rule(rf"Which new clef appears within {WHERE}", _new_clef),
    rule(rf"How many notes are written in {WHERE}", _count),
)
"""What answers questions of level 2."""
