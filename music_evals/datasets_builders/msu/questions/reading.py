"""A score as plain events by part and measure, read once from music21 for all questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from operator import ne
from typing import Any, NamedTuple

from music21 import (
    bar,
    chord,
    clef,
    dynamics,
    expressions,
    harmony,
    key,
    metadata,
    meter,
    note,
    pitch,
    spanner,
    stream,
)

from music_evals.datasets_builders import read_table

_TERMS: Mapping[str, Mapping[str, str]] = read_table("msu/questions/terms.toml")
# Elements of music21 and where they start. A measure that bar lines divide has several pieces.
_Timed = list[tuple[Fraction, Any]]
_DOTS = ("", "Dotted ", "Double-dotted ")
# Beginnings of part names that programs invent.
_INVENTED = ("part", "staff", "instrument", "musicxml", "voice ", "track", "untitled", "p1")


@dataclass(frozen=True, slots=True)
class Event:
    """A written note, chord or rest; a tied note is an event of its own. Times are in quarter
    notes.
    """

    start: Fraction  # from the beginning of the measure
    length: Fraction
    pitches: tuple[pitch.Pitch, ...]  # from the lowest to the highest; none for a rest
    value: str | None  # such as ``Dotted quarter``; None in tuplets, and if no single sign has it
    is_grace: bool
    is_tied_on: bool  # to the next event
    is_measure_rest: bool  # a rest that fills its measure
    is_hidden: bool  # not printed
    articulations: frozenset[str]  # names
    ornaments: frozenset[str]  # names
    has_fermata: bool

    @property
    def end(self) -> Fraction:
        """The end, from the beginning of the measure."""
        return self.start + self.length

    def overlaps(self, other: "Event") -> bool:
        """Whether both sound at some moment; they are of one measure."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Cell:
    """A measure of a part."""

    events: tuple[Event, ...]  # by start
    fifths: int  # sharps of the key signature at the beginning; flats are negative
    clef: str | None  # name of the clef at the beginning; None if it is none of the common clefs
    new_clefs: tuple[str | None, ...]  # names of the clefs after the beginning
    # pitch classes are certain: no octave signs, quarter tones or new key signatures
    is_clear: bool
    is_at_pitch: bool  # octaves are certain too: no octave clefs
    dynamics: tuple[tuple[Fraction, str], ...]  # starts and names of markings

    @cached_property
    def notes(self) -> list[Event]:
        """Events with pitches, without grace notes."""
        return [event for event in self.events if event.pitches and not event.is_grace]

    @cached_property
    def pitches(self) -> list[pitch.Pitch]:
        """Pitches of the notes."""
        return list(chain.from_iterable(event.pitches for event in self.notes))

    @cached_property
    def rests(self) -> list[Event]:
        """Printed rests."""
        return [event for event in self.events if not event.pitches and not event.is_hidden]

    @cached_property
    def has_grace(self) -> bool:
        """Whether there are grace notes."""
        return any(event.is_grace for event in self.events)

    @cached_property
    def is_printed(self) -> bool:
        """Whether all events are printed."""
        return not any(event.is_hidden for event in self.events)

    @cached_property
    def is_line(self) -> bool:
        """Whether there are no chords, and no two notes begin together."""
        return len({event.start for event in self.notes}) == len(self.notes) == len(self.pitches)

    @cached_property
    def has_unison(self) -> bool:
        """Whether two notes have the same height at the same time; some people count them as one
        note.
        """
        places = {(event.start, note.ps) for event in self.notes for note in event.pitches}
        return len(places) < len(self.pitches)

    @cached_property
    def outline(self) -> tuple[tuple[Fraction, str | None, tuple[str, ...]], ...]:
        """Onsets, values and pitches of notes and rests; measures with the same outline are
        repetitions.
        """
        return tuple(
            (event.start, event.value, tuple(note.nameWithOctave for note in event.pitches))
            for event in self.events
            if not event.is_hidden
        )


