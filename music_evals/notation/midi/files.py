"""Standard MIDI files, and the MIDI text that is put before a language model.

`write_midi` writes a file and `midi_to_text` turns it into text, both with `mido`.
`parse_midi_text` reads the text.

The text format is stable. Its first line is ``ticks_per_beat=480``; each further line is one
event::

    tick=240 beat=0.5 note_on channel=9 note=42 velocity=80

A line has the time in ticks from the start, the same time in quarter notes (at most three
decimals), and the event as `mido` spells it. All tracks are merged. Simultaneous events come in
this order: tempo and signatures, other channel messages, note ends, note starts. Text events, track
names and system-exclusive data are left out: they are not music, and a title can give away the
answer to a question about the file.
"""

import io
import re
from collections import defaultdict, deque
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import mido

from music_evals.notation.midi.note_arrays import DEFAULT_TEMPO, PERCUSSION_CHANNEL, open_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

_Voice = tuple[int, int]  # channel and pitch
_META_FIELDS = {
    "set_tempo": ("tempo",),
    "time_signature": ("numerator", "denominator"),
    "key_signature": ("key",),
}
_LINE = re.compile(
    r"(?a)tick=(\d{1,9}) beat=\d{1,9}(?:\.\d{1,3})? "
    r"(?:note_(on|off) channel=(\d{1,2}) note=(\d{1,3}) velocity=(\d{1,3})"
    r"|set_tempo tempo=([1-9]\d{0,7})|(?!note_|set_tempo)[a-z_]+(?: [a-z]+=[A-Za-z0-9#-]{1,9})*)",
)


@dataclass(frozen=True, slots=True, order=True)
class FileNote(Note):
    """A note of a MIDI file; onset and duration in ticks."""

    is_drum: bool


@dataclass(frozen=True, slots=True)
class MidiFile:
    """The notes of a MIDI file or MIDI text, sorted by onset and pitch."""

    ticks_per_beat: int
    tempo: float  # in quarter notes per minute, to two decimals; 120 if the file has none
    notes: tuple[FileNote, ...]


def write_midi(*parts: Performance) -> bytes:
    """Write a performance as a standard MIDI file of format 0, or several that are played together
    as one of format 1; the order of the notes does not change the bytes.

    The file holds tempo, time signature, key signature (if the performance has a key), program and
    notes, and no text. Percussion is on channel 9, counted from 0. A single part is on channel 0
    otherwise, the first of several on channel 0, the next on 1 and so on.

    Raises:
        ValueError: MIDI cannot hold a value, or two notes of one pitch overlap.
    """
    channels = (channel for channel in range(16) if channel != PERCUSSION_CHANNEL)
    tracks = [
        _track(part, PERCUSSION_CHANNEL if part.percussion else next(channels)) for part in parts
    ]
    buffer = io.BytesIO()
    kind = min(len(tracks) - 1, 1)
    mido.MidiFile(type=kind, ticks_per_beat=TICKS_PER_BEAT, tracks=tracks).save(file=buffer)
    return buffer.getvalue()


def _track(performance: Performance, channel: int) -> mido.MidiTrack:
    end = _check(performance)
    events: list[tuple[int, str, int, int]] = []  # sorted: a pitch ends before it begins again
    for note in performance.notes:
        events += (
            (note.onset, "note_on", note.pitch, note.velocity),
            (note.onset + note.duration, "note_off", note.pitch, 0),
        )

    numerator, denominator = performance.meter
    track = mido.MidiTrack()
    track.append(mido.MetaMessage("set_tempo", tempo=round(60e6 / performance.tempo)))
    track.append(mido.MetaMessage("time_signature", numerator=numerator, denominator=denominator))
    if performance.key is not None:
        track.append(mido.MetaMessage("key_signature", key=performance.key))
    # A percussion part has no program of its own: 0 is the standard kit.
    program = 0 if performance.percussion else performance.program
    track.append(mido.Message("program_change", channel=channel, program=program))
    now = 0
    for time, kind, pitch, velocity in sorted(events):
        track.append(
            mido.Message(kind, channel=channel, note=pitch, velocity=velocity, time=time - now)
        )
        now = time
    track.append(mido.MetaMessage("end_of_track", time=end - now))
    return track


