"""A MIDI file as a score: measures, voices, ties and spelled pitches, checked note by note.

- Metres and tempos of any track hold for all parts. So do keys, unless a track has its own.
  A metre that begins within a measure ends that measure. A first measure is a pickup if its
  metre is shorter than the next, and only lasts for this measure.
- A part is a channel of a track. Within each quarter note its notes start on equal steps, as
  many as one of `DIVISIONS`. A start may be up to a tick away if a step is no whole number of
  ticks. Files with other starts, such as recordings, are refused.
- An end on no step, as in files that shorten all notes, moves to the nearest beat or step. It
  moves by at most a sixteenth of the note's length, or of a quarter note if that is longer. A
  note that is shorter than a step lasts for the step.
- Pitches are spelled by the key and the notes around them, as in ps13 (Meredith, "The ps13
  pitch spelling algorithm", Journal of New Music Research 35(2), 2006). Other than there, the
  key signature spells the tonics.

The finished score is checked against the file: each note has to be the same in part, pitch, onset
and end, within these tolerances. MIDI says nothing about clefs, voices and rests, so they are
chosen here. Ornaments are as played.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import zip_longest
from math import lcm
from typing import TYPE_CHECKING, Any, Final

import mido
import numpy as np

from music_evals.notation.midi.note_arrays import PERCUSSION_CHANNEL, NoteArrays, read_note_arrays
from music_evals.notation.scores.preparing import ScoreError

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

DIVISIONS: Final = (1, 2, 4, 3, 8, 6, 5, 16, 12, 7, 10, 9, 32, 24, 14, 20, 11, 13, 15, 18, 28, 48)
"""Equal steps of a quarter note on which notes may start, the simplest first."""

_MIN_STEP: Final = 4  # ticks, of a step that is no whole number of them
_TOLERANCE: Final = Fraction(1, 16)  # of a note's length or a quarter note, by which its end may move
_LEAST: Final = Fraction(1, 3)  # quarter notes: the longest step that a shorter note is written as
_LONGEST: Final = 4 * 255  # quarter notes: the longest measure
_MAX_VOICES: Final = 16  # of a part
_TIES: Final = {(True, True): None, (True, False): "start", (False, True): "stop", (False, False): "continue"}
_LENGTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # steps of a tuplet that one note value can show
_CONTEXT: Final = 40  # notes before and after a note that tell how it is spelled
_FLATTEST, _WIDTH = -3, 5  # on the line of fifths: tonics from the key's, and notes from a tonic
_STEPS: Final = "FCGDAEB"  # on the line of fifths, from -1

_Place = tuple[Fraction, Fraction]  # onset and end in quarter notes


@dataclass(slots=True)
class _Note:
    onset: int  # ticks
    end: int  # ticks
    pitch: int
    start: Fraction = Fraction(0)  # quarter notes
    stop: Fraction = Fraction(0)
    fifths: int = 0  # of its key, then of its name on the line of fifths, where C is 0


@dataclass(slots=True)
class _Part:
    """The notes of a channel of a track."""

    track: int
    channel: int
    program: int = 0
    notes: list[_Note] = field(default_factory=list)
    steps: dict[int, int] = field(default_factory=dict)  # quarter note → steps of its grid

    @property
    def name(self) -> str:
        return f"channel {self.channel + 1} of track {self.track + 1}"


@dataclass(frozen=True, slots=True)
class _Measure:
    start: Fraction
    end: Fraction
    metre: str  # such as 3/4
    is_new: bool  # whether the metre is shown


class _Content:
    """The events of a file."""

    def __init__(self, file: mido.MidiFile, arrays: NoteArrays) -> None:
        self.resolution: int = file.ticks_per_beat
        self.names: dict[int, str] = {}  # track → name
        self.metres: dict[int, tuple[int, int]] = {}  # tick → numerator and denominator
        self.tempos: dict[int, int] = {}  # tick → microseconds
        self.keys: dict[int, dict[int, str]] = {}  # track → tick → key
        places: set[tuple[int, int]] = set()
        for number, track in enumerate(file.tracks):
            now = 0
            for message in track:
                now += message.time
                self._read_meta(message, now, number)
                if message.type == "note_on" and message.velocity:
                    places.add((number, message.channel))
        self.parts = [_Part(*place) for place in sorted(places)]
        columns = (arrays.track, arrays.program, arrays.onset, arrays.end, arrays.pitch)
        for index, program, *note in zip(*(column.tolist() for column in columns), strict=True):
            self.parts[index].program = program
            self.parts[index].notes.append(_Note(*note))

    def _read_meta(self, message: Any, now: int, number: int) -> None:
        if message.type == "time_signature":
            metre = (message.numerator, message.denominator)
            if self.metres.setdefault(now, metre) != metre:
                raise ScoreError(f"its tracks have different metres at tick {now}; a score has one")
        elif message.type == "set_tempo":
            self.tempos[now] = message.tempo
        elif message.type == "key_signature":
            self.keys.setdefault(number, {})[now] = message.key
        elif message.type == "track_name":
            self.names.setdefault(number, " ".join(message.name.split()))

    def keys_of(self, part: _Part) -> list[tuple[int, str]]:
        """Ticks and names of the keys of a part: its track's, or else those of the first track with any."""
        keys = self.keys.get(part.track) or next(iter(self.keys.values()), {})
        return sorted(keys.items())


