"""The notes of a MIDI file as arrays, read from bytes that nobody trusts.

LilyPond text can hold a program, and a program can write anything into a file that is called MIDI. This reader is in
Python alone, so that no such file can make it read foreign memory, takes time linear in the bytes, and understands
what LilyPond writes: notes, controllers, metre, and the other events as far as to step over them.

A note is what MusPy takes for one (Dong et al., ISMIR 2020; ``muspy.read_midi``): an end closes the oldest open note of
its channel and pitch, a note that is still open at its track's end closes there, and an end without a start is passed
over. Percussion is the tenth channel.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_BYTES: Final = 1_000_000  # largest file that is read; the longest pieces of the Mutopia Project make some 70,000

_DRUMS: Final = 9
_DATA_BYTES: Final = {0x80: 2, 0x90: 2, 0xA0: 2, 0xB0: 2, 0xC0: 1, 0xD0: 1, 0xE0: 2}  # of channel messages
_META: Final = 0xFF
_EXCLUSIVE: Final = (0xF0, 0xF7)
_TIME_SIGNATURE: Final = 0x58
_END: Final = 0x2F

Integers = NDArray[np.int64]


class MidiError(ValueError):
    """Bytes that are no MIDI file, or one that is not read."""


@dataclass(frozen=True, slots=True, eq=False)
class NoteArrays:
    """The notes of a MIDI file; all arrays but `metres` have the shape (notes,)."""

    resolution: int  # ticks a quarter note, 1 to 32,767
    onset: Integers  # ticks
    end: Integers  # ticks
    pitch: Integers  # MIDI
    track: Integers  # numbers from 0; a channel of a track of the file is a track here
    drum: NDArray[np.bool_]
    length: int  # ticks to the last end of a note, or to a controller that is later
    metres: Integers  # (metres, 3): tick, numerator and exponent of 2 in the denominator, as they come in the file


def read_note_arrays(midi: bytes) -> NoteArrays:
    """Read the notes of a MIDI file of format 0 or 1 and at most `MAX_BYTES`: by track, in the order of their ends.

    MidiError if the bytes are no such file; it says where that shows.
    """
    if len(midi) > MAX_BYTES:
        raise MidiError(f"the MIDI file has {len(midi):,} bytes; accepted are up to {MAX_BYTES:,}")
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
    """What is found while the tracks are read."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, int, int, int]] = []  # onset, end, pitch, channel with the track's number
        self.metres: list[tuple[int, int, int]] = []
        self.length = 0

    def read_track(self, data: bytes, number: int) -> None:
        """Read the events of a track; IndexError if it ends within one, MidiError for what is none."""
        opened: dict[int, deque[int]] = {}
        place = now = status = 0
        size = len(data)
        while place < size:
            delta, place = _number(data, place)
            now += delta
            if data[place] >= 0x80:
                first = data[place]
                place += 1
            else:
                first = status  # as before: running status
            if first in (_META, *_EXCLUSIVE):
                what = data[place] if first == _META else None
                length, place = _number(data, place + (first == _META))
                if place + length > size:
                    raise IndexError
                if what == _END:
                    break
                if what == _TIME_SIGNATURE and length >= 2:
                    self.metres.append((now, data[place], data[place + 1]))
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
                opened.setdefault(channel << 7 | key, deque()).append(now)
            elif message in (0x80, 0x90):
                if starts := opened.get(channel << 7 | key):
                    self.notes.append((starts.popleft(), now, key, number << 4 | channel))
            elif message == 0xB0:
                self.length = max(self.length, now)
        for which, starts in opened.items():
            self.notes.extend((start, now, which & 127, number << 4 | which >> 7) for start in starts)

    def arrays(self, resolution: int) -> NoteArrays:
        notes = np.array(self.notes, np.int64).reshape(-1, 4)
        onset, end, pitch, place = (np.ascontiguousarray(column) for column in notes.T)
        _, track = np.unique(place, return_inverse=True)
        length = max(self.length, int(end.max(initial=0)))
        metres = np.array(self.metres, np.int64).reshape(-1, 3)
        return NoteArrays(resolution, onset, end, pitch, track.astype(np.int64), place & 15 == _DRUMS, length, metres)


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Read a number of variable length; return it and the place after it."""
    value = 0
    for _ in range(4):  # as many bytes as the standard allows
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    raise MidiError(f"a number of variable length has more than 4 bytes, before byte {place} of its track")
