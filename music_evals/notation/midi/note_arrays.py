"""The notes of a MIDI file as arrays; safe on untrusted bytes.

LilyPond text can hold a program, and a program can write anything into a file that is called MIDI. This reader is pure
Python: no file can make it read foreign memory. It takes time linear in the bytes. It understands notes, controllers,
programs, tempo and metre, and steps over all other events.

Notes are paired as MusPy pairs them (Dong et al., ISMIR 2020; ``muspy.read_midi``): an end closes the oldest open note
of its channel and pitch. A note that is still open at the end of its track closes there. An end without a start is
ignored. Percussion is channel 9, counted from 0.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_BYTES: Final = 1_000_000
"""Largest file that is read by default; the longest pieces of the Mutopia Project have some 70,000 bytes."""

PERCUSSION_CHANNEL: Final = 9
DEFAULT_TEMPO: Final = 500_000  # microseconds per quarter note where a file names no tempo (MIDI standard)

_DATA_BYTES: Final = {0x80: 2, 0x90: 2, 0xA0: 2, 0xB0: 2, 0xC0: 1, 0xD0: 1, 0xE0: 2}  # of channel messages
_META: Final = 0xFF
_EXCLUSIVE: Final = (0xF0, 0xF7)
_TEMPO: Final = 0x51
_TIME_SIGNATURE: Final = 0x58
_END: Final = 0x2F

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
    length: int  # ticks to the last end of a note, or to a later controller
    metres: Integers  # (metres, 3): tick, numerator and exponent of 2 in the denominator, in the order of the file
    tempos: Integers  # (tempos, 2): tick and microseconds per quarter note, in the order of the file

    def seconds(self, ticks: Integers) -> NDArray[np.float64]:
        """Convert ticks to seconds from the start, by the tempos of the file (default: 120 per minute)."""
        tempos = np.concatenate([[[0, DEFAULT_TEMPO]], self.tempos[np.argsort(self.tempos[:, 0], kind="stable")]])
        starts, length = tempos[:, 0], tempos[:, 1] / 1e6 / self.resolution
        passed = np.concatenate([[0], np.cumsum(np.diff(starts) * length[:-1])])
        stretch = np.searchsorted(starts, ticks, side="right") - 1
        seconds: NDArray[np.float64] = passed[stretch] + (ticks - starts[stretch]) * length[stretch]
        return seconds


def read_note_arrays(midi: bytes, max_bytes: int = MAX_BYTES) -> NoteArrays:
    """Read the notes of a MIDI file of format 0 or 1, by track, in the order of their ends.

    Raises:
        MidiError: the bytes are no such file or more than `max_bytes`; the message says where that shows.
    """
    if len(midi) > max_bytes:
        raise MidiError(f"the MIDI file has {len(midi):,} bytes; accepted are up to {max_bytes:,}")
    header = int.from_bytes(midi[4:8], "big")
    if midi[:4] != b"MThd" or header < 6 or len(midi) < 8 + header:
        raise MidiError(f"the {len(midi):,} bytes do not start with the header of a MIDI file")
    kind, count, resolution = (int.from_bytes(midi[start : start + 2], "big") for start in (8, 10, 12))
    if kind > 1:
        raise MidiError(f"the MIDI file has format {kind}; accepted are 0 and 1")
    if not 0 < resolution < 0x8000:
        raise MidiError("the MIDI file does not count ticks a quarter note, which is the one time base accepted")
    content = _Content()
    start = 8 + header
    for number in range(count):
        size = int.from_bytes(midi[start + 4 : start + 8], "big")
        if midi[start : start + 4] != b"MTrk" or start + 8 + size > len(midi):
            raise MidiError(f"track {number + 1} of the MIDI file's {count} is missing or truncated")
        try:
            content.read_track(midi[start + 8 : start + 8 + size], number)
        except IndexError as error:
            raise MidiError(f"track {number + 1} of the MIDI file ends within an event") from error
        start += 8 + size
    return content.arrays(resolution)


class _Content:
    """Collects the events while the tracks are read."""

    def __init__(self) -> None:
        # Onset, velocity, program, end, pitch, channel with the number of the track.
        self.notes: list[tuple[int, int, int, int, int, int]] = []
        self.metres: list[tuple[int, int, int]] = []
        self.tempos: list[tuple[int, int]] = []
        self.length = 0

    def read_track(self, data: bytes, number: int) -> None:
        """Read the events of a track; IndexError if it ends within one, MidiError for a byte that begins none."""
        opened: dict[int, deque[tuple[int, int, int]]] = {}  # channel and pitch → onset, velocity, program
        programs = [0] * 16
        place = now = status = 0
        size = len(data)
        while place < size:
            delta, place = _number(data, place)
            now += delta
            if data[place] >= 0x80:
                first = data[place]
                place += 1
            else:
                first = status  # running status: the same as before
            if first in (_META, *_EXCLUSIVE):
                kind = data[place] if first == _META else None
                length, place = _number(data, place + (first == _META))
                if place + length > size:
                    raise IndexError
                if kind == _END:
                    break
                if kind == _TIME_SIGNATURE and length >= 2:
                    self.metres.append((now, data[place], data[place + 1]))
                elif kind == _TEMPO and length == 3:
                    self.tempos.append((now, int.from_bytes(data[place : place + 3], "big")))
                place += length
                continue
            message, channel = first & 0xF0, first & 0x0F
            if message not in _DATA_BYTES:
                raise MidiError(f"byte 0x{first:02X} begins no event of a MIDI file")
            status = first
            key, value = data[place], data[place + _DATA_BYTES[message] - 1]
            place += _DATA_BYTES[message]
            if key >= 0x80 or value >= 0x80:
                raise MidiError(f"the bytes {key} and {value} after status 0x{first:02X} are not all below 128")
            if message == 0x90 and value:
                opened.setdefault(channel << 7 | key, deque()).append((now, value, programs[channel]))
            elif message in (0x80, 0x90):
                if starts := opened.get(channel << 7 | key):
                    self.notes.append((*starts.popleft(), now, key, number << 4 | channel))
            elif message == 0xB0:
                self.length = max(self.length, now)
            elif message == 0xC0:
                programs[channel] = key
        for voice, starts in opened.items():
            self.notes.extend((*start, now, voice & 127, number << 4 | voice >> 7) for start in starts)

    def arrays(self, resolution: int) -> NoteArrays:
        columns = map(np.ascontiguousarray, np.array(self.notes, np.int64).reshape(-1, 6).T)
        onset, velocity, program, end, pitch, channel = columns
        _, track = np.unique(channel, return_inverse=True)
        return NoteArrays(
            resolution=resolution,
            onset=onset,
            end=end,
            pitch=pitch,
            velocity=velocity,
            program=program,
            track=track.astype(np.int64),
            drum=channel & 15 == PERCUSSION_CHANNEL,
            length=max(self.length, int(end.max(initial=0))),
            metres=np.array(self.metres, np.int64).reshape(-1, 3),
            tempos=np.array(self.tempos, np.int64).reshape(-1, 2),
        )


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Read a number of variable length; return it and the place after it."""
    value = 0
    for _ in range(4):  # the most bytes that the standard allows
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    raise MidiError(f"a number of variable length has more than 4 bytes, before byte {place} of its track")