class Voice(NamedTuple):
    """A part of the score: one staff."""

    name: str  # as written, or empty
    label: str  # name in a question; empty if the score has only this part
    is_pitched: bool  # notes have pitches, at sounding pitch
    cells: tuple[Cell, ...]  # one per measure

    @property
    def in_part(self) -> str:
        """Name of the part if there are several, such as `` in the part “Alto”``."""
        return f" in {self.label}" if self.label else ""

    @property
    def notes(self) -> list[Event]:
        """Notes of all measures, without grace notes."""
        return list(chain.from_iterable(cell.notes for cell in self.cells))

    @property
    def is_at_pitch(self) -> bool:
        """Whether all notes sound as written."""
        return self.is_pitched and all(cell.is_at_pitch for cell in self.cells)


class Measure(NamedTuple):
    """Properties of a measure that all parts share."""

    number: int  # as written
    length: Fraction  # quarter notes
    full: Fraction  # quarter notes of the time signature
    metre: str  # the time signature, such as ``3/4``
    is_new_metre: bool  # whether the time signature changes here
    fifths: int  # sharps of the first part's key signature; flats are negative
    is_new_key: bool  # whether the key signature changes here in all parts
    has_repeat: bool  # whether the measure begins or ends with a repeat barline


@dataclass(frozen=True, eq=False)
class Reading:
    """A score for questions: title and composer (empty if unknown), parts from the top, measures in
    order.
    """

    title: str
    composer: str
    voices: tuple[Voice, ...]
    measures: tuple[Measure, ...]
    source: Any = field(repr=False)

    @cached_property
    def is_harmonic(self) -> bool:
        """Whether all parts are at sounding pitch, so that their notes form chords."""
        return all(voice.is_pitched for voice in self.voices)

    @cached_property
    def onsets(self) -> list[list[Fraction]]:
        """Onsets of notes in any part, by measure."""
        indices = range(len(self.measures))
        return [sorted({event.start for event in self.notes(index)}) for index in indices]

    def column(self, index: int) -> list[Cell]:
        """A measure of all parts."""
        return [voice.cells[index] for voice in self.voices]

    def notes(self, index: int) -> Iterator[Event]:
        """Notes of a measure in all parts, without grace notes."""
        return chain.from_iterable(cell.notes for cell in self.column(index))

    def sounding(self, index: int, start: Fraction) -> tuple[pitch.Pitch, ...]:
        """Pitches that sound at a moment of a measure, from the lowest to the highest, without
        grace notes.
        """
        events = (event for event in self.notes(index) if event.start <= start < event.end)
        pitches = chain.from_iterable(event.pitches for event in events)
        return tuple(sorted(pitches, key=lambda note: (note.ps, note.diatonicNoteNum)))

    def where(self, index: int, voice: Voice | None = None) -> str:
        """Name a measure, and the part if there are several: ``measure 3 of the part “Alto”``."""
        name = f"measure {self.measures[index].number}"
        return f"{name} of {voice.label}" if voice and voice.label else name

    def span(self, index: int, count: int) -> str:
        """Name several measures from an index on, such as ``measures 3–4``."""
        return f"measures {self.measures[index].number}–{self.measures[index + count - 1].number}"

    def numbers(self, indices: Iterable[int]) -> str:
        """List the numbers of measures, as an answer."""
        return ", ".join(str(self.measures[index].number) for index in indices)


def spell(note: pitch.Pitch) -> str:
    """Scientific pitch notation with signs, such as ``F♯4``."""
    # music21 adds a natural sign if it is printed.
    return str(note.unicodeNameWithOctave).replace("♮", "")


