"""Levels 1 and 2: the beginning of a score, and the notation of a measure.

Source: section 3.1 of the paper (onset information; notation and note).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from random import Random
from typing import Any

from music21 import expressions, key, pitch, tempo

from music_evals.datasets_builders.msu.questions.kind import (
    Answers,
    Cases,
    Draw,
    evenly,
    of_cells,
    sampled,
    varied,
)
from music_evals.datasets_builders.msu.questions.reading import Cell, Event, Reading, Voice, spell
from music_evals.datasets_builders.msu.questions.tonality import certain_key, key_name

_UNKNOWN = re.compile(r"(anon|unknown|composer|untitled|title|trad|none)", re.IGNORECASE)
_FILE_NAME = re.compile(r"\.(mxl|xml|musicxml|abc|krn|midi?)$", re.IGNORECASE)
_TEMPO_WORDS = re.compile(
    r"\b(adagi|allegr|andant|grave|langsam|largh?|lento|moderato|mäßig|prest|schnell|vivac|tempo|lebhaft|lent|vif|"
    r"modéré|maestoso|slow|fast|march)",
    re.IGNORECASE,
)
_AT_FIRST_NOTE = 0.5  # quarter notes
_COUNTS = range(3, 17)  # notes that a question lets count
_LISTED = range(1, 4)  # pitches that an answer lists
_REPEAT_SPAN = 4  # measures that a question on repeat signs spans


# --- the beginning ---


def _composer(reading: Reading, rng: Random) -> Answers:
    if reading.composer and not _UNKNOWN.search(reading.composer):
        yield (reading.composer,)


def _title(reading: Reading, rng: Random) -> Answers:
    if reading.title and not _UNKNOWN.match(reading.title) and not _FILE_NAME.search(reading.title):
        yield (reading.title,)


def _initial_key(reading: Reading, rng: Random) -> Answers:
    if tonality := certain_key(reading):
        yield (key_name(tonality),)


def _key_signature(reading: Reading, rng: Random) -> Answers:
    fifths = {voice.cells[0].fifths for voice in reading.voices}
    if len(fifths) == 1:
        yield (str(abs(fifths.pop())),)


def _metre(reading: Reading, rng: Random) -> Answers:
    # All parts must begin with the same single time signature.
    openings = (measure.getElementsByClass("TimeSignature") for measure in _first_measures(reading))
    metres = {tuple(sign.ratioString for sign in signs) for signs in openings}
    if len(metres) == 1 and len(metres.pop()) == 1:
        yield (reading.measures[0].metre,)


def _clef(reading: Reading, rng: Random) -> Answers:
    # The name of a part, such as Bass, can give the clef away.
    clefs = [(voice, voice.cells[0].clef) for voice in reading.voices]
    askable = [
        (voice, clef)
        for voice, clef in clefs
        if clef and clef.split()[0].lower() not in voice.name.lower()
    ]
    for voice, clef in varied(askable, rng, least=1):
        yield clef, voice.label or "the piece"


def _tempo_words(reading: Reading, rng: Random) -> Answers:
    marks = _opening(reading, (tempo.TempoText, tempo.MetronomeMark, expressions.TextExpression))
    texts = {" ".join(_text_of(mark).split()).rstrip(".") for mark in marks}
    words = set(filter(_TEMPO_WORDS.search, texts))
    if len(words) == 1:
        yield (words.pop(),)


def _text_of(mark: Any) -> str:
    if isinstance(mark, expressions.TextExpression):
        return mark.content or ""
    # music21 invents a text for a number alone.
    return "" if getattr(mark, "textImplicit", False) else mark.text or ""


def _first_measures(reading: Reading) -> list[Any]:
    """The first measures of all parts, as music21 objects."""
    return [part["Measure"].first() for part in getattr(reading.source, "parts", [reading.source])]


def _opening(reading: Reading, kinds: Any) -> Iterator[Any]:
    """Elements before or at the first note of the score, in any part."""
    for measure in _first_measures(reading):
        for element in measure.recurse().getElementsByClass(kinds):
            if element.getOffsetInHierarchy(measure) == 0:
                yield element


def _beats_per_minute(reading: Reading, rng: Random) -> Answers:
    marks = set()
    for mark in _opening(reading, tempo.MetronomeMark):
        is_printed = not mark.numberImplicit and not mark.style.hideObjectOnPrint
        if mark.number is not None and is_printed:
            marks.add((mark.referent.quarterLength, mark.number))
    if len(marks) == 1 and (number := marks.pop()[1]) == int(number):
        yield (str(int(number)),)


def _anacrusis(reading: Reading, rng: Random) -> Answers:
    opening = reading.measures[0]
    is_short = opening.length < opening.full
    starts = reading.onsets[0]
    # Not everybody calls a measure that is filled with rests a pickup.
    if starts and (is_short or starts[0] == 0) and is_short == (opening.number == 0):
        yield ("Yes" if is_short else "No",)


def _instruments(reading: Reading, rng: Random) -> Answers:
    names = [voice.name for voice in reading.voices]
    if all(names):
        yield (", ".join(dict.fromkeys(names)),)


def _last_measure(reading: Reading, rng: Random) -> Answers:
    yield (reading.numbers([-1]),)


def _opening_dynamic(reading: Reading, rng: Random) -> Answers:
    # Some files have a mark just behind the first note, for example because of a grace note; print
    # shows it there.
    marks = list(chain.from_iterable(cell.dynamics for cell in reading.column(0)))
    dynamics = {dynamic for start, dynamic in marks if start < _AT_FIRST_NOTE}
    if len(dynamics) == 1 and any(start == 0 for start, _ in marks):
        yield (dynamics.pop(),)


# --- a measure of a part ---


def _of_pitches(answer: Callable[[Cell], Any]) -> Any:
    """Ask about measures whose notes sound as written."""
    return of_cells(
        lambda voice, cell: answer(cell) if voice.is_pitched and cell.is_at_pitch else None
    )


def _of_notes(answer: Callable[[Cell], bool | None]) -> Any:
    """Ask a yes/no question about measures with notes."""
    return evenly(of_cells(lambda _, cell: answer(cell) if cell.notes else None))


def _extreme_pitch(choose: Callable[..., pitch.Pitch]) -> Any:
    def answer(cell: Cell) -> str | None:
        if cell.has_grace or len({note.ps for note in cell.pitches}) < 2:
            return None
        extreme = choose(cell.pitches, key=lambda note: note.ps)
        # E♯ and F in one measure have the same height and two names.
        names = {spell(note) for note in cell.pitches if note.ps == extreme.ps}
        return names.pop() if len(names) == 1 else None

    return _of_pitches(answer)


def _last_pitch(cell: Cell) -> str | None:
    if len(cell.notes) < 2 or not cell.is_line:
        return None
    # Neither grace notes nor hidden rests.
    is_plain = len(cell.events) == len(cell.notes) + len(cell.rests)
    return spell(cell.pitches[-1]) if is_plain else None


def _outside(cell: Cell) -> list[pitch.Pitch]:
    """Pitches outside the key signature, from the lowest up."""
    signature = key.KeySignature(cell.fifths)
    altered = {note.step: note.alter for note in signature.alteredPitches}
    pitches = chain.from_iterable(event.pitches for event in cell.events)
    outside = (note for note in pitches if note.alter != altered.get(note.step, 0.0))
    return sorted(outside, key=lambda note: note.ps)


def _has_accidental(cell: Cell) -> bool | None:
    return bool(_outside(cell)) if len(cell.notes) > 1 else None


def _accidentals(cell: Cell) -> str | None:
    names = dict.fromkeys(map(spell, _outside(cell)))
    return ", ".join(names) if len(names) in _LISTED else None


def _extreme_value(sign: str, choose: Callable[[Iterable[Fraction]], Fraction]) -> Any:
    def answer(_: Voice, cell: Cell) -> str | None:
        events = cell.rests if sign == "rest" else cell.notes
        if any(event.value is None or event.is_measure_rest for event in events):
            return None
        values = {event.length: event.value for event in events}
        # One rest is the shortest and the longest; of notes some must be shorter than others.
        least = 1 if sign == "rest" else 2
        return f"{values[choose(values)]} {sign}" if len(values) >= least else None

    return of_cells(answer)


def _only_mark(marks: Callable[[Event], frozenset[str]]) -> Any:
    """Ask about measures whose notes have one kind of mark."""

    def answer(_: Voice, cell: Cell) -> str | None:
        names = frozenset().union(*map(marks, cell.notes))
        return next(iter(names)) if len(names) == 1 else None

    return of_cells(answer)


def _is_last_tied(cell: Cell) -> bool:
    end = max(event.end for event in cell.notes)
    return any(event.is_tied_on for event in cell.notes if event.end == end)


def _new_clef(_: Voice, cell: Cell) -> str | None:
    return cell.new_clefs[0] if len(cell.new_clefs) == 1 else None


def _note_count(voice: Voice, cell: Cell) -> str | None:
    count = len(cell.pitches)
    is_certain = voice.is_pitched and cell.is_printed and not cell.has_unison
    return str(count) if is_certain and count in _COUNTS else None


# --- a measure of all parts ---


def _dynamic(reading: Reading, rng: Random) -> Answers:
    for index in sampled(len(reading.measures), rng):
        # Over all parts, because a marking between two staves belongs to both.
        marks = chain.from_iterable(cell.dynamics for cell in reading.column(index))
        names = {name for _, name in marks}
        if len(names) == 1:
            yield names.pop(), reading.where(index)


def _repeat(reading: Reading, rng: Random) -> Cases:
    size = len(reading.measures)
    if size < 2 * _REPEAT_SPAN:
        return
    repeats = [measure.has_repeat for measure in reading.measures]
    for index in sampled(size - _REPEAT_SPAN + 1, rng):
        end = index + _REPEAT_SPAN
        has_repeat = any(repeats[index:end])
        # A repeat sign at the edge can be read as part of the next measure.
        if has_repeat or not any(repeats[max(index - 1, 0) : end + 1]):
            yield has_repeat, reading.span(index, _REPEAT_SPAN)


def _new_metre(reading: Reading, rng: Random) -> Answers:
    if indices := [index for index, measure in enumerate(reading.measures) if measure.is_new_metre]:
        index = rng.choice(indices)
        yield reading.measures[index].metre, reading.where(index)


def _new_key(reading: Reading, rng: Random) -> Answers:
    changes = [(index, m) for index, m in enumerate(reading.measures) if m.is_new_key and m.fifths]
    if changes:
        index, measure = rng.choice(changes)
        if len({cell.fifths for cell in reading.column(index)}) == 1:
            yield str(abs(measure.fifths)), reading.where(index)


DRAWS: Mapping[str, Draw] = {
    "composer": _composer,
    "title": _title,
    "initial key": _initial_key,
    "key signature": _key_signature,
    "time signature": _metre,
    "clef": _clef,
    "tempo words": _tempo_words,
    "metronome mark": _beats_per_minute,
    "anacrusis": _anacrusis,
    "instruments": _instruments,
    "last measure": _last_measure,
    "opening dynamic": _opening_dynamic,
    "highest pitch": _extreme_pitch(max),
    "lowest pitch": _extreme_pitch(min),
    "last pitch": _of_pitches(_last_pitch),
    "accidental": evenly(_of_pitches(_has_accidental)),
    "accidentals": _of_pitches(_accidentals),
    "shortest note": _extreme_value("note", min),
    "longest note": _extreme_value("note", max),
    "rest": _of_notes(lambda cell: bool(cell.rests) if cell.is_printed else None),
    "shortest rest": _extreme_value("rest", min),
    "longest rest": _extreme_value("rest", max),
    "dynamic": _dynamic,
    "articulation": _only_mark(lambda event: event.articulations),
    "staccato": _of_notes(
        lambda cell: any("Staccato" in note.articulations for note in cell.notes)
    ),
    "ornament": _only_mark(lambda event: event.ornaments),
    "fermata": _of_notes(lambda cell: any(event.has_fermata for event in cell.events)),
    "grace note": _of_notes(lambda cell: cell.has_grace),
    "tie": _of_notes(_is_last_tied),
    "repeat sign": evenly(_repeat),
    "new time signature": _new_metre,
    "new key signature": _new_key,
    "new clef": of_cells(_new_clef),
    "number of notes": of_cells(_note_count),
}
"""Kind of question of levels 1 and 2 → what draws its questions."""