def midi_to_text(data: bytes) -> str:
    """Write a MIDI file as text, one event per line; the module's docstring describes the format.

    MidiError if the bytes are no MIDI file of format 0 or 1, or if its time base is SMPTE.

    Source: MUSE (arXiv 2510.22455), MIDI modality: the performance as text made from the MIDI with
    `mido`.
    """
    midi = open_midi(data)
    lines: list[tuple[tuple[int, int, int, int], str]] = []
    started: dict[_Voice, int] = {}  # channel and pitch → onset of the sounding note
    now = 0
    for message in mido.merge_tracks(midi.tracks):
        now += message.time
        place, pitch = getattr(message, "channel", -1), getattr(message, "note", -1)
        rank = _rank(message, (place, pitch), now, started)
        if rank is None:
            continue
        if rank == 0:
            place = list(_META_FIELDS).index(message.type)
        elif rank == 1:
            # Controllers keep the order of the file, which has a meaning (bank select, then
            # program).
            pitch = 0
        lines.append(((now, rank, place, pitch), _event_text(message, rank)))
    lines.sort(key=itemgetter(0))
    events = [
        f"tick={tick} beat={_beat(tick, midi.ticks_per_beat)} {text}" for (tick, *_), text in lines
    ]
    return "\n".join([f"ticks_per_beat={midi.ticks_per_beat}", *events])


def _rank(message: Any, voice: _Voice, now: int, started: dict[_Voice, int]) -> int | None:
    """The place of an event among simultaneous ones; None for one that is left out."""
    if message.type == "note_on" and message.velocity > 0:
        started[voice] = now
        return 3
    if message.type in ("note_on", "note_off"):
        # The end of a note without length comes after its start.
        return 4 if started.pop(voice, None) == now else 2
    if message.type in _META_FIELDS:
        return 0
    if message.type == "end_of_track":
        return 5
    return None if message.is_meta or voice[0] < 0 else 1


def _event_text(message: Any, rank: int) -> str:
    if message.is_meta:
        names = _META_FIELDS.get(message.type, ())
        return " ".join([message.type, *(f"{name}={getattr(message, name)}" for name in names)])
    text = str(message).rpartition(" time=")[0]
    return text if rank == 3 else text.replace("note_on", "note_off")


def parse_midi_text(text: str) -> MidiFile:
    """Read the notes of text from `midi_to_text`; any other text is a ValueError that names the
    line.

    An end closes the oldest open note of its channel and pitch. Ends without a note, and notes
    without an end, are left out, as symusic does.
    """
    head, *lines = text.removesuffix("\n").split("\n")
    resolution = re.fullmatch(r"(?a)ticks_per_beat=([1-9]\d{0,4})", head)
    if resolution is None:
        raise ValueError(f"MIDI text, line 1 ({head[:80]!r}): accepted is ticks_per_beat=N")
    tempo = DEFAULT_TEMPO
    notes: list[FileNote] = []
    # Channel and pitch → onset and velocity.
    sounding: dict[_Voice, deque[tuple[int, int]]] = defaultdict(deque)
    for number, line in enumerate(lines, start=2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(
                f"MIDI text, line {number} ({line[:80]!r}): accepted is tick=T beat=B EVENT with "
                "the event's fields"
            )
        tempo = int(match[6] or tempo)
        if not match[2]:
            continue
        tick, channel, pitch, velocity = (int(match[group]) for group in (1, 3, 4, 5))
        if match[2] == "on":
            sounding[channel, pitch].append((tick, velocity))
        elif opened := sounding[channel, pitch]:
            onset, velocity = opened.popleft()
            is_drum = channel == PERCUSSION_CHANNEL
            notes.append(FileNote(onset, pitch, tick - onset, velocity, is_drum))
    # Two decimals undo the rounding to whole microseconds of the tempi in use.
    return MidiFile(int(resolution[1]), round(60e6 / tempo, 2), tuple(sorted(notes)))


def _check(performance: Performance) -> int:
    """Check what mido does not check; return the end of the performance in ticks."""
    if not 0 < performance.tempo <= 60e6 or performance.meter[0] < 1:
        raise ValueError(f"tempo {performance.tempo} or meter {performance.meter} is out of range")
    ends: dict[int, int] = {}
    for note in sorted(performance.notes):
        if note.onset < 0 or note.duration < 1 or note.velocity < 1:
            raise ValueError(
                f"{note} is out of range; accepted are onset >= 0, duration >= 1, velocity 1-127"
            )
        if note.onset < ends.get(note.pitch, 0):
            raise ValueError(
                f"{note} starts while its pitch still sounds; MIDI holds one note of a pitch at a "
                "time"
            )
        ends[note.pitch] = note.onset + note.duration
    end = max(ends.values(), default=0)
    if performance.length is not None and performance.length < end:
        raise ValueError(
            f"length {performance.length} is shorter than the notes; accepted are {end} ticks or "
            "more"
        )
    return end if performance.length is None else performance.length


def _beat(tick: int, ticks_per_beat: int) -> str:
    """Ticks as quarter notes with at most three decimals, rounded half up, trailing zeros
    trimmed.
    """
    thousandths = (2000 * tick + ticks_per_beat) // (2 * ticks_per_beat)
    quarters, rest = divmod(thousandths, 1000)
    return f"{quarters}.{rest:03d}".rstrip("0").rstrip(".")
