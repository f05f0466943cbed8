"""A MIDI file as a score: measures, voices, ties and spelled pitches, checked note by note.

- Metres, keys and tempos of any track hold for all parts. A metre that begins within a measure
  ends that measure. A first measure is a pickup if its metre is shorter than the next, and only
  lasts for this measure.
- A part is a channel of a track. Within each quarter note its notes start on equal steps, as
  many as one of `DIVISIONS`. A start may be up to a tick away if a step is no whole number of
  ticks. Files with other starts, such as recordings, are refused.
- An end on no step, as in files that shorten all notes, moves to the nearest beat or step, by at
  most a sixteenth of the note's length, or of a quarter note if that is longer. A note that is
  shorter than a step then lasts for the step.
- Pitches are spelled by the key and the notes around them, as in ps13 (Meredith, "The ps13
  pitch spelling algorithm", Journal of New Music Research 35(2), 2006). Other than there, the
  key signature spells the tonics.

The finished score is checked: each note has to be as it is in the file, on these steps. MIDI says
nothing about clefs, voices and rests, so they are chosen here. Ornaments are as played.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from music_evals.notation.midi.note_arrays import Integers, NoteArrays, read_note_arrays
from music_evals.notation.scores.preparing import ScoreError

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

DIVISIONS = (4, 6, 8, 5, 12, 16, 7, 10, 24, 32, 48)
"""Equal steps of a quarter note on which notes may start, the simplest first."""

_UNITS = 3360  # of a quarter note; each step and each measure is a whole number of units
_FINEST = 7  # exponent of 2 in the denominator of a metre
_MAX_VOICES = 16  # of a part
_CONTEXT = 40  # notes before and after a note that tell how it is spelled


_Notes = list[list[Any]]  # onset, end, pitch, and name of the pitch on the line of fifths


def read_midi_score(data: bytes) -> "Score":
    """Make a score of a MIDI file in format 0 or 1.

    Raises:
        ScoreError: the notes fit no grid or no measures, or the score would have other notes.
        MidiError: the file cannot be read.
    """
    arrays = read_note_arrays(data, len(data))
    if not len(arrays.onset):
        raise ScoreError("the score has no notes")
    for _, numerator, exponent in arrays.metres.tolist():
        if not numerator or exponent > _FINEST:
            raise ScoreError(
                f"it has the metre {numerator}/{1 << min(exponent, 30)}, which is none"
            )
    if arrays.endless:
        raise ScoreError(f"{arrays.endless} of its notes do not end, so that lengths are uncertain")
    onsets, ends = _quantise(arrays)
    lines, metres = _measures(arrays, int(ends.max()))
    _, firsts = np.unique(arrays.track, return_index=True)
    notes = np.stack([onsets, ends, arrays.pitch, _spell(arrays)], axis=1)
    score: Score = _music21().stream.Score()
    for track, first in enumerate(firsts.tolist()):
        rows = notes[arrays.track == track].tolist()
        part = _empty_part(arrays, first, lines, metres)
        _write_notes(rows, part, lines, arrays.drum[first])
        _check(rows, part, lines)
        score.insert(0, part)
    return score


def _music21() -> Any:
    """music21, which is slow to import, without its types, which are incomplete."""
    import music21

    return music21


def _nearest(ticks: Integers, division: Any, resolution: int) -> Any:
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
        raise ScoreError(f"quarter note {quarter} of part {part} has notes that fit no grid")
    steps = fitting[group]
    onsets, _ = _nearest(arrays.onset, steps, resolution)
    ends, _ = _nearest(arrays.end, 2 * steps, resolution)
    ends = np.maximum(ends, onsets + _UNITS // steps)
    tolerance = np.maximum(arrays.end - arrays.onset, resolution) / 16
    choices: Any = [(steps, tolerance), (1, tolerance), (32, 1), (24, 1), (steps, 1)]
    for division, limit in choices:
        nearest, distance = _nearest(arrays.end, division, resolution)
        ends = np.where((distance < limit) & (nearest > onsets), nearest, ends)
    return onsets, ends


def _measures(arrays: NoteArrays, last: int) -> tuple[list[int], dict[int, str]]:
    """Bar lines, the last of which ends the score, and metres by the index of their measure."""
    changes: dict[int, Any] = {}
    for tick, *metre in arrays.metres.tolist():
        onset = round(tick * 32 / arrays.resolution) * _UNITS // 32
        if changes.setdefault(onset, metre) != metre:
            raise ScoreError(f"its tracks have different metres at tick {tick}; a score has one")
    changes.setdefault(0, [4, 2])
    lines: list[int] = []
    metres = {}
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
    starts, sharps = arrays.keys.T
    order = np.lexsort((arrays.pitch, arrays.onset))
    order = order[~arrays.drum[order]]
    place = np.searchsorted(starts, arrays.onset[order], side="right")
    flattest = np.append(0, sharps)[place] - 3
    classes = arrays.pitch[order] * 7 % 12
    names = np.zeros_like(arrays.pitch)
    for index, note in enumerate(order.tolist()):
        around = classes[max(0, index - _CONTEXT) : index + _CONTEXT]
        tonics = flattest[index] + (around - flattest[index]) % 12
        votes = tonics - 5 + (classes[index] - tonics + 5) % 12
        lowest = votes.min()
        names[note] = lowest + np.bincount(votes - lowest).argmax()
    return names


def _empty_part(arrays: NoteArrays, first: int, lines: list[int], metres: Any) -> Any:
    """The measures and signs of the part that has the note with the index `first`."""
    music21 = _music21()
    part = music21.stream.Part()
    player = music21.instrument.instrumentFromMidiProgram(int(arrays.program[first]))
    if arrays.drum[first]:
        player = music21.instrument.UnpitchedPercussion()
    part.partName = arrays.names[arrays.track[first]] or player.instrumentName
    part.insert(0, player)
    for number, line in enumerate(lines[:-1], start=1):
        part.insert(Fraction(line, _UNITS), music21.stream.Measure(number=number))
    measures = part[music21.stream.Measure]
    for index, metre in metres.items():
        measures[index].insert(0, music21.meter.TimeSignature(metre))
    signs = [(tick, music21.key.KeySignature(sharps)) for tick, sharps in arrays.keys.tolist()]
    if not arrays.track[first]:
        for tick, microseconds in arrays.tempos.tolist():
            tempo = round(60e6 / max(microseconds, 1), 2)
            signs.append((tick, music21.tempo.MetronomeMark(number=tempo)))
    for tick, sign in signs:
        onset = tick * _UNITS // arrays.resolution
        index = bisect_right(lines, onset) - 1
        if index < len(measures):
            measures[index].insert(round(4 * (onset - lines[index]) / _UNITS) / 4, sign)
    return part


def _write_notes(notes: _Notes, part: Any, lines: list[int], is_drum: bool) -> None:
    """Write each chord of notes that start and end together into the first voice that is free."""
    music21 = _music21()
    chords = defaultdict(list)
    for onset, end, *pitch in sorted(notes, key=lambda note: (note[0], -note[2])):
        chords[onset, end].append(pitch)
    ends = [0] * _MAX_VOICES  # of the last chord of each voice
    voices: dict[Any, Any] = defaultdict(music21.stream.Voice)
    for (onset, end), pitches in chords.items():
        number = next((number for number, until in enumerate(ends) if until <= onset), None)
        if number is None:
            raise ScoreError(f"a part has over {_MAX_VOICES} notes of different lengths at once")
        ends[number] = end
        chord = _chord(pitches, is_drum)
        chord.quarterLength = Fraction(end - onset, _UNITS)
        index = bisect_right(lines, onset)
        cuts = [onset, *lines[index : bisect_left(lines, end)], end]
        lengths = [Fraction(stop - start, _UNITS) for start, stop in pairwise(cuts)]
        for place, note in enumerate(chord.splitByQuarterLengths(lengths)):
            offset = cuts[place] - lines[index + place - 1]
            voices[index + place, number].insert(Fraction(offset, _UNITS), note)
    measures = part[music21.stream.Measure]
    for (index, number), voice in voices.items():
        voice.id = str(number + 1)
        span = [0.0, Fraction(lines[index] - lines[index - 1], _UNITS)]
        voice.makeRests(span, fillGaps=True, inPlace=True, hideRests=number > 0)
        measures[index - 1].insert(0, voice)
    clef = music21.clef.bestClef(part, recurse=True)
    if is_drum:
        clef = music21.clef.PercussionClef()
    measures[0].insert(0, clef)


def _chord(pitches: _Notes, is_drum: bool) -> Any:
    """A note or chord of MIDI pitches with their names."""
    music21 = _music21()
    notes = []
    for midi, name in pitches:
        pitch = music21.pitch.Pitch(music21.key.sharpsToPitch(name).name)
        pitch.octave = 4 + (midi - pitch.midi) // 12
        note = music21.note.Note(pitch)
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


def _check(notes: _Notes, part: Any, lines: list[int]) -> None:
    """Compare a part with the notes of the file."""
    differing = Counter((onset, end, pitch) for onset, end, pitch, _ in notes)
    tied: dict[Any, int] = {}  # voice and end of a chord → onset
    for voice in part.recurse().getElementsByClass("Voice"):
        for chord in voice.notes:
            onset = round((voice.activeSite.offset + chord.offset) * _UNITS)
            end = onset + round(chord.quarterLength * _UNITS)
            start = tied.pop((voice.id, onset), onset)
            if chord.tie and chord.tie.type != "stop":
                tied[voice.id, end] = start
                continue
            for note in getattr(chord, "notes", [chord]):
                player = note.storedInstrument
                pitch = player.percMapPitch if player else note.pitch.midi
                differing[start, end, pitch] -= 1
    onsets = [onset for (onset, _, _), count in differing.items() if count]
    if onsets:
        raise ScoreError(
            f"measure {bisect_right(lines, min(onsets))} of {part.partName} has other notes than "
            "the file"
        )
