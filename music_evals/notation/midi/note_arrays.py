"""The notes of a MIDI file as arrays; safe on untrusted bytes.

LilyPond text can hold a program, and a program can write anything into a file that is called MIDI.
mido, which reads the file, is pure Python: no file can make it read foreign memory. Notes,
controllers, programs, tempo, metre, key and names of tracks are taken, and all other events are
left out.

Notes are paired as MusPy pairs them (Dong et al., ISMIR 2020; ``muspy.read_midi``): an end closes
the oldest open note of its channel and pitch. A note that is still open at the end of its track
closes there. An end without a start is ignored. Percussion is channel 9, counted from 0.
"""

import io
import re
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import mido
import numpy as np
from numpy.typing import NDArray

MAX_BYTES = 1_000_000
"""Largest file that is read by default; the longest pieces of the Mutopia Project have some 70,000
bytes.
"""

PERCUSSION_CHANNEL = 9
DEFAULT_TEMPO = 500_000  # microseconds per quarter note where a file names no tempo (MIDI standard)

KEYS = (
    *("Cb", "Gb", "Db", "Ab", "Eb", "Bb", "F", "C", "G", "D", "A", "E", "B", "F#", "C#"),
    *("Abm", "Ebm", "Bbm", "Fm", "Cm", "Gm", "Dm", "Am", "Em", "Bm", "F#m", "C#m", "G#m"),
    *("D#m", "A#m"),
)
"""The keys that a key signature can name, as `mido` spells them: major and minor, seven flats to
seven sharps.
"""

_MAX_TICKS = 1 << 40
# mido reads a number of variable length up to its end, in time quadratic in its bytes; text of an
# event may have as many bytes above 127 in a row.
_LONG_NUMBER = re.compile(rb"[\x80-\xff]{1000}")

Integers = NDArray[np.int64]


class MidiError(ValueError):
    """The bytes are no MIDI file, or one that is not accepted."""


@dataclass(frozen=True, slots=True, eq=False)
class NoteArrays:
    """The notes of a MIDI file; the arrays of notes have the shape (notes,)."""

    resolution: int  # ticks per quarter note, 1 to 32,767
    onset: Integers  # ticks
    end: Integers  # ticks
    pitch: Integers  # MIDI
    velocity: Integers
    program: Integers  # that the channel had at the onset
    track: Integers  # numbers from 0; a channel of a track of the file is a track here
    drum: NDArray[np.bool_]
    endless: int  # notes that are still open at the end of their track
    length: int  # ticks to the last end of a note, or to a later controller
    # (metres, 3): tick, numerator and exponent of 2 in the denominator, in the order of the file
    metres: Integers
    tempos: (
        Integers  # (tempos, 2): tick and microseconds per quarter note, in the order of the file
    )
    # (keys, 2): tick and sharps (flats: below 0), by tick; at a tick, that of the first track
    keys: Integers
    names: tuple[str, ...]  # of the tracks; empty where the file has none

    def seconds(self, ticks: Integers) -> NDArray[np.float64]:
        """Convert ticks to seconds from the start, by the tempos of the file (default: 120 per
        minute).
        """
        tempos = np.concatenate(
            [[[0, DEFAULT_TEMPO]], self.tempos[np.argsort(self.tempos[:, 0], kind="stable")]]
        )
        starts, length = tempos[:, 0], tempos[:, 1] / 1e6 / self.resolution
        passed = np.concatenate([[0], np.cumsum(np.diff(starts) * length[:-1])])
        stretch = np.searchsorted(starts, ticks, side="right") - 1
        seconds: NDArray[np.float64] = passed[stretch] + (ticks - starts[stretch]) * length[stretch]
        return seconds


def open_midi(midi: bytes) -> mido.MidiFile:
    """Read the messages of a MIDI file of format 0 or 1 with mido, in time linear in the bytes.

    Raises:
        MidiError: the bytes are no such file; the message says why.
    """
    if _LONG_NUMBER.search(midi):
        raise MidiError("a number of variable length in the MIDI file has more than 4 bytes")
    try:
        file = mido.MidiFile(file=io.BytesIO(midi))
    # mido documents no list of what it raises for damaged bytes.
    except Exception as error:
        raise MidiError(
            f"the {len(midi):,} bytes are no MIDI file: {str(error) or 'it ends within an event'}"
        ) from error
    if file.type > 1:
        raise MidiError(f"the MIDI file has format {file.type}; accepted are 0 and 1")
    if file.ticks_per_beat < 1:
        raise MidiError("the MIDI file does not count ticks a quarter note, as it has to")
    return file


