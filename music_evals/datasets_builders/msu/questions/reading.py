"""A score as plain events by part and measure, read once from music21 for all questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from music21 import bar, chord, clef, expressions, harmony, key, meter, note, pitch, spanner, stream

from music_evals.datasets_builders import read_table

_TERMS: Final[Mapping[str, Mapping[str, str]]] = read_table("msu/questions/terms.toml")
_Pieces = list[
    tuple[Fraction, Any]
]  # of a measure that bar lines divide: their starts, and music21's measures
_DOTS: Final = ("", "Dotted ", "Double-dotted ")
# Beginnings of part names that programs invent.
_INVENTED: Final = ("part", "staff", "instrument", "musicxml", "voice ", "track", "untitled", "p1")


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


@dataclass(frozen=True)
class Cell:
    """A measure of a part."""

    events: tuple[Event, ...]  # by start
    fifths: int  # sharps of the key signature at the beginning; flats are negative
    clef: str | None  # name of the clef at the beginning; None if it is none of the common clefs
    new_clefs: tuple[str | None, ...]  # names of the clefs after the beginning
    is_clear: (
        bool  # pitch classes are certain: no octave signs, quarter tones or new key signatures
    )
    is_at_pitch: bool  # octaves are certain too: no octave clefs
    dynamics: tuple[tuple[Fraction, str], ...]  # starts and names of markings

    @cached_property
    def notes(self) -> list[Event]:
        """Events with pitches, without grace notes."""
        return [event for event in self.events if event.pitches and not event.is_grace]

    @cached_property
    def pitches(self) -> list[pitch.Pitch]:
        """Pitches of the notes."""
        return [note for event in self.notes for note in event.pitches]

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
        rows = zip(*(voice.cells for voice in self.voices), strict=True)
        return [sorted({event.start for cell in row for event in cell.notes}) for row in rows]

    def sounding(self, index: int, start: Fraction) -> tuple[pitch.Pitch, ...]:
        """Pitches that sound at a moment of a measure, from the lowest to the highest, without
        grace notes.
        """
        pitches = [
            note
            for voice in self.voices
            for event in voice.cells[index].notes
            if event.start <= start < event.end
            for note in event.pitches
        ]
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
    if any(
        [measure.number for measure in row] != [measure.number for measure in rows[0]]
        for row in rows
    ):
        raise ValueError("the parts have different measures")
    pieces = _pieces(rows)
    names = [" ".join((part.partName or "").split()) for part in parts]
    voices = tuple(
        Voice(
            "" if _is_invented(name) else name,
            _label(names, index),
            _is_pitched(part),
            tuple(_cells(part, row)),
        )
        for index, (name, part, row) in enumerate(zip(names, parts, pieces, strict=True))
    )
    metadata = score.metadata
    return Reading(
        title=" ".join(((metadata and (metadata.title or metadata.movementName)) or "").split()),
        composer=" ".join(((metadata and metadata.composer) or "").split()),
        voices=voices,
        measures=tuple(_measures(pieces, voices)),
        source=score,
    )


def _pieces(rows: list[list[Any]]) -> list[list[_Pieces]]:
    """Join the measures of music21 that have the same number, for each part."""
    joined: list[list[_Pieces]] = [[] for _ in rows]
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


def _elements(pieces: _Pieces) -> Iterator[tuple[Fraction, Any]]:
    """The elements of a measure and their starts."""
    for start, measure in pieces:
        for element in measure.recurse():
            yield start + _time(element.getOffsetInHierarchy(measure)), element


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


def _cells(part: Any, row: list[_Pieces]) -> Iterator[Cell]:
    octave_signs: set[int] = set()  # numbers of the measures under an octave sign
    for sign in part[spanner.Ottava]:
        numbers = [
            element.measureNumber
            for element in sign.getSpannedElements()
            if element.measureNumber is not None
        ]
        if numbers:
            octave_signs.update(range(min(numbers), max(numbers) + 1))
    fifths = 0
    clef_names = _TERMS["clefs"]
    current: clef.Clef | None = None
    for pieces in row:
        measure = pieces[0][1]
        elements = list(_elements(pieces))
        signatures = [
            (start, sign) for start, sign in elements if isinstance(sign, key.KeySignature)
        ]
        clefs = [(start, sign) for start, sign in elements if isinstance(sign, clef.Clef)]
        before = current
        new_clefs = []
        for start, sign in clefs:
            # A clef at the beginning is printed before the barline, in the previous measure.
            if start > 0 and current is not None and type(sign) is not type(current):
                new_clefs.append(clef_names.get(type(sign).__name__))
            current = sign
        at_start = next((sign for start, sign in clefs if start == 0), before)
        fifths = next((sign.sharps for start, sign in signatures if start == 0), fifths)
        has_octave_clef = any(
            sign.octaveChange for sign in (at_start, *(sign for _, sign in clefs)) if sign
        )
        is_clear = (
            measure.number not in octave_signs
            and all(start == 0 for start, _ in signatures)
            and all(
                note.isTwelveTone()
                for _, element in elements
                for note in getattr(element, "pitches", ())
            )
        )
        dynamics = [
            (start, sign.value)
            for start, sign in elements
            if "Dynamic" in sign.classes and sign.value
        ]
        yield Cell(
            events=tuple(_events(measure, elements)),
            fifths=fifths,
            clef=clef_names.get(type(at_start).__name__),
            new_clefs=tuple(new_clefs),
            is_clear=is_clear,
            is_at_pitch=is_clear and not has_octave_clef,
            dynamics=tuple(dynamics),
        )
        fifths = signatures[-1][1].sharps if signatures else fifths


def _events(measure: Any, elements: list[tuple[Fraction, Any]]) -> Iterator[Event]:
    events = []
    for start, element in elements:
        if not isinstance(element, note.GeneralNote) or isinstance(element, harmony.Harmony):
            continue
        pitches = (
            tuple(sorted(element.pitches, key=lambda note: note.ps))
            if isinstance(element, note.NotRest)
            else ()
        )
        if not pitches and not element.isRest:
            continue
        ties = [
            member.tie
            for member in (element.notes if isinstance(element, chord.Chord) else (element,))
        ]
        length, full = _time(element.quarterLength), _time(measure.barDuration.quarterLength)
        event = Event(
            start=start,
            length=length,
            pitches=pitches,
            value=_value(element.duration),
            is_grace=element.duration.isGrace,
            is_tied_on=any(tie is not None and tie.type in ("start", "continue") for tie in ties),
            is_measure_rest=element.isRest
            and (getattr(element, "fullMeasure", False) is True or length == full),
            is_hidden=bool(element.style.hideObjectOnPrint),
            articulations=_names(element.articulations, "articulations"),
            ornaments=_names(element.expressions, "ornaments"),
            has_fermata=any(isinstance(mark, expressions.Fermata) for mark in element.expressions),
        )
        events.append(event)
    yield from sorted(
        events,
        key=lambda event: (event.start, not event.is_grace, [note.ps for note in event.pitches]),
    )


def _names(marks: Sequence[Any], table: str) -> frozenset[str]:
    terms = _TERMS[table]
    names = (
        next((term for kind, term in terms.items() if kind in mark.classes), None) for mark in marks
    )
    return frozenset(name for name in names if name)


def _value(duration: Any) -> str | None:
    name = _TERMS["values"].get(duration.type)
    if name is None or duration.tuplets or duration.dots >= len(_DOTS):
        return None
    return f"{_DOTS[duration.dots]}{name.lower()}" if duration.dots else name


def _time(value: Any) -> Fraction:
    return Fraction(value).limit_denominator(100_000)


def _measures(rows: list[list[_Pieces]], voices: tuple[Voice, ...]) -> Iterator[Measure]:
    metre = "4/4"
    full = Fraction(4)
    before: list[int] | None = None
    for index, column in enumerate(zip(*rows, strict=True)):
        is_new = False
        for _, measure in column[0]:
            for sign in measure.getElementsByClass(meter.TimeSignature):
                is_new |= sign.ratioString != metre and index > 0
                metre, full = sign.ratioString, _time(sign.barDuration.quarterLength)
        fifths = [voice.cells[index].fifths for voice in voices]
        ends = [event.end for voice in voices for event in voice.cells[index].events]
        measures = [measure for _, measure in chain.from_iterable(column)]
        yield Measure(
            number=measures[0].number,
            length=max(ends, default=full),
            full=full,
            metre=metre,
            is_new_metre=is_new,
            fifths=fifths[0],
            is_new_key=before is not None
            and all(a != b for a, b in zip(before, fifths, strict=True)),
            has_repeat=any(
                isinstance(line, bar.Repeat)
                for measure in measures
                for line in (measure.leftBarline, measure.rightBarline)
            ),
        )
        before = fifths
