"""MIDI files for tests, as mido writes them."""

import io
from collections.abc import Sequence

import mido


def saved(*tracks: Sequence[mido.Message], resolution: int = 384) -> bytes:
    """Write tracks of messages as a MIDI file of format 1."""
    written = io.BytesIO()
    mido.MidiFile(type=1, ticks_per_beat=resolution, tracks=list(map(mido.MidiTrack, tracks))).save(file=written)
    return written.getvalue()
