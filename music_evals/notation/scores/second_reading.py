"""Checks the score that music21 read from a file against what a second program reads from the same
file.

| file | second reader | what is compared |
|---|---|---|
| MusicXML, kern | partitura | numbered measures, notes, grace notes, key signatures, metres |
| ABC | `abc.tunes` | notes of each voice in order |

Notes are the same if measure, onset, pitch and duration agree to 1/96 of a quarter note, with ties
joined. Metres such as 3/8+2/8 and keys of unusual accidentals are not compared: partitura does not
read them.
"""

import io
import re
import tempfile
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from music_evals.notation.abc.plain import plain_field, split_voices
from music_evals.notation.abc.tunes import (
    Event,
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    split_measures,
    total_duration,
)
from music_evals.notation.extras import require
from music_evals.notation.scores.note_places import GRID, has_tie, measure_notes, on_grid
from music_evals.notation.scores.preparing import ScoreError, failure
from music_evals.notation.scores.reading import decode_text, musicxml_bytes

if TYPE_CHECKING:
    from music21.stream import Score

_NAMES = ("C", "C#", "D", "E-", "E", "F", "F#", "G", "A-", "A", "B-", "B")
_ACCIDENTALS: Mapping[int | None, str] = {-2: "--", -1: "-", 1: "#", 2: "##"}

_Place = tuple[int, int, str]  # measure, onset, pitch
# Pitches, duration in quarter notes, whether it is tied to the next.
_AbcEvent = tuple[tuple[int, ...], Fraction, bool]


class ReadNote(NamedTuple):
    """A note as a program reads it; times are in 1/96 of a quarter note."""

    measure: int  # place of its measure, from 0
    onset: int  # in the measure
    pitch: str  # such as C#4 or E-3
    duration: int  # 0 for a grace note


class _Contents:
    """What a program reads of a file."""

    def __init__(self) -> None:
        self.numbers: list[str] = []  # of the measures
        self.notes: list[ReadNote] = []  # before ties are joined
        self.tied: set[ReadNote] = set()  # notes with a tie to the next note
        self.continued: set[ReadNote] = set()  # notes with a tie to the note before
        self.signatures = defaultdict[tuple[int, str], set[str]](set)  # measure, kind

    def add(self, note: ReadNote, is_tied: bool, is_continued: bool) -> None:
        """Add a note."""
        self.notes.append(note)
        if is_tied:
            self.tied.add(note)
        if is_continued:
            self.continued.add(note)


def check_by_second_reader(score: "Score", data: bytes, kind: str) -> None:
    """Check a score against a second reading of its file; files of other kinds than those above
    pass.

    Args:
        score: from `read_score`.
        data: the contents of the file; of an ABC file with several tunes, the tune.
        kind: the format, as music21 names it.

    Raises:
        ScoreError: the programs read different scores, or the second one cannot read the file.
        MissingLibraryError: partitura is not installed.
    """
    if kind == "abc":
        _check_abc(score, decode_text(data))
    elif kind in ("musicxml", "humdrum"):
        _compare(_music21_contents(score), _partitura_contents(data, kind), "partitura")


def compare_notes(
    score_notes: Iterable[ReadNote],
    second_notes: Iterable[ReadNote],
    numbers: Sequence[str],
    reader: str,
) -> None:
    """Compare the notes that music21 and a second program read.

    Args:
        score_notes: the notes of music21.
        second_notes: the notes of the second program.
        numbers: the numbers of the measures.
        reader: the name of the second program.

    Raises:
        ScoreError: the notes differ; it names the first measure that differs, and both readings.

    Example:
        >>> compare_notes([ReadNote(0, 0, "C4", 96)], [ReadNote(0, 0, "C#4", 96)], ["7"],
        ...     "partitura")
        Traceback (most recent call last):
        music_evals.notation.scores.preparing.ScoreError: measure 7: music21 reads C4 for 1, ...
    """
    first, second = Counter(score_notes), Counter(second_notes)
    # Sorted by measure and onset.
    only_first, only_second = sorted(first - second), sorted(second - first)
    if not only_first and not only_second:
        return
    place = min((*only_first, *only_second))[:2]
    number = numbers[place[0]] if place[0] < len(numbers) else "after the last"
    ours, theirs = _shown(only_first, place), _shown(only_second, place)
    raise ScoreError(f"measure {number}: music21 reads {ours}, {reader} reads {theirs}")


def _shown(notes: Sequence[ReadNote], place: tuple[int, int]) -> str:
    """The first note, if it is at that measure and onset."""
    if not notes or notes[0][:2] != place:
        return "nothing there"
    _, _, pitch, duration = notes[0]
    return f"{pitch} for {Fraction(duration, GRID)}" if duration else f"the grace note {pitch}"


