"""MIDI files for tests, as mido writes them."""

import io
from collections.abc import Sequence

import mido


def saved(*tracks: Sequence[mido.Message], resolution: int = 384) -> bytes:
    """Write tracks of messages as a MIDI file of format 1."""
    written = io.BytesIO()
    mido.MidiFile(type=1, ticks_per_beat=resolution, tracks=list(map(mido.MidiTrack, tracks))).save(file=written)
    return written.getvalue()


def midi_file(*tracks: bytes, kind: int = 1, resolution: bytes = b"\0\x60", count: int | None = None) -> bytes:
    """Join tracks, as bytes, to a MIDI file with a header of `count` tracks."""
    chunks = b"".join(b"MTrk" + len(track).to_bytes(4, "big") + track for track in tracks)
    number = len(tracks) if count is None else count
    return b"MThd\0\0\0\6" + bytes([0, kind]) + number.to_bytes(2, "big") + resolution + chunks
