"""The notes of a score by onset and pitch, to compare a score with what another program reads of
it.

Two notes are the same if onset, pitch and duration agree to 1/96 of a quarter note, with ties
joined. The duration is not compared where a pitch sounds in two voices of a part at once. Grace
notes are left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from music_evals.notation.midi.note_arrays import read_note_arrays
from music_evals.notation.scores.preparing import ScoreError

if TYPE_CHECKING:
    from music21.stream import Score

GRID = 96  # steps of a quarter note
_MAX_BYTES = 1 << 24  # largest MIDI file that is read
_MAX_NAMED = 3  # notes that a difference names

_Written = tuple[int, int, int, bool]  # onset, pitch, end, whether a tie goes on to the next note

Notes = Mapping[tuple[int, int], int | None]
"""Onset and pitch of notes → duration in 1/96 of a quarter note, None where it is uncertain."""


def align_measures(score: "Score") -> tuple[list[int], bool]:
    """Move the measures of a score so that those of all parts begin together.

    Returns:
        The onsets of the measures in 1/96 of a quarter note, and whether the score is regular: its
        first measure has the number 1, and all measures are as long as their metre.
    """
    starts, is_regular, now = [], True, Fraction(0)
    metre = None
    for index, measures in enumerate(
        zip(*(part.getElementsByClass("Measure") for part in score.parts), strict=True)
    ):
        for part, measure in zip(score.parts, measures, strict=True):
            part.setElementOffset(measure, now)
        starts.append(on_grid(now))
        metre = measures[0].timeSignature or metre
        length = Fraction(max(measure.highestTime for measure in measures))
        is_full = metre is not None and length == metre.barDuration.quarterLength
        is_regular &= is_full and measures[0].number == index + 1
        now += length
    return starts, is_regular


def written_notes(parts: Iterable[Any], starts: Sequence[int]) -> Notes:
    """Return the notes of parts of music21.

    Args:
        parts: the parts.
        starts: onsets of the measures, from `align_measures`.

    Raises:
        ScoreError: a note has no pitch.
    """
    durations = defaultdict(list)
    for part in parts:
        written: list[_Written] = []
        for index, measure in enumerate(part.getElementsByClass("Measure")):
            for onset, duration, note in measure_notes(measure):
                if not hasattr(note, "pitch"):
                    raise ScoreError("it has notes without pitch")
                if duration:
                    onset += starts[index]
                    written.append((onset, round(note.pitch.ps), onset + duration, has_tie(note)))
        for onset, pitch, joined in _join_ties(written):
            durations[onset, pitch].append(joined)
    return {
        place: values[0] if len(set(values)) == 1 else None for place, values in durations.items()
    }


def measure_notes(measure: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield the notes of a measure of music21, with onset in the measure and duration; grace notes
    last 0.
    """
    for element in measure.recurse().notes:
        if "Harmony" in element.classes:
            continue
        onset = on_grid(element.getOffsetInHierarchy(measure))
        duration = 0 if element.duration.isGrace else on_grid(element.quarterLength)
        for note in getattr(element, "notes", [element]):
            yield onset, duration, note


def has_tie(note: Any) -> bool:
    """Return whether a note of music21 is tied to the next one."""
    return note.tie is not None and note.tie.type != "stop"


@dataclass
class _Sounding:
    """A note with its tied notes, while they are joined."""

    onset: int
    end: int
    is_tied: bool
    is_certain: bool  # whether its duration is


def _join_ties(written: list[_Written]) -> Iterator[tuple[int, int, int | None]]:
    """Onset, pitch and duration of the notes of a part; the duration of overlapping notes is
    None.
    """
    sounding: dict[int, list[_Sounding]] = defaultdict(list)  # by pitch
    for onset, pitch, end, is_tied in sorted(written):
        notes = sounding[pitch]
        before = next((note for note in notes if note.is_tied and note.end == onset), None)
        if before is not None:
            before.end, before.is_tied = end, is_tied
            continue
        overlapping = [note for note in notes if note.end > onset]
        for note in overlapping:
            note.is_certain = False
        notes.append(_Sounding(onset, end, is_tied, not overlapping))
    for pitch, notes in sounding.items():
        for note in notes:
            yield note.onset, pitch, note.end - note.onset if note.is_certain else None


def sounding_notes(midi: bytes) -> Notes:
    """Return the notes of a MIDI file; MidiError if it cannot be read."""
    notes = read_note_arrays(midi, _MAX_BYTES)
    # Halves are rounded to even, as `round` does.
    onsets, ends = (
        np.rint(ticks * GRID / notes.resolution).astype(int) for ticks in (notes.onset, notes.end)
    )
    durations = defaultdict(set)
    for onset, end, pitch in zip(onsets.tolist(), ends.tolist(), notes.pitch.tolist(), strict=True):
        durations[onset, pitch].add(end - onset)
    return {place: max(values) if len(values) == 1 else None for place, values in durations.items()}


def describe_difference(expected: Notes, actual: Notes) -> str:
    """Return in words what a reader read differently; empty if the notes are the same."""
    near = {
        (onset + step, pitch): (onset, pitch) for onset, pitch in expected for step in (-1, 1, 0)
    }
    actual = {near.get(place, place): duration for place, duration in actual.items()}
    changed = []
    for place, duration in expected.items():
        read = actual.get(place)
        if duration is not None and read is not None and abs(read - duration) > 2:
            changed.append(place)
    differences = {
        "lost": sorted(expected.keys() - actual.keys()),
        "added": sorted(actual.keys() - expected.keys()),
        "of another duration": changed,
    }
    described = []
    for kind, places in differences.items():
        named = [f"pitch {pitch} at quarter {onset / GRID:g}" for onset, pitch in places]
        if places:
            described.append(f"{len(places)} {kind} ({', '.join(named[:_MAX_NAMED])})")
    return f"read back, of {len(expected)} notes " + ", ".join(described) if described else ""


def on_grid(time: Any) -> int:
    """Return a time in quarter notes in 1/96 of a quarter note."""
    return round(Fraction(time).limit_denominator(1 << 16) * GRID)