def read_midi_score(data: bytes, file: mido.MidiFile, max_notes: int, max_measures: int) -> "Score":
    """Make a score of a MIDI file in format 0 or 1.

    Args:
        data: the file.
        file: what mido read of it.
        max_notes: most notes of the score, with a note for each of several that are tied.
        max_measures: most measures of a part.

    Raises:
        ScoreError: the notes fit no grid or no measures, or the score would have other notes.
        MidiError: the file cannot be read.
    """
    arrays = read_note_arrays(data, len(data))
    if arrays.endless:
        raise ScoreError(f"{arrays.endless} of its notes do not end, so that lengths are uncertain")
    content = _Content(file, arrays)
    for part in content.parts:
        _place_notes(part, content.resolution)
    measures = _measures(content, min(max_measures, max_notes // len(content.parts)))
    _spell(content)
    score: Score = _music21().stream.Score()
    left = max_notes
    for part in content.parts:
        slices = [_slices(voice, measures, left) for voice in _voices(part)]
        left -= sum(len(places) for voice in slices for places in voice.values())
        score.insert(0, _write_part(part, content, measures, slices))
    _insert(score.parts[0], measures, _tempos(content), content.resolution)
    _check(score, arrays, content, measures)
    return score


def _place_notes(part: _Part, resolution: int) -> None:
    """Find onsets and ends in quarter notes."""
    onsets: dict[int, set[int]] = defaultdict(set)
    for note in part.notes:
        onsets[note.onset // resolution].add(note.onset % resolution)
    for quarter, ticks in onsets.items():
        steps = next((steps for steps in DIVISIONS if _fit(ticks, steps, resolution)), None)
        if steps is None:
            place = f"quarter note {quarter + 1} of {part.name}"
            raise ScoreError(f"its notes fit no grid of {DIVISIONS[-1]} or fewer steps a quarter note ({place})")
        part.steps[quarter] = steps
    for note in part.notes:
        note.start = _nearest(note.onset, part.steps[note.onset // resolution], resolution)
        note.stop = _end(note, part, resolution)


def _nearest(tick: int, steps: int, resolution: int) -> Fraction:
    """The nearest multiple of a step to a tick."""
    return Fraction(round(Fraction(tick * steps, resolution)), steps)


def _fits(tick: int, steps: int, resolution: int) -> bool:
    if resolution % steps == 0:
        return tick * steps % resolution == 0
    distance = abs(_nearest(tick, steps, resolution) * resolution - tick)
    return distance < 1 and resolution >= _MIN_STEP * steps


def _fit(ticks: set[int], steps: int, resolution: int) -> bool:
    return all(_fits(tick, steps, resolution) for tick in ticks)


def _end(note: _Note, part: _Part, resolution: int) -> Fraction:
    """The end of a note on the grid."""
    starting = part.steps[note.onset // resolution]
    ending = part.steps.get(note.end // resolution, starting)
    least = note.start + Fraction(1, starting if _odd(starting) > 1 else max(starting, 4))
    for steps in (ending, starting, 32, 24):
        nearest = _nearest(note.end, steps, resolution)
        if nearest > note.start and _fits(note.end, steps, resolution):
            return nearest
    end = Fraction(note.end, resolution)
    tolerance = _TOLERANCE * max(end - note.start, Fraction(1))
    for steps in (1, ending, 2, 4) if _odd(ending) > 1 else (1, 2, 4, ending):
        nearest = _nearest(note.end, steps, resolution)
        if abs(nearest - end) <= tolerance:
            return max(nearest, least)
    return max(_nearest(note.end, 8, resolution), least)


def _measures(content: _Content, limit: int) -> list[_Measure]:
    """The measures up to the last end of a note."""
    last = max(note.stop for part in content.parts for note in part.notes)
    changes = _metre_changes(content)
    ends = [*(start for start, _ in changes[1:]), last + _LONGEST]
    measures: list[_Measure] = []
    for (start, metre), until in zip(changes, ends, strict=True):
        is_new = True
        while start < min(last, until):
            end = min(start + Fraction(4 * metre[0], metre[1]), until)
            measures.append(_Measure(start, end, "{}/{}".format(*metre), is_new))
            start, is_new = end, False
            if len(measures) > limit:
                raise ScoreError(f"{len(content.parts)} parts of over {limit:,} measures, which is too long")
    if len(measures) > 1 and measures[1].is_new and measures[0].end < measures[1].end - measures[1].start:
        measures[0] = replace(measures[0], metre=measures[1].metre)
        measures[1] = replace(measures[1], is_new=False)
    return measures


def _metre_changes(content: _Content) -> list[tuple[Fraction, tuple[int, int]]]:
    """Onsets of metres in quarter notes; the default is 4/4."""
    changes: list[tuple[Fraction, tuple[int, int]]] = []
    for tick, metre in sorted({0: (4, 4), **content.metres}.items()):
        start = Fraction(tick, content.resolution)
        if changes and changes[-1][1] == metre:
            continue
        if 32 % start.denominator:
            raise ScoreError(f"its metre changes at quarter note {float(start):.3f}, between the steps of a grid")
        changes.append((start, metre))
    return changes


def _music21() -> Any:
    """music21, which takes a third of a second to import, without its types, which are incomplete."""
    import music21

    return music21


def _key(name: str) -> Any:
    """A key of MIDI; most programs write major for lack of anything better, so major is a signature without mode."""
    key: Any = _music21().key
    tonic = key.Key(name.removesuffix("m").replace("b", "-"), "minor" if name.endswith("m") else "major")
    return tonic if name.endswith("m") else key.KeySignature(tonic.sharps)


def _spell(content: _Content) -> None:
    """Spell the pitches of all parts together.

    Each pitch class around a note is a tonic, as often as it comes there. It votes for the note's name in its scale.
    """
    sounding: list[_Note] = []
    for part in content.parts:
        if part.channel == PERCUSSION_CHANNEL:
            continue
        keys = content.keys_of(part)
        ticks = [tick for tick, _ in keys]
        sharps = [0, *(_key(name).sharps for _, name in keys)]
        for note in part.notes:
            note.fifths = sharps[bisect_right(ticks, note.onset)]
        sounding += part.notes
    sounding.sort(key=lambda note: (note.start, note.pitch))
    classes = np.array([note.pitch * 7 % 12 for note in sounding], np.int64)
    for index, note in enumerate(sounding):
        around = classes[max(0, index - _CONTEXT) : index + _CONTEXT]
        flattest = note.fifths + _FLATTEST
        tonics = flattest + (around - flattest) % 12
        names = tonics - _WIDTH + (classes[index] - tonics + _WIDTH) % 12
        lowest = names.min()
        note.fifths = int(lowest + np.bincount(names - lowest).argmax())


def _voices(part: _Part) -> list[list[list[_Note]]]:
    """Chords of each voice; notes are a chord if they start and end together."""
    chords: dict[tuple[Fraction, Fraction, int], list[_Note]] = defaultdict(list)
    seen: dict[tuple[Fraction, Fraction, int], int] = defaultdict(int)
    for note in part.notes:
        place = (note.start, note.stop, note.pitch)
        chords[note.start, note.stop, seen[place]].append(note)  # a pitch comes once in a chord
        seen[place] += 1
    voices: list[list[list[_Note]]] = []
    for chord in sorted(chords.values(), key=lambda chord: (chord[0].start, -max(note.pitch for note in chord))):
        voice = next((voice for voice in voices if voice[-1][0].stop <= chord[0].start), None)
        if voice is None:
            voices.append([chord])
        else:
            voice.append(chord)
        if len(voices) > _MAX_VOICES:
            raise ScoreError(f"{part.name} has over {_MAX_VOICES} notes of different lengths at once")
    return voices


_Slice = tuple[Fraction, Fraction, list[_Note]]  # start and end within a measure, and the notes


def _slices(voice: list[list[_Note]], measures: Sequence[_Measure], limit: int) -> dict[int, list[_Slice]]:
    """The chords of a voice in each measure where it has any, cut at bar lines."""
    slices: dict[int, list[_Slice]] = defaultdict(list)
    count = index = 0
    for chord in voice:
        start, stop = chord[0].start, chord[0].stop
        while measures[index].end <= start:
            index += 1
        place = index
        while start < stop:
            measure = measures[place]
            end = min(stop, measure.end)
            slices[place].append((start - measure.start, end - measure.start, chord))
            start, place, count = end, place + 1, count + 1
            if count > limit:
                raise ScoreError("too many notes, with a note for each of several that are tied")
    return slices


def _write_part(
    part: _Part, content: _Content, measures: Sequence[_Measure], slices: list[dict[int, list[_Slice]]]
) -> Any:
    music21 = _music21()
    written = music21.stream.Part()
    is_drum = part.channel == PERCUSSION_CHANNEL
    player = music21.instrument.instrumentFromMidiProgram(part.program)
    if is_drum:
        player = music21.instrument.UnpitchedPercussion()
    written.partName = player.partName = content.names.get(part.track) or player.instrumentName
    written.insert(0, player)
    for index, measure in enumerate(measures):
        voices = {number: voice[index] for number, voice in enumerate(slices) if index in voice}
        written.insert(measure.start, _write_measure(index, measure, voices, is_drum))
    keys = [(tick, _key(name)) for tick, name in content.keys_of(part)]
    _insert(written, measures, keys, content.resolution)
    sign = music21.clef.bestClef(written, recurse=True)
    if is_drum:
        sign = music21.clef.PercussionClef()
    written.getElementsByClass("Measure")[0].insert(0, sign)
    return written


def _write_measure(index: int, measure: _Measure, voices: dict[int, list[_Slice]], is_drum: bool) -> Any:
    music21 = _music21()
    bar = music21.stream.Measure(number=index + 1)
    if measure.is_new:
        bar.insert(0, music21.meter.TimeSignature(measure.metre))
    written = [_write_voice(number, places, measure, is_drum) for number, places in (voices or {0: []}).items()]
    for voice in written:
        bar.insert(0, voice)
    for voice in written[1:]:
        for rest in voice.getElementsByClass("Rest"):
            rest.style.hideObjectOnPrint = True
    return bar


def _insert(part: Any, measures: Sequence[_Measure], signs: list[tuple[int, Any]], resolution: int) -> None:
    """Insert signs at their ticks, to the nearest sixteenth of their measure; later ones are left out."""
    bars = list(part.getElementsByClass("Measure"))
    for tick, sign in signs:
        onset = Fraction(tick, resolution)
        index = bisect_right(measures, onset, key=lambda measure: measure.start) - 1
        if onset < measures[index].end:
            bars[index].insert(Fraction(round(4 * (onset - measures[index].start)), 4), sign)


def _tempos(content: _Content) -> list[tuple[int, Any]]:
    """Ticks and metronome marks."""
    tempo = _music21().tempo
    marks: list[tuple[int, Any]] = []
    for tick, microseconds in sorted(content.tempos.items()):
        number = round(60e6 / max(microseconds, 1), 2)
        if number.is_integer():
            number = int(number)
        if not marks or marks[-1][1].number != number:
            marks.append((tick, tempo.MetronomeMark(number=number)))
    return marks


def _write_voice(number: int, slices: list[_Slice], measure: _Measure, is_drum: bool) -> Any:
    """The notes of a voice in a measure, with rests between them and ties to what comes before and after."""
    music21 = _music21()
    voice = music21.stream.Voice(id=str(number + 1))
    now = Fraction(0)
    length = measure.end - measure.start
    for start, end, chord in [*slices, (length, length, [])]:
        for place, value in _values(now, start):
            voice.insert(place, music21.note.Rest(quarterLength=value))
        for place, value in _values(start, end):
            is_first = measure.start + place == chord[0].start
            is_last = measure.start + place + value == chord[0].stop
            voice.insert(place, _write_chord(chord, value, _TIES[is_first, is_last], is_drum))
        now = end
    return voice


def _values(start: Fraction, end: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Onsets and lengths of notes that are tied to fill a stretch; in tuplets, a note value can show each one."""
    while start < end:
        value = _value(start, end)
        yield start, value
        start += value


def _value(start: Fraction, end: Fraction) -> Fraction:
    steps = lcm(start.denominator, end.denominator)
    tuplet = _odd(steps)
    if tuplet == 1:
        return end - start
    count = (end - start) * steps
    beat = int(start) + 1 if start.denominator > 1 else int(end)
    is_triplet = tuplet == 3 == _odd((end - start).denominator) and count in _LENGTHS
    if start < beat < end and not is_triplet:
        return beat - start
    values = [Fraction(length, steps) for length in _LENGTHS if length <= count]
    return max(value for value in values if _odd(value.denominator) == tuplet)


def _odd(number: int) -> int:
    """The largest odd divisor."""
    return number // (number & -number)


def _write_chord(notes: list[_Note], value: Fraction, tie_type: str | None, is_drum: bool) -> Any:
    music21 = _music21()
    written = []
    for sounding in notes:
        element = _drum(sounding.pitch) if is_drum else music21.note.Note(_pitch(sounding))
        element.quarterLength = value
        if tie_type:
            element.tie = music21.tie.Tie(tie_type)
        written.append(element)
    if len(written) == 1:
        return written[0]
    if is_drum:
        return music21.percussion.PercussionChord(written, quarterLength=value)
    return music21.chord.Chord(written, quarterLength=value)


def _pitch(note: _Note) -> Any:
    alter, step = divmod(note.fifths + 1, 7)
    spelled = _music21().pitch.Pitch(_STEPS[step] + ("#" * alter or "-" * -alter), octave=4)
    spelled.octave = 4 + (note.pitch - spelled.midi) // 12
    return spelled


def _drum(pitch: int) -> Any:
    music21 = _music21()
    drum = music21.note.Unpitched()
    player = music21.instrument.UnpitchedPercussion()
    player.percMapPitch = pitch
    drum.storedInstrument = player
    return drum


def _check(score: "Score", arrays: NoteArrays, content: _Content, measures: Sequence[_Measure]) -> None:
    """Compare the notes of the score with those that mido reads in the file."""
    ticks = np.stack([arrays.pitch, arrays.onset, arrays.end], axis=1)
    for index, part in enumerate(score.parts):
        read: dict[int, list[_Place]] = defaultdict(list)
        for pitch, onset, end in ticks[arrays.track == index].tolist():
            read[pitch].append((Fraction(onset, arrays.resolution), Fraction(end, arrays.resolution)))
        differing = _differing(_written_notes(part), read, arrays.resolution)
        if differing:
            place = bisect_right(measures, min(differing), key=lambda measure: measure.start)
            raise ScoreError(f"measure {place} of {content.parts[index].name} has other notes than the file")


def _differing(written: dict[int, list[_Place]], read: dict[int, list[_Place]], resolution: int) -> list[Fraction]:
    """Onsets of notes that are not the same in both."""
    onsets: list[Fraction] = []
    for pitch in written.keys() | read.keys():
        for ours, theirs in zip_longest(sorted(written[pitch]), sorted(read[pitch])):
            if not ours or not theirs or not _is_same(ours, theirs, resolution):
                onsets.append((ours or theirs)[0])
    return onsets


def _written_notes(part: Any) -> dict[int, list[_Place]]:
    """Pitch → notes of a part, with ties joined."""
    notes: dict[int, list[_Place]] = defaultdict(list)
    tied: dict[tuple[str, int], Fraction] = {}  # voice and pitch → onset of the first of tied notes
    for bar in part.getElementsByClass("Measure"):
        for voice in bar.voices:
            for element in voice.notes:
                onset = Fraction(bar.offset) + Fraction(element.offset)
                end = onset + Fraction(element.quarterLength)
                for note in getattr(element, "notes", [element]):
                    pitch = note.storedInstrument.percMapPitch if "Unpitched" in note.classes else note.pitch.midi
                    start = tied.pop((voice.id, pitch), onset)
                    if note.tie and note.tie.type != "stop":
                        tied[voice.id, pitch] = start
                    else:
                        notes[pitch].append((start, end))
    return notes


def _is_same(written: _Place, read: _Place, resolution: int) -> bool:
    """Compare by the tolerances of this module's head."""
    if abs(written[0] - read[0]) * resolution >= 1:
        return False
    is_short = read[1] < written[1] <= written[0] + _LEAST
    return is_short or abs(written[1] - read[1]) <= _TOLERANCE * max(read[1] - read[0], Fraction(1))
