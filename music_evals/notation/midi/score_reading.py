"""A MIDI file as a score: measures, voices, ties and spelled pitches, checked note by note.

- Metres, keys and tempos of any track hold for all parts. A metre that begins within a measure
  ends that measure. A first measure that is shorter than its metre is a pickup.
- A part is a channel of a track. Within each quarter note its notes start on equal steps, as
  many as one of `DIVISIONS`. A start may be up to a tick away if a step is no whole number of
  ticks. Files with other starts, such as recordings, are refused.
- An end on no step, as in files that shorten all notes, moves to the nearest beat or step. It
  moves by at most a sixteenth of the note's length, or of a quarter note if that is longer. A
  note that is shorter than a step then lasts for the step.
- Pitches are spelled by the key and the notes around them, as in ps13 (Meredith, "The ps13
  pitch spelling algorithm", Journal of New Music Research 35(2), 2006). Other than there, the
  key signature spells the tonics.

MIDI says nothing about clefs, voices and rests, so they are chosen here. Ornaments are as played.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from music_evals.notation.midi.files import KEYS
from music_evals.notation.midi.note_arrays import Integers, NoteArrays, read_note_arrays
from music_evals.notation.scores.preparing import ScoreError

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

DIVISIONS: Final = (4, 6, 8, 5, 12, 16, 7, 10, 24, 32, 48)
"""Equal steps of a quarter note on which notes may start, the simplest first."""

_UNITS: Final = 3360  # of a quarter note; each step and each measure is a whole number of units
_MAX_VOICES: Final = 16  # of a part
_LENGTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # steps of a tuplet that a note can show
_CONTEXT: Final = 40  # notes before and after a note that tell how it is spelled


def read_midi_score(data: bytes, max_notes: int, max_measures: int) -> "Score":
    """Make a score of a MIDI file in format 0 or 1.

    Args:
        data: the file.
        max_notes: most notes and measures of the score, with a note for each of several that
            are tied.
        max_measures: most measures of a part.

    Raises:
        ScoreError: the notes fit no grid or no measures, or the score would have other notes.
        MidiError: the file cannot be read.
    """
    import music21

    arrays = read_note_arrays(data, len(data))
    if arrays.endless:
        raise ScoreError(f"{arrays.endless} of its notes do not end, so that lengths are uncertain")
    onsets, ends = _quantise(arrays)
    lines, metres = _measures(arrays, int(ends.max()))
    tied = np.searchsorted(lines, ends) - np.searchsorted(lines, onsets)
    _, firsts = np.unique(arrays.track, return_index=True)
    count = tied.sum() + len(ends) + len(firsts) * len(lines)
    if len(lines) > max_measures or count > max_notes:
        raise ScoreError(f"{len(firsts)} parts of {len(lines):,} measures, which is too long")
    notes = np.stack([onsets, ends, arrays.pitch, _spell(arrays)], axis=1)
    score: Any = music21.stream.Score()
    for track, first in enumerate(firsts.tolist()):
        rows = notes[arrays.track == track].tolist()
        part = _empty_part(arrays, first, lines, metres)
        _write_notes(rows, part, lines, bool(arrays.drum[first]))
        _check(rows, part, lines)
        score.insert(0, part)
    return score  # type: ignore[no-any-return]


def _nearest(ticks: Integers, division: Any, resolution: int) -> tuple[Integers, Any]:
    """The nearest steps in units, and their distances in ticks."""
    steps = np.rint(ticks * division / resolution).astype(np.int64)
    return steps * (_UNITS // division), abs(steps * resolution / division - ticks)


def _quantise(arrays: NoteArrays) -> tuple[Integers, Integers]:
    """Onsets and ends on the grid, in units."""
    resolution = arrays.resolution
    places = np.stack([arrays.track, arrays.onset // resolution])
    quarters, group = np.unique(places, axis=1, return_inverse=True)
    fitting = np.zeros(len(quarters[0]), np.int64)
    for division in reversed(DIVISIONS):
        _, distance = _nearest(arrays.onset, division, resolution)
        misfits = (distance >= 1) | (distance * 4 * division >= resolution)
        fitting[np.bincount(group, misfits) == 0] = division
    if not fitting.all():
        part, quarter = quarters[:, fitting.argmin()] + 1
        reason = f"its notes fit no grid of {DIVISIONS[-1]} or fewer steps a quarter note"
        raise ScoreError(f"{reason} (quarter note {quarter} of part {part})")
    steps = fitting[group]
    onsets, _ = _nearest(arrays.onset, steps, resolution)
    ends, _ = _nearest(arrays.end, 2 * steps, resolution)
    ends = np.maximum(ends, onsets + _UNITS // steps)
    tolerance = np.maximum(arrays.end - arrays.onset, resolution) / 16
    choices = [(steps, tolerance), (1, tolerance), (32, 1), (24, 1), (steps, 1)]
    for division, limit in choices:
        nearest, distance = _nearest(arrays.end, division, resolution)
        ends = np.where((distance < limit) & (nearest > onsets), nearest, ends)
    return onsets, ends


def _measures(arrays: NoteArrays, last: int) -> tuple[list[int], dict[int, str]]:
    """Bar lines, the last of which ends the score, and metres by the index of their measure."""
    changes: dict[int, list[int]] = {}
    for tick, *metre in arrays.metres.tolist():
        onset = round(tick * 32 / arrays.resolution) * _UNITS // 32
        if changes.setdefault(onset, metre) != metre:
            raise ScoreError(f"its tracks have different metres at tick {tick}; a score has one")
    changes.setdefault(0, [4, 2])
    lines: list[int] = []
    metres: dict[int, str] = {}
    for start, until in pairwise([*sorted(start for start in changes if start < last), last]):
        numerator, exponent = changes[start]
        metres[len(lines)] = f"{numerator}/{1 << exponent}"
        length = 4 * _UNITS * numerator >> exponent
        lines += range(start, until, length)
    lines.append(lines[-1] + length)
    if 1 in metres and lines[1] - lines[0] < lines[2] - lines[1]:
        metres[0] = metres.pop(1)
    return lines, metres


def _spell(arrays: NoteArrays) -> Integers:
    """Names of all notes on the line of fifths, where C is 0.

    Each pitch class around a note is a tonic, as often as it comes there. It votes for the
    note's name in its scale. Tonics are at most three flats from the key's; a scale begins five
    fifths below its tonic.
    """
    starts = [tick for tick, _ in arrays.keys]
    sharps = np.array([0, *(KEYS.index(name) % 15 - 7 for _, name in arrays.keys)])
    order = np.lexsort((arrays.pitch, arrays.onset))
    order = order[~arrays.drum[order]]
    flattest = sharps[np.searchsorted(starts, arrays.onset[order], side="right")] - 3
    classes = arrays.pitch[order] * 7 % 12
    names = np.zeros_like(arrays.pitch)
    for index, note in enumerate(order.tolist()):
        around = classes[max(0, index - _CONTEXT) : index + _CONTEXT]
        tonics = flattest[index] + (around - flattest[index]) % 12
        votes = tonics - 5 + (classes[index] - tonics + 5) % 12
        lowest = votes.min()
        names[note] = lowest + np.bincount(votes - lowest).argmax()
    return names


def _empty_part(arrays: NoteArrays, first: int, lines: list[int], metres: dict[int, str]) -> Any:
    """The measures and signs of the part that has the note with the index `first`."""
    import music21

    part: Any = music21.stream.Part()
    player: Any = music21.instrument.instrumentFromMidiProgram(int(arrays.program[first]))
    if arrays.drum[first]:
        player = music21.instrument.UnpitchedPercussion()
    part.partName = player.partName = arrays.names[arrays.track[first]] or player.instrumentName
    part.insert(0, player)
    measures: list[Any] = []
    for index, line in enumerate(lines[:-1]):
        measures.append(music21.stream.Measure(number=index + 1))
        part.insert(Fraction(line, _UNITS), measures[index])
    for index, metre in metres.items():
        measures[index].insert(0, music21.meter.TimeSignature(metre))
    signs = [
        (tick, music21.key.KeySignature(KEYS.index(name) % 15 - 7)) for tick, name in arrays.keys
    ]
    if not arrays.track[first]:
        for tick, microseconds in arrays.tempos.tolist():
            number = round(60e6 / max(microseconds, 1), 2)
            signs.append((tick, music21.tempo.MetronomeMark(number=number)))
    for tick, sign in signs:
        onset = tick * _UNITS // arrays.resolution
        index = bisect_right(lines, onset) - 1
        if index < len(measures):
            measures[index].insert(round(4 * (onset - lines[index]) / _UNITS) / 4, sign)
    return part


def _write_notes(notes: list[list[int]], part: Any, lines: list[int], is_drum: bool) -> None:
    """Write notes into the first voices that are free; those that start and end together are a chord."""
    from music21.stream import Measure, Voice

    chords: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for onset, end, *pitch in sorted(notes, key=lambda note: (note[0], -note[2])):
        chords[onset, end].append(pitch)
    measures = list(part[Measure])
    ends: list[int] = []  # of the last chord of each voice
    voices: dict[tuple[int, int], Any] = {}
    for (onset, end), pitches in chords.items():
        number = next((number for number, until in enumerate(ends) if until <= onset), len(ends))
        ends[number : number + 1] = [end]
        if number == _MAX_VOICES:
            raise ScoreError(f"a part has over {_MAX_VOICES} notes of different lengths at once")
        chord = _chord(pitches, is_drum)
        chord.quarterLength = Fraction(end - onset, _UNITS)
        for note in chord.splitByQuarterLengths(list(_lengths(onset, end, lines))):
            index = bisect_right(lines, onset) - 1
            if (index, number) not in voices:
                voices[index, number] = Voice(id=str(number + 1))
                measures[index].insert(0, voices[index, number])
            voices[index, number].insert(Fraction(onset - lines[index], _UNITS), note)
            onset += int(note.quarterLength * _UNITS)
    for (index, number), voice in voices.items():
        span = [0.0, Fraction(lines[index + 1] - lines[index], _UNITS)]
        voice.makeRests(span, fillGaps=True, inPlace=True, hideRests=number > 0)


def _lengths(start: int, end: int, lines: list[int]) -> Iterator[Fraction]:
    """Lengths in quarter notes of the notes that are tied for a note."""
    while start < end:
        line = lines[bisect_right(lines, start)]
        length = Fraction(min(end, line) - start, _UNITS)
        if 32 % length.denominator:
            steps = max(steps for steps in _LENGTHS if steps <= length.numerator)
            length = Fraction(steps, length.denominator)
        yield length
        start += int(length * _UNITS)


def _chord(pitches: list[list[int]], is_drum: bool) -> Any:
    """A note or chord of MIDI pitches with their names."""
    import music21

    notes: list[Any] = []
    for midi, name in pitches:
        pitch = music21.pitch.Pitch(music21.key.sharpsToPitch(name).name)
        pitch.octave = 4 + (midi - pitch.midi) // 12
        note: Any = music21.note.Note(pitch)
        if is_drum:
            note = music21.note.Unpitched()
            note.storedInstrument = music21.instrument.UnpitchedPercussion()
            note.storedInstrument.percMapPitch = midi
        notes.append(note)
    if len(notes) == 1:
        return notes[0]
    if is_drum:
        return music21.percussion.PercussionChord(notes)
    return music21.chord.Chord(notes)


def _check(notes: list[list[int]], part: Any, lines: list[int]) -> None:
    """Compare a part with the notes of the file."""
    differing = Counter((onset, end, pitch) for onset, end, pitch, _ in notes)
    tied: dict[tuple[str, int], int] = {}  # voice and end of a chord → onset
    for chord in part.recurse().notes:
        onset = int(chord.getOffsetInHierarchy(part) * _UNITS)
        end = onset + int(chord.quarterLength * _UNITS)
        voice = chord.activeSite.id
        start = tied.pop((voice, onset), onset)
        if chord.tie and chord.tie.type != "stop":
            tied[voice, end] = start
            continue
        for note in getattr(chord, "notes", [chord]):
            player = note.storedInstrument
            differing[start, end, player.percMapPitch if player else note.pitch.midi] -= 1
    onsets = [onset for (onset, _, _), count in differing.items() if count]
    if onsets:
        measure = bisect_right(lines, min(onsets))
        raise ScoreError(
            f"measure {measure} of {part.partName} would have other notes than the file"
        )