def _compare(first: _Contents, second: _Contents, reader: str) -> None:
    if len(first.numbers) != len(second.numbers):
        raise ScoreError(
            f"music21 reads {len(first.numbers)} measures, {reader} reads {len(second.numbers)}"
        )
    for number, other in zip(first.numbers, second.numbers, strict=True):
        if number != other and number.isdigit() and other.isdigit():
            raise ScoreError(
                f"music21 reads the number {number} at a measure, {reader} reads {other}"
            )
    tied = first.tied | second.tied
    compare_notes(_join_ties(first, tied), _join_ties(second, tied), first.numbers, reader)
    for measure, kind in sorted({*first.signatures, *second.signatures}):
        ours, theirs = first.signatures[measure, kind], second.signatures[measure, kind]
        # partitura reads one key for all staves of a part.
        is_same = theirs <= ours and bool(theirs) == bool(ours)
        if "" not in ours and not is_same:
            texts = ["/".join(sorted(texts)) or "none" for texts in (ours, theirs)]
            raise ScoreError(
                f"measure {first.numbers[measure]}: music21 reads the {kind} {texts[0]}, {reader} "
                f"reads {texts[1]}"
            )


def _join_ties(contents: _Contents, tied: Set[ReadNote]) -> Iterator[ReadNote]:
    """Join tied notes, where it is certain which notes: not where two of `tied` lead to the same
    pitch.
    """
    beginnings = Counter(note[:3] for note in contents.notes if note.duration)

    def following(note: ReadNote) -> _Place:
        place = (note.measure, note.onset + note.duration, note.pitch)
        return place if place in beginnings else (note.measure + 1, 0, note.pitch)

    endings = Counter(following(note) for note in contents.notes if note in tied)
    chains: list[list[ReadNote]] = []
    waiting: dict[_Place, list[ReadNote]] = {}
    for note in sorted(contents.notes):
        is_certain = beginnings[note[:3]] == endings[note[:3]] == 1
        chain = waiting.pop(note[:3], None) if is_certain and note in contents.continued else None
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(note)
        if note in contents.tied:
            waiting[following(note)] = chain
    for chain in chains:
        yield chain[0]._replace(duration=sum(note.duration for note in chain))


# --- MusicXML and kern ---


def _music21_contents(score: "Score") -> _Contents:
    contents = _Contents()
    for part in score.parts:
        measures = list(part.getElementsByClass("Measure"))
        numbers = [f"{measure.number}{measure.numberSuffix or ''}" for measure in measures]
        contents.numbers = max(contents.numbers, numbers, key=len)
        for place, measure in enumerate(measures):
            _add_measure(contents, place, measure, is_last=measure is measures[-1])
    return contents


def _add_measure(contents: _Contents, place: int, measure: Any, *, is_last: bool) -> None:
    end = on_grid(measure.highestTime)
    for key in measure.recurse().getElementsByClass("KeySignature"):
        contents.signatures[place, "key"].add("" if key.sharps is None else str(key.sharps))
    for metre in measure.recurse().getElementsByClass("TimeSignature"):
        contents.signatures[place, "metre"].add(re.sub(r".*\+.*", "", metre.ratioString))
    for onset, duration, note in measure_notes(measure):
        # A grace note at the end of a measure belongs to the next note.
        is_before_next = not duration and onset == end and not is_last
        at = (place + 1, 0) if is_before_next else (place, onset)
        pitch = note.pitch if hasattr(note, "pitch") else note.displayPitch()
        tie = note.tie.type if duration and note.tie else ""
        read = ReadNote(*at, pitch.nameWithOctave, duration)
        contents.add(read, tie in ("start", "continue"), tie in ("stop", "continue"))


def _partitura_contents(data: bytes, kind: str) -> _Contents:
    try:
        contents = _Contents()
        for part in _partitura_score(data, kind).parts:
            _add_part(contents, part, is_kern=kind == "humdrum")
    except (ScoreError, ImportError, MemoryError):
        raise
    # partitura raises exceptions of any class.
    except Exception as error:
        raise ScoreError(
            f"partitura, which checks what music21 reads, cannot read it ({failure(error)})"
        ) from error
    return contents


def _partitura_score(data: bytes, kind: str) -> Any:
    if kind == "musicxml":
        reader = require("partitura.io.importmusicxml", "scores")
        return reader.load_musicxml(io.BytesIO(musicxml_bytes(data)), quiet=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "score.krn")
        path.write_bytes(data)
        return require("partitura.io.importkern", "scores").load_kern(str(path), quiet=True)


