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

_MIN_STEP: Final = 4  # ticks, of a step that is no whole number of them
_TOLERANCE: Final = Fraction(1, 16)  # of a note's length or a quarter note, for its end
_MAX_VOICES: Final = 16  # of a part
_LENGTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # steps of a tuplet that a note can show
_TIES: Final = {(True, False): "start", (False, True): "stop", (False, False): "continue"}
_CONTEXT: Final = 40  # notes before and after a note that tell how it is spelled
_FLATTEST, _WIDTH = -3, 5  # on the line of fifths: tonics from the key's, and notes from a tonic
_STEPS: Final = "FCGDAEB"  # on the line of fifths, from -1

_Place = tuple[Fraction, Fraction]  # onset and end in quarter notes
_Names = list[tuple[int, int]]  # MIDI pitches, and their names on the line of fifths (C is 0)
_Voice = list[tuple[_Place, _Names]]  # chords


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
    import music21

    arrays = read_note_arrays(data, len(data))
    if arrays.endless:
        raise ScoreError(f"{arrays.endless} of its notes do not end, so that lengths are uncertain")
    places = _quantise(arrays)
    _, firsts = np.unique(arrays.track, return_index=True)
    last = max(end for _, end in places)
    lines, metres = _measures(arrays, last, min(max_measures, max_notes // len(firsts)))
    ticks = np.array(lines, np.float64) * arrays.resolution
    crossed = np.searchsorted(ticks, arrays.end) - np.searchsorted(ticks, arrays.onset)
    if crossed.sum() + len(places) > max_notes:
        raise ScoreError(f"over {max_notes:,} notes, with a note for each of several that are tied")
    score: Any = music21.stream.Score()
    for first, chords in zip(firsts.tolist(), _chords(arrays, places), strict=True):
        score.insert(0, _write_part(arrays, first, chords, lines, metres))
    tempos = []
    for tick, microseconds in arrays.tempos.tolist():
        number = round(60e6 / max(microseconds, 1), 2)
        tempos.append((tick, music21.tempo.MetronomeMark(number=number)))
    measures = list(score.parts[0].getElementsByClass("Measure"))
    _insert(measures, tempos, lines, arrays.resolution)
    _check(score, arrays, places, lines)
    return score  # type: ignore[no-any-return]


def _nearest(tick: int, steps: int, resolution: int) -> Fraction:
    return Fraction(round(Fraction(tick * steps, resolution)), steps)


def _fits(tick: int, steps: int, resolution: int) -> bool:
    """Whether a tick is on a step."""
    if resolution % steps == 0:
        return tick * steps % resolution == 0
    distance = abs(_nearest(tick, steps, resolution) * resolution - tick)
    return distance < 1 and resolution >= _MIN_STEP * steps


def _fit(ticks: set[int], steps: int, resolution: int) -> bool:
    return all(_fits(tick, steps, resolution) for tick in ticks)


def _quantise(arrays: NoteArrays) -> list[_Place]:
    """Onsets and ends of all notes on the grid."""
    resolution = arrays.resolution
    rows = np.stack([arrays.track, arrays.onset, arrays.end], axis=1).tolist()
    onsets: dict[tuple[int, int], set[int]] = defaultdict(set)  # part and quarter note → ticks
    for part, onset, _ in rows:
        onsets[part, onset // resolution].add(onset % resolution)
    grids: dict[tuple[int, int], int] = {}
    for (part, quarter), ticks in onsets.items():
        steps = next((steps for steps in DIVISIONS if _fit(ticks, steps, resolution)), 0)
        if not steps:
            reason = f"its notes fit no grid of {DIVISIONS[-1]} or fewer steps a quarter note"
            raise ScoreError(f"{reason} (quarter note {quarter + 1} of part {part + 1})")
        grids[part, quarter] = steps
    places = []
    for part, onset, end in rows:
        steps = grids[part, onset // resolution]
        start = _nearest(onset, steps, resolution)
        ending = grids.get((part, end // resolution), steps)
        places.append((start, _end(start, end, (steps, ending), resolution)))
    return places


def _end(start: Fraction, tick: int, grids: tuple[int, int], resolution: int) -> Fraction:
    """The end of a note, by the grids at its start and its end."""
    starting, ending = grids
    for steps in (ending, starting, 32, 24):
        nearest = _nearest(tick, steps, resolution)
        if nearest > start and _fits(tick, steps, resolution):
            return nearest
    end = Fraction(tick, resolution)
    tolerance = _TOLERANCE * max(end - start, Fraction(1))
    for steps in (1, ending, 8):
        nearest = _nearest(tick, steps, resolution)
        if abs(nearest - end) <= tolerance:
            break
    return max(nearest, start + Fraction(1, starting))


def _measures(
    arrays: NoteArrays, last: Fraction, limit: int
) -> tuple[list[Fraction], dict[int, str]]:
    """Bar lines, the last of which ends the score, and new metres by the index of their measure."""
    changes = [change for change in _metre_changes(arrays) if change[0] < last]
    lines: list[Fraction] = []
    metres: dict[int, str] = {}
    for (start, (numerator, denominator)), (until, _) in pairwise([*changes, (last, (0, 0))]):
        metres[len(lines)] = f"{numerator}/{denominator}"
        line = start
        while line < until:
            lines.append(line)
            line += Fraction(4 * numerator, denominator)
            if len(lines) > limit:
                raise ScoreError(f"it has parts of over {limit:,} measures, which is too long")
    lines.append(line)
    if 1 in metres and lines[1] - lines[0] < lines[2] - lines[1]:
        metres[0] = metres.pop(1)
    return lines, metres


def _metre_changes(arrays: NoteArrays) -> list[tuple[Fraction, tuple[int, int]]]:
    """Onsets in quarter notes, and numerators and denominators; the default is 4/4."""
    metres: dict[int, tuple[int, int]] = {}
    for tick, numerator, exponent in arrays.metres.tolist():
        metre = (numerator, 1 << exponent)
        if metres.setdefault(tick, metre) != metre:
            raise ScoreError(f"its tracks have different metres at tick {tick}; a score has one")
    changes: list[tuple[Fraction, tuple[int, int]]] = []
    for tick, metre in sorted({0: (4, 4), **metres}.items()):
        start = Fraction(tick, arrays.resolution)
        if changes and changes[-1][1] == metre:
            continue
        if 32 % start.denominator:
            reason = f"its metre changes at quarter note {float(start):.3f}"
            raise ScoreError(f"{reason}, between the steps of a grid")
        changes.append((start, metre))
    return changes


def _keys(arrays: NoteArrays) -> list[tuple[int, Any]]:
    """Ticks and keys; a major key is a signature, as many programs write major for any mode."""
    from music21.key import KeySignature

    keys: list[tuple[int, Any]] = []
    for tick, name in sorted(dict(reversed(arrays.keys)).items()):
        key: Any = KeySignature(KEYS.index(name) % 15 - 7)
        if name.endswith("m"):
            key = key.asKey("minor")
        keys.append((tick, key))
    return keys


def _spell(arrays: NoteArrays) -> Integers:
    """Names of all notes on the line of fifths, where C is 0.

    Each pitch class around a note is a tonic, as often as it comes there. It votes for the
    note's name in its scale.
    """
    keys = _keys(arrays)
    sharps = np.array([0, *(key.sharps for _, key in keys)])
    order = np.lexsort((arrays.pitch, arrays.onset))
    order = order[~arrays.drum[order]]
    places = np.searchsorted([tick for tick, _ in keys], arrays.onset[order], side="right")
    flattest = sharps[places] + _FLATTEST
    classes = arrays.pitch[order] * 7 % 12
    names = np.zeros_like(arrays.pitch)
    for index, note in enumerate(order.tolist()):
        around = classes[max(0, index - _CONTEXT) : index + _CONTEXT]
        tonics = flattest[index] + (around - flattest[index]) % 12
        votes = tonics - _WIDTH + (classes[index] - tonics + _WIDTH) % 12
        lowest = votes.min()
        names[note] = lowest + np.bincount(votes - lowest).argmax()
    return names


def _chords(arrays: NoteArrays, places: list[_Place]) -> list[dict[_Place, _Names]]:
    """The notes of each part that start and end together."""
    parts: list[dict[_Place, _Names]] = [defaultdict(list) for _ in arrays.names]
    rows = np.stack([arrays.track, arrays.pitch, _spell(arrays)], axis=1).tolist()
    for place, (part, pitch, name) in zip(places, rows, strict=True):
        parts[part][place].append((pitch, name))
    return parts


def _voices(chords: dict[_Place, _Names]) -> list[_Voice]:
    """Chords by voice; each takes the first voice that is free."""
    voices: list[_Voice] = []
    for chord in sorted(chords.items(), key=lambda chord: (chord[0][0], -max(chord[1])[0])):
        start = chord[0][0]
        voice = next((voice for voice in voices if voice[-1][0][1] <= start), None)
        if voice is None:
            voice = []
            voices.append(voice)
        voice.append(chord)
        if len(voices) > _MAX_VOICES:
            raise ScoreError(f"over {_MAX_VOICES} notes of different lengths at once")
    return voices


def _split(start: Fraction, end: Fraction, lines: list[Fraction]) -> Iterator[tuple[int, _Place]]:
    """Measures and places of the notes that are tied to fill a stretch."""
    measure = bisect_right(lines, start) - 1
    while start < end:
        length = min(end, lines[measure + 1]) - start
        divisions = length.denominator
        if divisions & (divisions - 1):
            steps = max(steps for steps in _LENGTHS if steps <= length.numerator)
            length = Fraction(steps, divisions)
        yield measure, (start, start + length)
        start += length
        if start == lines[measure + 1]:
            measure += 1


def _write_part(
    arrays: NoteArrays,
    first: int,
    chords: dict[_Place, _Names],
    lines: list[Fraction],
    metres: dict[int, str],
) -> Any:
    """Write the part with the note of the index `first`."""
    import music21

    part: Any = music21.stream.Part()
    is_drum = bool(arrays.drum[first])
    player: Any = music21.instrument.instrumentFromMidiProgram(int(arrays.program[first]))
    if is_drum:
        player = music21.instrument.UnpitchedPercussion()
    part.partName = player.partName = arrays.names[arrays.track[first]] or player.instrumentName
    part.insert(0, player)
    measures = [music21.stream.Measure(number=place) for place in range(1, len(lines))]
    for line, measure in zip(lines, measures, strict=False):
        part.insert(line, measure)
    for index, metre in metres.items():
        measures[index].insert(0, music21.meter.TimeSignature(metre))
    _insert(measures, _keys(arrays), lines, arrays.resolution)
    for number, voice in enumerate(_voices(chords)):
        for index, written in _write_voice(number, voice, lines, is_drum).items():
            measures[index].insert(0, written)
    for measure, (line, end) in zip(measures, pairwise(lines), strict=True):
        if not measure.voices:
            measure.insert(0, music21.note.Rest(quarterLength=end - line))
    clef = music21.clef.bestClef(part, recurse=True)
    if is_drum:
        clef = music21.clef.PercussionClef()
    measures[0].insert(0, clef)
    return part


def _write_voice(
    number: int, chords: _Voice, lines: list[Fraction], is_drum: bool
) -> dict[int, Any]:
    """The notes of a voice by the index of their measure, with rests between them."""
    import music21

    voices: dict[int, Any] = {}
    for (start, end), names in chords:
        for index, (onset, stop) in _split(start, end, lines):
            element = _element(names, is_drum)
            element.quarterLength = stop - onset
            if (onset, stop) != (start, end):
                element.tie = music21.tie.Tie(_TIES[onset == start, stop == end])
            if index not in voices:
                voices[index] = music21.stream.Voice(id=str(number + 1))
            voices[index].insert(onset - lines[index], element)
    for index, voice in voices.items():
        span = [0, lines[index + 1] - lines[index]]
        voice.makeRests(span, fillGaps=True, inPlace=True, hideRests=number > 0)
    return voices


def _element(names: _Names, is_drum: bool) -> Any:
    """A note or chord."""
    import music21

    if is_drum:
        notes = [_drum(pitch) for pitch, _ in names]
    else:
        notes = [music21.note.Note(_pitch(pitch, name)) for pitch, name in names]
    if len(notes) == 1:
        return notes[0]
    if is_drum:
        return music21.percussion.PercussionChord(notes)
    return music21.chord.Chord(notes)


def _pitch(midi: int, name: int) -> Any:
    from music21.pitch import Pitch

    alter, step = divmod(name + 1, 7)
    pitch = Pitch(_STEPS[step] + ("#" * alter or "-" * -alter), octave=4)
    pitch.octave = 4 + (midi - pitch.midi) // 12
    return pitch


def _drum(pitch: int) -> Any:
    from music21 import instrument, note

    drum = note.Unpitched()
    drum.storedInstrument = instrument.UnpitchedPercussion()
    drum.storedInstrument.percMapPitch = pitch
    return drum


def _insert(
    measures: list[Any], signs: list[tuple[int, Any]], lines: list[Fraction], resolution: int
) -> None:
    """Insert signs at their ticks, to the nearest sixteenth; those after the end are left out."""
    for tick, sign in signs:
        onset = Fraction(tick, resolution)
        index = bisect_right(lines, onset) - 1
        if index < len(measures):
            measures[index].insert(Fraction(round(4 * (onset - lines[index])), 4), sign)


def _check(score: Any, arrays: NoteArrays, places: list[_Place], lines: list[Fraction]) -> None:
    """Compare the notes of the score with those of the file."""
    read = Counter(zip(arrays.track.tolist(), arrays.pitch.tolist(), places, strict=True))
    written: Counter[tuple[int, int, _Place]] = Counter()
    for number, part in enumerate(score.parts):
        written.update((number, pitch, place) for pitch, place in _written_notes(part))
    differing = (read - written) + (written - read)
    if differing:
        part, _, (onset, _) = min(differing, key=lambda note: note[2])
        place = f"measure {bisect_right(lines, onset)} of part {part + 1}"
        raise ScoreError(f"{place} would have other notes than the file")


def _written_notes(part: Any) -> Iterator[tuple[int, _Place]]:
    """Pitches and places of notes, with ties joined."""
    starts: dict[tuple[str, Fraction], Fraction] = {}  # voice and end of a tied chord → its onset
    for measure in part.getElementsByClass("Measure"):
        for voice in measure.voices:
            for element in voice.notes:
                onset = Fraction(measure.offset) + Fraction(element.offset)
                end = onset + Fraction(element.quarterLength)
                start = starts.pop((voice.id, onset), onset)
                if element.tie and element.tie.type != "stop":
                    starts[voice.id, end] = start
                    continue
                for note in getattr(element, "notes", [element]):
                    drum = note.storedInstrument
                    pitch = drum.percMapPitch if drum else note.pitch.midi
                    yield pitch, (start, end)
