"""Level 2: what is written in a measure (section 3.1 of the paper: notation and note)."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from random import Random
from typing import Final

from music21 import key, pitch

from music_evals.datasets_builders.msu.questions.kind import (
    Answers,
    Cases,
    Draw,
    Kind,
    cells,
    evenly,
    sampled,
    span,
    where,
)
from music_evals.datasets_builders.msu.questions.reading import Cell, Event, Reading, Voice, spell

# How many notes a question may count, or pitches it may have listed.
_COUNTED: Final = range(3, 17)
_LISTED: Final = range(1, 4)
# How many measures a question on repeat signs spans.
_REPEAT_SPAN: Final = 4


def _pitched(reading: Reading, rng: Random) -> list[tuple[int, Voice, Cell]]:
    return [(index, voice, cell) for index, voice, cell in cells(reading, rng) if voice.is_pitched and cell.is_at_pitch]


def _extreme_pitch(choose: Callable[..., pitch.Pitch]) -> Draw:
    def draw(reading: Reading, rng: Random) -> Answers:
        for index, voice, cell in _pitched(reading, rng):
            if len({each.ps for each in cell.pitches}) < 2 or cell.has_grace:
                continue
            best = choose(cell.pitches, key=lambda each: each.ps)
            # E♯ and F in one measure are the same height under two names.
            if len({each.nameWithOctave for each in cell.pitches if each.ps == best.ps}) == 1:
                yield spell(best), where(reading, index, voice)

    return draw


def _outside(cell: Cell) -> list[pitch.Pitch]:
    """Pitches that the key signature does not give."""
    signature = key.KeySignature(cell.fifths)
    altered = {each.step: each.alter for each in signature.alteredPitches}
    return [each for event in cell.events for each in event.pitches if each.alter != altered.get(each.step, 0.0)]


def _is_accidental(reading: Reading, rng: Random) -> Cases:
    for index, voice, cell in _pitched(reading, rng):
        if len(cell.notes) > 1:
            yield bool(_outside(cell)), where(reading, index, voice)


def _accidentals(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in _pitched(reading, rng):
        found = {each.nameWithOctave: each for each in _outside(cell)}
        if len(found) in _LISTED:
            listed = sorted(found.values(), key=lambda each: each.ps)
            yield ", ".join(map(spell, listed)), where(reading, index, voice)


def _extreme_value(sign: str, choose: Callable[[Iterable[Fraction]], Fraction]) -> Draw:
    def draw(reading: Reading, rng: Random) -> Answers:
        for index, voice, cell in cells(reading, rng):
            events = cell.rests if sign == "rest" else cell.notes
            if any(event.value is None or event.is_measure_rest for event in events):
                continue
            values = {event.length: str(event.value) for event in events}
            if len(values) > 1 or (sign == "rest" and values):
                yield f"{values[choose(values)]} {sign}", where(reading, index, voice)

    return draw


def _has_rest(reading: Reading, rng: Random) -> Cases:
    for index, voice, cell in cells(reading, rng):
        if cell.notes and not any(event.is_hidden for event in cell.events):
            yield bool(cell.rests), where(reading, index, voice)


def _dynamic(reading: Reading, rng: Random) -> Answers:
    # Over all parts: a marking between two staves belongs to either.
    for index in sampled(len(reading.measures), rng):
        found = {value for voice in reading.voices for _, value in voice.cells[index].dynamics}
        if len(found) == 1:
            yield found.pop(), where(reading, index)


def _mark(marks_of: Callable[[Event], frozenset[str]]) -> Draw:
    """Asks for the one kind of mark that the notes of a measure bear."""

    def draw(reading: Reading, rng: Random) -> Answers:
        for index, voice, cell in cells(reading, rng):
            found = {name for event in cell.notes for name in marks_of(event)}
            if len(found) == 1:
                yield found.pop(), where(reading, index, voice)

    return draw


def _whether(test: Callable[[Cell], bool]) -> Draw:
    """Asks of a measure of a part what the test answers."""

    def cases(reading: Reading, rng: Random) -> Cases:
        for index, voice, cell in cells(reading, rng):
            if cell.notes:
                yield test(cell), where(reading, index, voice)

    return evenly(cases)


def _is_last_tied(cell: Cell) -> bool:
    end = max(event.end for event in cell.notes)
    return any(event.is_tied_on for event in cell.notes if event.end == end)


def _has_fermata(cell: Cell) -> bool:
    return any(event.has_fermata for event in cell.events)


def _has_staccato(cell: Cell) -> bool:
    return any("Staccato" in event.articulations for event in cell.notes)


def _repeat(reading: Reading, rng: Random) -> Cases:
    size = len(reading.measures)
    if size < 2 * _REPEAT_SPAN:
        return
    for index in sampled(size - _REPEAT_SPAN + 1, rng):
        found = any(measure.has_repeat for measure in reading.measures[index : index + _REPEAT_SPAN])
        # A repeat sign on the edge of the measures may be said to stand in the next ones.
        edges = reading.measures[max(index - 1, 0) : index + _REPEAT_SPAN + 1]
        if found or not any(measure.has_repeat for measure in edges):
            yield found, span(reading, index, _REPEAT_SPAN)


def _new_metre(reading: Reading, rng: Random) -> Answers:
    if found := [index for index, measure in enumerate(reading.measures) if measure.is_new_metre]:
        index = rng.choice(found)
        yield reading.measures[index].metre, where(reading, index)


def _new_key(reading: Reading, rng: Random) -> Answers:
    if found := [index for index, measure in enumerate(reading.measures) if measure.is_new_key and measure.fifths]:
        index = rng.choice(found)
        if len({voice.cells[index].fifths for voice in reading.voices}) == 1:
            yield str(abs(reading.measures[index].fifths)), where(reading, index)


def _new_clef(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in cells(reading, rng):
        if len(cell.new_clefs) == 1 and cell.new_clefs[0]:
            yield cell.new_clefs[0], where(reading, index, voice)


def _note_count(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in cells(reading, rng):
        is_printed = not any(event.is_hidden for event in cell.events)
        if voice.is_pitched and is_printed and len(cell.pitches) in _COUNTED:
            yield str(len(cell.pitches)), where(reading, index, voice)


def _last_pitch(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in _pitched(reading, rng):
        if len(cell.notes) > 1 and len(cell.notes) == len(cell.events) - len(cell.rests) and cell.is_line:
            yield spell(cell.pitches[-1]), where(reading, index, voice)


KINDS: Final = (
    Kind(2, "highest pitch", "pitch", _extreme_pitch(max)),
    Kind(2, "lowest pitch", "pitch", _extreme_pitch(min)),
    Kind(2, "last pitch", "pitch", _last_pitch, weight=0.6),
    Kind(2, "accidental", "yes_no", evenly(_is_accidental)),
    Kind(2, "accidentals", "pitches", _accidentals, weight=1.5),
    Kind(2, "shortest note", "duration", _extreme_value("note", min)),
    Kind(2, "longest note", "duration", _extreme_value("note", max)),
    Kind(2, "rest", "yes_no", evenly(_has_rest)),
    Kind(2, "shortest rest", "duration", _extreme_value("rest", min)),
    Kind(2, "longest rest", "duration", _extreme_value("rest", max), weight=0.7),
    Kind(2, "dynamic", "text", _dynamic, weight=2),
    Kind(2, "articulation", "text", _mark(lambda event: event.articulations), weight=2),
    Kind(2, "staccato", "yes_no", _whether(_has_staccato)),
    Kind(2, "ornament", "text", _mark(lambda event: event.ornaments), weight=2.5),
    Kind(2, "fermata", "yes_no", _whether(_has_fermata)),
    Kind(2, "grace note", "yes_no", _whether(lambda cell: cell.has_grace)),
    Kind(2, "tie", "yes_no", _whether(_is_last_tied)),
    Kind(2, "repeat sign", "yes_no", evenly(_repeat), weight=1.5),
    Kind(2, "new time signature", "metre", _new_metre, weight=2),
    Kind(2, "new key signature", "number", _new_key, weight=2),
    Kind(2, "new clef", "clef", _new_clef, weight=2),
    Kind(2, "number of notes", "number", _note_count),
)
"""Kinds of questions of level 2."""