def _add_part(contents: _Contents, part: Any, *, is_kern: bool) -> None:
    classes = require("partitura.score", "scores")
    measures = list(part.iter_all(classes.Measure))
    notes = list(part.iter_all(classes.GenericNote, include_subclasses=True))
    # It makes a measure behind the last bar line of kern.
    if is_kern and all(note.start.t < measures[-1].start.t for note in notes):
        measures.pop()
    contents.numbers = max(contents.numbers, [str(measure.name) for measure in measures], key=len)
    starts = [measure.start.t for measure in measures]

    def place_of(element: Any) -> int:
        return bisect_right(starts, element.start.t) - 1

    for note in notes:
        if isinstance(note, classes.Rest):
            continue
        place = place_of(note)
        times = map(part.quarter_map, (starts[place], note.start.t, note.end.t))
        measure_start, start, end = map(float, times)
        duration = 0 if isinstance(note, classes.GraceNote) else on_grid(end - start)
        pitch = f"{note.step}{_ACCIDENTALS.get(getattr(note, 'alter', 0), '')}{note.octave}"
        read = ReadNote(place, on_grid(start - measure_start), pitch, duration)
        contents.add(read, note.tie_next is not None, note.tie_prev is not None)
    for key in part.iter_all(classes.KeySignature):
        contents.signatures[place_of(key), "key"].add(str(key.fifths))
    for metre in part.iter_all(classes.TimeSignature):
        contents.signatures[place_of(metre), "metre"].add(f"{metre.beats}/{metre.beat_type}")


# --- ABC ---


def _check_abc(score: "Score", text: str) -> None:
    try:
        header, voices = split_voices(text)
        second = [list(_abc_measures(header, lines)) for lines in voices.values()]
    except ValueError as error:
        raise ScoreError(f"the second reading of the tune fails: {error}") from error
    parts = list(score.parts)
    if len(parts) != len(second):
        raise ScoreError(f"music21 reads {len(parts)} voices; there are {len(second)}")
    for part, measures in zip(parts, second, strict=True):
        durations = [4 * total_duration(events) for events in measures]
        starts = [on_grid(time) for time in accumulate(durations, initial=Fraction(0))][:-1]
        flat = chain.from_iterable(measures)
        own = [(event.pitches, event.duration * 4, event.is_tied) for event in flat]
        contents = _abc_contents(_music21_events(part), starts)
        _compare(contents, _abc_contents(own, starts), "our reader")


def _abc_measures(header: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[Event, ...]]:
    """The events of the measures of a voice."""
    fields = {line[0]: line[2:].strip() for line in header}
    tied = None
    for measure in split_measures("\n".join(lines)):
        fields |= dict(measure.fields)
        try:
            meter = parse_meter(fields.get("M", ""))
        except ValueError:  # free metre
            meter = (4, 4)
        key = plain_field(f"K:{fields.get('K', '')}")[2:].strip()
        sharps = parse_key(key).sharps if key not in ("", "none") else 0
        events = read_measure(measure.text, parse_unit(fields.get("L"), meter), meter, sharps)
        # A tie carries an accidental over the bar line.
        if events and tied and _name(tied.text).lstrip("^_=") == _name(events[0].text):
            events[0].pitches = tied.pitches
        tied = events[-1] if events and events[-1].is_tied else None
        yield events


def _name(text: str) -> str:
    return re.sub(r"[0-9/]+", "", text)


def _music21_events(part: Any) -> Iterator[_AbcEvent]:
    for element in part.recurse().notesAndRests:
        if "Harmony" not in element.classes and not element.duration.isGrace:
            pitches = tuple(round(pitch.ps) for pitch in getattr(element, "pitches", ()))
            is_tied = any(has_tie(note) for note in getattr(element, "notes", [element]))
            yield pitches, Fraction(element.quarterLength), is_tied


def _abc_contents(events: Iterable[_AbcEvent], starts: Sequence[int]) -> _Contents:
    """The notes of events, which follow each other; music21 divides notes at the end of a measure
    by ties.
    """
    contents = _Contents()
    contents.numbers = [str(number) for number in range(1, len(starts) + 1)]
    now, was_tied = Fraction(0), False
    for pitches, duration, is_tied in events:
        onset = on_grid(now)
        now += duration
        place = bisect_right(starts, onset) - 1
        for pitch in pitches:
            name = f"{_NAMES[pitch % 12]}{pitch // 12 - 1}"
            note = ReadNote(place, onset - starts[place], name, on_grid(now) - onset)
            contents.add(note, is_tied, was_tied)
        was_tied = is_tied
    return contents
