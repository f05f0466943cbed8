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

_Chord = tuple[int, int, list[list[int]]]  # onset, end, and pitch and name of each note


def read_midi_score(data: bytes, max_notes: int, max_measures: int) -> "Score":
    """Make a score of a MIDI file in format 0 or 1.

    Args:
        data: the file.
        max_notes: most notes of the score, with a note for each measure that a note sounds in.
        max_measures: most measures of a part.

    Raises:
        ScoreError: the notes fit no grid or no measures, or the score would have other notes.
        MidiError: the file cannot be read.
    """
    from music21 import stream

    arrays = read_note_arrays(data, len(data))
    if arrays.endless:
        raise ScoreError(f"{arrays.endless} of its notes do not end, so that lengths are uncertain")
    onsets, ends = _quantise(arrays)
    lines, metres = _measures(arrays, int(ends.max()))
    crossed = np.searchsorted(lines, ends) - np.searchsorted(lines, onsets)
    if crossed.sum() + len(ends) > max_notes:
        raise ScoreError(f"over {max_notes:,} notes, with a note for each of several that are tied")
    _, firsts = np.unique(arrays.track, return_index=True)
    if len(lines) > min(max_measures, max_notes // len(firsts)):
        raise ScoreError(f"{len(firsts)} parts of {len(lines):,} measures, which is too long")
    notes = np.stack([onsets, ends, arrays.pitch, _spell(arrays)], axis=1)
    score: Any = stream.Score()
    for track, first in enumerate(firsts.tolist()):
        rows = notes[arrays.track == track].tolist()
        part = _empty_part(arrays, first, lines, metres)
        score.insert(0, part)
        measures = list(part.getElementsByClass("Measure"))
        for number, voice in enumerate(_voices(rows)):
            _write_voice(number, voice, measures, lines, bool(arrays.drum[first]))
        _check(part, rows, lines)
    return score  # type: ignore[no-any-return]


def _nearest(ticks: Integers, steps: Integers | int, resolution: int) -> Integers:
    """The nearest steps, in units."""
    return np.rint(ticks * steps / resolution).astype(np.int64) * (_UNITS // steps)


def _fits(ticks: Integers, steps: Integers | int, resolution: int) -> Integers:
    """Whether ticks are steps, or nearest to steps that are no ticks."""
    distance = abs(_nearest(ticks, steps, resolution) * resolution - ticks * _UNITS)
    limit = np.where(resolution % steps, _UNITS, 1)
    return (distance < limit) & (4 * steps * distance < resolution * _UNITS)


def _quantise(arrays: NoteArrays) -> tuple[Integers, Integers]:
    """Onsets and ends on the grid, in units."""
    resolution = arrays.resolution
    places = np.stack([arrays.track, arrays.onset // resolution])
    quarters, group = np.unique(places, axis=1, return_inverse=True)
    fitting = np.zeros(len(quarters[0]), np.int64)
    for division in reversed(DIVISIONS):
        misfits = np.bincount(group, ~_fits(arrays.onset, division, resolution))
        fitting[misfits == 0] = division
    if not fitting.all():
        part, quarter = quarters[:, fitting.argmin()] + 1
        reason = f"its notes fit no grid of {DIVISIONS[-1]} or fewer steps a quarter note"
        raise ScoreError(f"{reason} (quarter note {quarter} of part {part})")
    steps = fitting[group]
    onsets = _nearest(arrays.onset, steps, resolution)
    ends = _nearest(arrays.end, 8, resolution)
    tolerance = np.maximum(arrays.end - arrays.onset, resolution) * _UNITS / 16
    for division in (steps, 1):
        nearest = _nearest(arrays.end, division, resolution)
        is_near = abs(nearest * resolution - arrays.end * _UNITS) <= tolerance
        ends = np.where(is_near, nearest, ends)
    ends = np.maximum(ends, onsets + _UNITS // steps)
    for division in (24, 32, steps):
        nearest = _nearest(arrays.end, division, resolution)
        is_exact = _fits(arrays.end, division, resolution) & (nearest > onsets)
        ends = np.where(is_exact, nearest, ends)
    return onsets, ends


def _measures(arrays: NoteArrays, last: int) -> tuple[list[int], dict[int, str]]:
    """Bar lines, the last of which ends the score, and metres by the index of their measure."""
    changes: dict[int, list[int]] = {}
    for tick, *metre in arrays.metres.tolist():
        onset, rest = divmod(tick * 32, arrays.resolution)
        if rest:
            raise ScoreError(f"its metre changes at tick {tick}, between the steps of a grid")
        if changes.setdefault(onset * _UNITS // 32, metre) != metre:
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
    """The measures and signs of the part whose first note has the index `first`."""
    from music21 import instrument, meter, stream

    part: Any = stream.Part()
    player: Any = instrument.instrumentFromMidiProgram(int(arrays.program[first]))
    if arrays.drum[first]:
        player = instrument.UnpitchedPercussion()
    part.partName = player.partName = arrays.names[arrays.track[first]] or player.instrumentName
    part.insert(0, player)
    for index, line in enumerate(lines[:-1]):
        measure: Any = stream.Measure(number=index + 1)
        part.insert(Fraction(line, _UNITS), measure)
        if index in metres:
            measure.insert(0, meter.TimeSignature(metres[index]))
    ticks = np.array(lines) * arrays.resolution / _UNITS
    for tick, sign in _signs(arrays, is_first=not arrays.track[first]):
        index = np.searchsorted(ticks, tick, side="right") - 1
        offset = round(4 * (tick - ticks[index]) / arrays.resolution) / 4
        if tick < ticks[-1]:
            part[stream.Measure][int(index)].insert(offset, sign)
    return part


def _signs(arrays: NoteArrays, is_first: bool) -> Iterator[tuple[int, Any]]:
    """Ticks of keys, and of the tempos for the first part."""
    from music21 import key, tempo

    for tick, name in arrays.keys:
        signature: Any = key.KeySignature(KEYS.index(name) % 15 - 7)
        if name.endswith("m"):  # many programs write major for any mode
            signature = signature.asKey("minor")
        yield tick, signature
    for tick, microseconds in arrays.tempos.tolist() if is_first else ():
        yield tick, tempo.MetronomeMark(number=round(60e6 / max(microseconds, 1), 2))


def _voices(notes: list[list[int]]) -> list[list[_Chord]]:
    """Chords by voice, the highest first; notes are a chord if they start and end together."""
    chords: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for onset, end, *names in sorted(notes, key=lambda note: (note[0], -note[2])):
        chords[onset, end].append(names)
    voices: list[list[_Chord]] = []
    for (onset, end), names in chords.items():
        free = (voice for voice in voices if voice[-1][1] <= onset)
        voice = next(free, [])
        if not voice:
            voices.append(voice)
        if len(voices) > _MAX_VOICES:
            raise ScoreError(f"a part has over {_MAX_VOICES} notes of different lengths at once")
        voice.append((onset, end, names))
    return voices


def _write_voice(
    number: int, chords: list[_Chord], measures: list[Any], lines: list[int], is_drum: bool
) -> None:
    """Write a voice into its measures, with ties between them, and rests."""
    from music21 import stream

    voices: dict[int, Any] = {}
    for onset, end, names in chords:
        chord = _write_chord(names, is_drum)
        chord.quarterLength = Fraction(end - onset, _UNITS)
        for note in chord.splitByQuarterLengths(list(_lengths(onset, end, lines))):
            index = bisect_right(lines, onset) - 1
            if index not in voices:
                voices[index] = stream.Voice(id=str(number + 1))
                measures[index].insert(0, voices[index])
            voices[index].insert(Fraction(onset - lines[index], _UNITS), note)
            onset += int(note.quarterLength * _UNITS)
    for index, voice in voices.items():
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


def _write_chord(names: list[list[int]], is_drum: bool) -> Any:
    """A note or chord, by the pitches and names of its notes."""
    from music21 import chord, instrument, note, percussion, pitch

    notes: list[Any] = []
    for midi, name in names:
        if is_drum:
            drum = note.Unpitched()
            drum.storedInstrument = instrument.UnpitchedPercussion()
            drum.storedInstrument.percMapPitch = midi
            notes.append(drum)
            continue
        alter, step = divmod(name + 1, 7)
        written = pitch.Pitch("FCGDAEB"[step] + ("#" * alter or "-" * -alter), octave=4)
        written.octave = 4 + (midi - written.midi) // 12
        notes.append(note.Note(written))
    if len(notes) == 1:
        return notes[0]
    if is_drum:
        return percussion.PercussionChord(notes)
    return chord.Chord(notes)


def _check(part: Any, notes: list[list[int]], lines: list[int]) -> None:
    """Compare a part with the notes of the file."""
    read = Counter((onset, end, pitch) for onset, end, pitch, _ in notes)
    written = Counter(_sounding(part))
    differing = (read - written) | (written - read)
    if differing:
        measure = bisect_right(lines, min(differing)[0])
        raise ScoreError(
            f"measure {measure} of {part.partName} would have other notes than the file"
        )


def _sounding(part: Any) -> Iterator[tuple[int, int, int]]:
    """Onsets, ends and pitches of the notes of a part, with ties joined."""
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
            yield start, end, player.percMapPitch if player else note.pitch.midi