def read(score: stream.Score) -> Reading:
    """Read a score; ValueError if it has no measures, or parts with different measures."""
    parts = list(score.parts) if isinstance(score, stream.Score) else [score]
    rows = [list(part.getElementsByClass(stream.Measure)) for part in parts]
    if not rows or not rows[0]:
        raise ValueError("the score has no measures")
    if len({tuple(measure.number for measure in row) for row in rows}) > 1:
        raise ValueError("the parts have different measures")
    pieces = _pieces(rows)
    names = [_one_line(part.partName) for part in parts]
    voices = tuple(
        Voice(
            "" if _is_invented(name) else name,
            _label(names, index),
            _is_pitched(parts[index]),
            tuple(_cells(parts[index], pieces[index])),
        )
        for index, name in enumerate(names)
    )
    facts = score.metadata or metadata.Metadata()
    return Reading(
        title=_one_line(facts.title or facts.movementName),
        composer=_one_line(facts.composer),
        voices=voices,
        measures=tuple(_measures(pieces, voices)),
        source=score,
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _pieces(rows: list[list[Any]]) -> list[list[_Timed]]:
    """Join the measures of music21 that have the same number, for each part."""
    joined: list[list[_Timed]] = [[] for _ in rows]
    start = length = Fraction(0)
    number = None
    for measures in zip(*rows, strict=True):
        start = start + length if measures[0].number == number else Fraction(0)
        for pieces, measure in zip(joined, measures, strict=True):
            if not start:
                pieces.append([])
            pieces[-1].append((start, measure))
        length = max(_time(measure.highestTime) for measure in measures)
        number = measures[0].number
    return joined


def _elements(pieces: _Timed) -> Iterator[tuple[Fraction, Any]]:
    """The elements of a measure and their starts."""
    for start, measure in pieces:
        for element in measure.recurse():
            yield start + _time(element.getOffsetInHierarchy(measure)), element


def _of_class(elements: _Timed, kind: type) -> _Timed:
    return [(start, element) for start, element in elements if isinstance(element, kind)]


def _is_invented(name: str) -> bool:
    return not name or name.lower().startswith(_INVENTED)


def _label(names: list[str], index: int) -> str:
    if len(names) == 1:
        return ""
    if _is_invented(names[index]) or names.count(names[index]) > 1:
        return f"staff {index + 1} from the top"
    return f"the part “{names[index]}”"


def _is_pitched(part: Any) -> bool:
    """Whether the part has pitches, at sounding pitch, in notation that shows them."""
    unpitched = [*part[note.Unpitched], *part[clef.PercussionClef], *part[clef.TabClef]]
    instruments = part.getInstruments(recurse=True)
    return not unpitched and all(instrument.transposition is None for instrument in instruments)


def _cells(part: Any, row: list[_Timed]) -> Iterator[Cell]:
    under_octave_signs = _under_octave_signs(part)
    last_clef = None
    fifths = 0
    for pieces in row:
        measure = pieces[0][1]
        elements = list(_elements(pieces))
        clefs = _of_class(elements, clef.Clef)
        signatures = _of_class(elements, key.KeySignature)
        first_clef = next((sign for start, sign in clefs if start == 0), last_clef)
        fifths = next((sign.sharps for start, sign in signatures if start == 0), fifths)
        is_one_key = not any(start for start, _ in signatures)
        is_steady = is_one_key and measure.number not in under_octave_signs
        is_clear = is_steady and _is_twelve_tone(elements)
        signs = [first_clef, *(sign for _, sign in clefs)]
        has_octave_clef = any(getattr(sign, "octaveChange", 0) for sign in signs)
        marks = _of_class(elements, dynamics.Dynamic)
        yield Cell(
            events=tuple(_events(measure, elements)),
            fifths=fifths,
            clef=_clef_name(first_clef),
            new_clefs=tuple(_new_clefs(clefs, last_clef)),
            is_clear=is_clear,
            is_at_pitch=is_clear and not has_octave_clef,
            dynamics=tuple((start, mark.value) for start, mark in marks if mark.value),
        )
        last_clef = signs[-1]
        fifths = signatures[-1][1].sharps if signatures else fifths


def _under_octave_signs(part: Any) -> set[int]:
    """Numbers of the measures under a sign such as 8va."""
    numbers: set[int] = set()
    for sign in part[spanner.Ottava]:
        spanned = {element.measureNumber for element in sign.getSpannedElements()} - {None}
        if spanned:
            numbers.update(range(min(spanned), max(spanned) + 1))
    return numbers


def _is_twelve_tone(elements: _Timed) -> bool:
    """Whether there are no quarter tones."""
    pitches = chain.from_iterable(getattr(element, "pitches", ()) for _, element in elements)
    return all(note.isTwelveTone() for note in pitches)


def _new_clefs(clefs: _Timed, last: clef.Clef | None) -> Iterator[str | None]:
    for start, sign in clefs:
        # A clef at the beginning is printed before the barline, in the previous measure.
        if start > 0 and last is not None and type(sign) is not type(last):
            yield _clef_name(sign)
        last = sign


def _clef_name(sign: clef.Clef | None) -> str | None:
    return _TERMS["clefs"].get(type(sign).__name__)


def _events(measure: Any, elements: _Timed) -> list[Event]:
    full = _time(measure.barDuration.quarterLength)
    events = []
    for start, element in _of_class(elements, note.GeneralNote):
        is_music = element.pitches or element.isRest
        if not is_music or isinstance(element, harmony.Harmony):
            continue
        length = _time(element.quarterLength)
        fills_measure = getattr(element, "fullMeasure", False) is True or length == full
        event = Event(
            start=start,
            length=length,
            pitches=tuple(sorted(element.pitches, key=lambda note: note.ps)),
            value=_value(element.duration),
            is_grace=element.duration.isGrace,
            is_tied_on=_is_tied_on(element),
            is_measure_rest=element.isRest and fills_measure,
            is_hidden=bool(element.style.hideObjectOnPrint),
            articulations=_names(element.articulations, "articulations"),
            ornaments=_names(element.expressions, "ornaments"),
            has_fermata=any(isinstance(mark, expressions.Fermata) for mark in element.expressions),
        )
        events.append(event)
    return sorted(
        events,
        key=lambda event: (event.start, not event.is_grace, [note.ps for note in event.pitches]),
    )


def _is_tied_on(element: Any) -> bool:
    members = element.notes if isinstance(element, chord.Chord) else [element]
    ties = [member.tie.type for member in members if member.tie is not None]
    return "start" in ties or "continue" in ties


def _names(marks: Sequence[Any], table: str) -> frozenset[str]:
    """The terms for marks; the first one that fits a mark."""
    terms = _TERMS[table]
    fitting = ([term for kind, term in terms.items() if kind in mark.classes] for mark in marks)
    return frozenset(names[0] for names in fitting if names)


def _value(duration: Any) -> str | None:
    name = _TERMS["values"].get(duration.type)
    if name is None or duration.tuplets or duration.dots >= len(_DOTS):
        return None
    return f"{_DOTS[duration.dots]}{name}".capitalize()


def _time(value: Any) -> Fraction:
    return Fraction(value).limit_denominator(100_000)


def _measures(rows: list[list[_Timed]], voices: Sequence[Voice]) -> Iterator[Measure]:
    metre = "4/4"
    full = Fraction(4)
    last_fifths = [voice.cells[0].fifths for voice in voices]
    for index, column in enumerate(zip(*rows, strict=True)):
        is_new = False
        for _, measure in column[0]:
            for sign in measure.getElementsByClass(meter.TimeSignature):
                is_new |= sign.ratioString != metre and index > 0
                metre, full = sign.ratioString, _time(sign.barDuration.quarterLength)
        cells = [voice.cells[index] for voice in voices]
        fifths = [cell.fifths for cell in cells]
        events = chain.from_iterable(cell.events for cell in cells)
        measures = [measure for _, measure in chain.from_iterable(column)]
        yield Measure(
            number=measures[0].number,
            length=max((event.end for event in events), default=full),
            full=full,
            metre=metre,
            is_new_metre=is_new,
            fifths=fifths[0],
            is_new_key=all(map(ne, last_fifths, fifths)),
            has_repeat=any(piece[bar.Repeat] for piece in measures),
        )
        last_fifths = fifths