def read_note_arrays(midi: bytes, max_bytes: int = MAX_BYTES) -> NoteArrays:
    """Read the notes of a MIDI file of format 0 or 1, by track, in the order of their ends.

    Raises:
        MidiError: the bytes are no such file or more than `max_bytes`; the message says why.
    """
    if len(midi) > max_bytes:
        raise MidiError(f"the MIDI file has {len(midi):,} bytes; accepted are up to {max_bytes:,}")
    file = open_midi(midi)
    content = _Content()
    for number, track in enumerate(file.tracks):
        content.read_track(track, number)
    return content.arrays(file.ticks_per_beat)


class _Content:
    """Collects the events while the tracks are read."""

    def __init__(self) -> None:
        # Onset, velocity, program, end, pitch, channel with the number of the track.
        self.notes: list[tuple[int, int, int, int, int, int]] = []
        self.metres: list[tuple[int, int, int]] = []
        self.tempos: list[tuple[int, int]] = []
        self.keys: dict[int, int] = {}  # sharps by tick
        self.names: dict[int, str] = {}  # by the number of the track in the file
        self.endless = 0
        self.length = 0

    def read_track(self, track: mido.MidiTrack, number: int) -> None:
        """Read the events of a track, up to its end."""
        opened: dict[tuple[int, int], deque[tuple[int, int, int]]] = defaultdict(deque)
        programs = [0] * 16
        now = 0
        for message in track:
            now += message.time
            if now > _MAX_TICKS:
                raise MidiError(f"an event of the MIDI file is later than tick {_MAX_TICKS:,}")
            match message.type:
                case "note_on" if message.velocity:
                    start = (now, message.velocity, programs[message.channel])
                    opened[message.channel, message.note].append(start)
                case "note_on" | "note_off":
                    if starts := opened[message.channel, message.note]:
                        voice = number << 4 | message.channel
                        self.notes.append((*starts.popleft(), now, message.note, voice))
                case "control_change":
                    self.length = max(self.length, now)
                case "program_change":
                    programs[message.channel] = message.program
                case "end_of_track":
                    break
                case _:
                    self._read_sign(message, now, number)
        for (channel, pitch), starts in opened.items():
            self.endless += len(starts)
            self.notes += [(*start, now, pitch, number << 4 | channel) for start in starts]

    def _read_sign(self, message: Any, now: int, number: int) -> None:
        match message.type:
            case "time_signature":
                self.metres.append((now, message.numerator, message.denominator.bit_length() - 1))
            case "set_tempo":
                self.tempos.append((now, message.tempo))
            case "key_signature":
                self.keys.setdefault(now, KEYS.index(message.key) % 15 - 7)
            case "track_name":
                self.names.setdefault(number, " ".join(message.name.split()))

    def arrays(self, resolution: int) -> NoteArrays:
        columns = map(np.ascontiguousarray, np.array(self.notes, np.int64).reshape(-1, 6).T)
        onset, velocity, program, end, pitch, channel = columns
        places, track = np.unique(channel, return_inverse=True)
        return NoteArrays(
            resolution=resolution,
            onset=onset,
            end=end,
            pitch=pitch,
            velocity=velocity,
            program=program,
            track=track.astype(np.int64),
            drum=channel & 15 == PERCUSSION_CHANNEL,
            endless=self.endless,
            length=max(self.length, int(end.max(initial=0))),
            metres=np.array(self.metres, np.int64).reshape(-1, 3),
            tempos=np.array(self.tempos, np.int64).reshape(-1, 2),
            keys=np.array(sorted(self.keys.items()), np.int64).reshape(-1, 2),
            names=tuple(self.names.get(place >> 4, "") for place in places.tolist()),
        )
