"""Reads what the questions need out of a music21 score, once: plain events by part and measure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple

from music21 import articulations, bar, chord, clef, expressions, harmony, key, meter, note, pitch, spanner, stream

_VALUES: Final = {
    "longa": "Longa",
    "breve": "Double whole",
    "whole": "Whole",
    "half": "Half",
    "quarter": "Quarter",
    "eighth": "Eighth",
    "16th": "Sixteenth",
    "32nd": "Thirty-second",
    "64th": "Sixty-fourth",
}
_DOTS: Final = ("", "Dotted ", "Double-dotted ")
# Subclasses before the classes that they refine: staccatissimo is a staccato to music21, and so is the wedge.
_ARTICULATIONS: Final = (
    (articulations.Staccatissimo, "Staccatissimo"),
    (articulations.Staccato, "Staccato"),
    (articulations.DetachedLegato, "Portato"),
    (articulations.Tenuto, "Tenuto"),
    (articulations.StrongAccent, "Marcato"),
    (articulations.Accent, "Accent"),
)
_ORNAMENTS: Final = (
    (expressions.InvertedTurn, "Inverted turn"),
    (expressions.Turn, "Turn"),
    (expressions.InvertedMordent, "Upper mordent"),
    (expressions.Mordent, "Lower mordent"),
    (expressions.Trill, "Trill"),
)
_CLEFS: Final[Sequence[tuple[type[clef.Clef], str]]] = (
    (clef.TrebleClef, "Treble clef"),
    (clef.BassClef, "Bass clef"),
    (clef.AltoClef, "Alto clef"),
    (clef.TenorClef, "Tenor clef"),
    (clef.SopranoClef, "Soprano clef"),
    (clef.MezzoSopranoClef, "Mezzo-soprano clef"),
)
# Part names that a program made up.
_MADE_UP: Final = ("part", "staff", "instrument", "musicxml", "voice ", "track", "untitled", "p1")


@dataclass(frozen=True, slots=True)
class Event:
    """One written note, chord or rest; tied notes are events of their own. Times are in quarter notes."""

    start: Fraction  # from the beginning of its measure
    length: Fraction  # how long it lasts
    pitches: tuple[pitch.Pitch, ...]  # from the lowest to the highest; none in a rest
    # Its written value, such as ``Dotted quarter``; None in tuplets and where one sign cannot write it.
    value: str | None
    is_grace: bool  # it takes no time of its own
    is_tied_on: bool  # tied to what follows
    is_measure_rest: bool  # fills its measure, whatever its sign
    is_hidden: bool  # not printed
    articulations: frozenset[str]  # names of its marks
    ornaments: frozenset[str]  # names of its signs
    has_fermata: bool  # a fermata stands over it

    @property
    def end(self) -> Fraction:
        """Where it ends, from the beginning of the measure."""
        return self.start + self.length


@dataclass(frozen=True)
class Cell:
    """One measure of one part."""

    events: tuple[Event, ...]  # by their start
    fifths: int  # sharps (or flats, negative) of the key signature at its beginning
    clef: str | None  # name of the clef at its beginning; None where it has no plain name
    new_clefs: tuple[str | None, ...]  # names of the clefs that it changes to after its beginning; None as above
    is_clear: bool  # there is no doubt which notes sound: no octave signs, quarter tones, key signatures inside
    is_at_pitch: bool  # moreover, octaves are as written: no octave clefs
    dynamics: tuple[tuple[Fraction, str], ...]  # where markings stand, and which

    @cached_property
    def notes(self) -> list[Event]:
        """Events with pitches that are no grace notes."""
        return [event for event in self.events if event.pitches and not event.is_grace]

    @cached_property
    def pitches(self) -> list[pitch.Pitch]:
        """Pitches of the notes."""
        return [each for event in self.notes for each in event.pitches]

    @cached_property
    def rests(self) -> list[Event]:
        """Rests that are printed."""
        return [event for event in self.events if not event.pitches and not event.is_hidden]

    @cached_property
    def has_grace(self) -> bool:
        """Whether there are grace notes."""
        return any(event.is_grace for event in self.events)

    @cached_property
    def is_printed(self) -> bool:
        """Whether nothing of it is hidden."""
        return not any(event.is_hidden for event in self.events)

    @cached_property
    def is_line(self) -> bool:
        """Whether the notes are without chords, and no two begin together."""
        return len({event.start for event in self.notes}) == len(self.notes) == len(self.pitches)

    @cached_property
    def has_unison(self) -> bool:
        """Whether two of its notes are at one height at once: one note to some, and two to others."""
        places = {(event.start, each.ps) for event in self.notes for each in event.pitches}
        return len(places) < len(self.pitches)

    @cached_property
    def outline(self) -> tuple[tuple[Fraction, str | None, tuple[str, ...]], ...]:
        """What two measures must share to be the same: onsets, values and pitches of notes and rests."""
        return tuple(
            (event.start, event.value, tuple(each.nameWithOctave for each in event.pitches))
            for event in self.events
            if not event.is_hidden
        )


class Voice(NamedTuple):
    """One part of the score: one staff."""

    name: str  # as written, or empty
    label: str  # how a question names it; empty where the score has this part alone
    is_pitched: bool  # its notes have pitches that are written as they sound
    cells: tuple[Cell, ...]  # one a measure

    @property
    def is_at_pitch(self) -> bool:
        """Whether all its notes sound as written."""
        return self.is_pitched and all(cell.is_at_pitch for cell in self.cells)


class Measure(NamedTuple):
    """What a measure is in all parts."""

    number: int  # as written
    length: Fraction  # quarter notes that it lasts
    full: Fraction  # quarter notes that its time signature asks for
    metre: str  # its time signature, such as ``3/4``
    is_new_metre: bool  # the time signature stands here and differs from the one before
    fifths: int  # sharps (or flats, negative) of the first part's key signature
    is_new_key: bool  # the key signature differs from the one before, in every part
    has_repeat: bool  # a repeat barline stands at its beginning or end


@dataclass(frozen=True, eq=False)
class Reading:
    """A score as the questions see it: title and composer or empty, parts from the top, measures in order."""

    title: str
    composer: str
    voices: tuple[Voice, ...]
    measures: tuple[Measure, ...]
    source: Any = field(repr=False)

    @cached_property
    def is_harmonic(self) -> bool:
        """Whether all that sounds is written at its pitch, so that notes of all parts make chords."""
        return all(voice.is_pitched for voice in self.voices)

    @cached_property
    def onsets(self) -> list[list[Fraction]]:
        """Moments of each measure at which a note begins in any part."""
        rows = zip(*(voice.cells for voice in self.voices), strict=True)
        return [sorted({event.start for cell in row for event in cell.notes}) for row in rows]

    def sounding(self, index: int, start: Fraction) -> tuple[pitch.Pitch, ...]:
        """Pitches that begin or go on at a moment of a measure, from the lowest to the highest; no grace notes."""
        found = [
            each
            for voice in self.voices
            for event in voice.cells[index].notes
            if event.start <= start < event.end
            for each in event.pitches
        ]
        return tuple(sorted(found, key=lambda each: (each.ps, each.diatonicNoteNum)))

    @property
    def opening(self) -> tuple[pitch.Pitch, ...]:
        """Pitches that sound at the first onset."""
        return next((self.sounding(i, starts[0]) for i, starts in enumerate(self.onsets) if starts), ())

    @property
    def ending(self) -> tuple[pitch.Pitch, ...]:
        """Pitches that sound at the last onset."""
        last = len(self.measures) - 1
        return next((self.sounding(last - i, starts[-1]) for i, starts in enumerate(self.onsets[::-1]) if starts), ())


def spell(each: pitch.Pitch) -> str:
    """Scientific pitch notation with signs, such as ``F♯4``."""
    # music21 writes the sign of a natural that is printed.
    return str(each.unicodeNameWithOctave).replace("♮", "")


def read(score: stream.Score) -> Reading:
    """Read a score; ValueError where it has no measures, or parts have different ones."""
    parts = list(score.parts) if isinstance(score, stream.Score) else [score]
    rows = [list(part.getElementsByClass(stream.Measure)) for part in parts]
    if not rows or not rows[0]:
        raise ValueError("the score has no measures")
    if any([each.number for each in row] != [each.number for each in rows[0]] for row in rows):
        raise ValueError("the parts have different measures")
    names = [" ".join((part.partName or "").split()) for part in parts]
    voices = tuple(
        Voice(
            "" if _is_made_up(name) else name,
            _label(names, index),
            _is_pitched(part),
            tuple(_cells(row, _octave_signs(part))),
        )
        for index, (name, part, row) in enumerate(zip(names, parts, rows, strict=True))
    )
    metadata = score.metadata
    return Reading(
        title=" ".join(((metadata and (metadata.title or metadata.movementName)) or "").split()),
        composer=" ".join(((metadata and metadata.composer) or "").split()),
        voices=voices,
        measures=tuple(_measures(rows, voices)),
        source=score,
    )


def _is_made_up(name: str) -> bool:
    return not name or name.lower().startswith(_MADE_UP)


def _label(names: list[str], index: int) -> str:
    if len(names) == 1:
        return ""
    if _is_made_up(names[index]) or names.count(names[index]) > 1:
        return f"staff {index + 1} from the top"
    return f"the part “{names[index]}”"


def _is_pitched(part: Any) -> bool:
    """Whether the part is written at its pitch, in signs that say it."""
    unpitched = [*part[note.Unpitched], *part[clef.PercussionClef], *part[clef.TabClef]]
    return not unpitched and all(each.transposition is None for each in part.getInstruments(recurse=True))


def _octave_signs(part: Any) -> set[int]:
    """Numbers of the measures that an octave sign touches."""
    found: set[int] = set()
    for sign in part[spanner.Ottava]:
        numbers = [each.measureNumber for each in sign.getSpannedElements() if each.measureNumber is not None]
        if numbers:
            found.update(range(min(numbers), max(numbers) + 1))
    return found


def _clef_name(sign: clef.Clef) -> str | None:
    return next((name for kind, name in _CLEFS if type(sign) is kind), None)


def _cells(row: list[Any], octave_signs: set[int]) -> Iterator[Cell]:
    fifths = 0
    current: clef.Clef | None = None
    for measure in row:
        within = [(_time(each.getOffsetInHierarchy(measure)), each) for each in measure.recurse()]
        signatures = [(start, each) for start, each in within if isinstance(each, key.KeySignature)]
        clefs = [(start, each) for start, each in within if isinstance(each, clef.Clef)]
        before = current
        new_clefs = []
        for start, sign in clefs:
            # One that stands at the beginning is printed before the barline, in the measure before.
            if start > 0 and current is not None and type(sign) is not type(current):
                new_clefs.append(_clef_name(sign))
            current = sign
        at_start = next((sign for start, sign in clefs if start == 0), before)
        fifths = next((each.sharps for start, each in signatures if start == 0), fifths)
        octave = any(each.octaveChange for each in (*(sign for _, sign in clefs), *([at_start] if at_start else [])))
        is_clear = (
            measure.number not in octave_signs
            and all(start == 0 for start, _ in signatures)
            and all(each.isTwelveTone() for _, one in within for each in getattr(one, "pitches", ()))
        )
        yield Cell(
            events=tuple(_events(measure, within)),
            fifths=fifths,
            clef=_clef_name(at_start) if at_start else None,
            new_clefs=tuple(new_clefs),
            is_clear=is_clear,
            is_at_pitch=is_clear and not octave,
            dynamics=tuple((start, each.value) for start, each in within if "Dynamic" in each.classes and each.value),
        )
        fifths = signatures[-1][1].sharps if signatures else fifths


def _events(measure: Any, within: list[tuple[Fraction, Any]]) -> Iterator[Event]:
    found = []
    for start, each in within:
        if not isinstance(each, note.GeneralNote) or isinstance(each, harmony.Harmony):
            continue
        pitches = tuple(sorted(each.pitches, key=lambda one: one.ps)) if isinstance(each, note.NotRest) else ()
        if not pitches and not each.isRest:
            continue
        members = each.notes if isinstance(each, chord.Chord) else (each,)
        length = _time(each.quarterLength)
        found.append(
            Event(
                start=start,
                length=length,
                pitches=pitches,
                value=_value(each),
                is_grace=each.duration.isGrace,
                is_tied_on=any(one.tie is not None and one.tie.type in ("start", "continue") for one in members),
                is_measure_rest=each.isRest
                and (getattr(each, "fullMeasure", False) is True or length == _time(measure.barDuration.quarterLength)),
                is_hidden=bool(each.style.hideObjectOnPrint),
                articulations=_named(each.articulations, _ARTICULATIONS),
                ornaments=_named(each.expressions, _ORNAMENTS),
                has_fermata=any(isinstance(one, expressions.Fermata) for one in each.expressions),
            )
        )
    yield from sorted(found, key=lambda one: (one.start, not one.is_grace, [each.ps for each in one.pitches]))


def _named(marks: Sequence[Any], names: Sequence[tuple[type, str]]) -> frozenset[str]:
    found = (next((name for kind, name in names if isinstance(mark, kind)), None) for mark in marks)
    return frozenset(name for name in found if name)


def _value(each: Any) -> str | None:
    duration = each.duration
    if duration.tuplets or duration.type not in _VALUES or duration.dots >= len(_DOTS):
        return None
    name = _VALUES[duration.type]
    return f"{_DOTS[duration.dots]}{name.lower()}" if duration.dots else name


def _time(value: Any) -> Fraction:
    return Fraction(value).limit_denominator(100_000)


def _measures(rows: list[list[Any]], voices: tuple[Voice, ...]) -> Iterator[Measure]:
    metre = "4/4"
    full = Fraction(4)
    before: list[int] | None = None
    for index, measure in enumerate(rows[0]):
        signs = list(measure.getElementsByClass(meter.TimeSignature))
        is_new = bool(signs) and signs[-1].ratioString != metre and index > 0
        if signs:
            metre, full = signs[-1].ratioString, _time(signs[-1].barDuration.quarterLength)
        fifths = [voice.cells[index].fifths for voice in voices]
        ends = [event.end for voice in voices for event in voice.cells[index].events]
        yield Measure(
            number=measure.number,
            length=max(ends, default=full),
            full=full,
            metre=metre,
            is_new_metre=is_new,
            fifths=fifths[0],
            is_new_key=before is not None and all(a != b for a, b in zip(before, fifths, strict=True)),
            has_repeat=any(
                isinstance(line, bar.Repeat)
                for row in rows
                for line in (row[index].leftBarline, row[index].rightBarline)
            ),
        )
        before = fifths
