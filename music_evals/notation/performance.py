"""A performance: notes with a tempo, a metre and an instrument, before any file format.

Conventions: times are integer ticks, `TICKS_PER_BEAT` to the quarter note; pitches are MIDI integers
(60 = middle C); velocities run from 1 to 127; the tempo is in quarter notes a minute.
"""

from dataclasses import dataclass

TICKS_PER_BEAT = 480  # resolution of every file that this package writes, in ticks a quarter note


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One sounding note."""

    onset: int
    pitch: int  # on the percussion channel it names the drum: 36 kick, 38 snare, 42 hi-hat
    duration: int  # at least 1
    velocity: int


@dataclass(frozen=True, slots=True)
class Performance:
    """Notes of one instrument, in any order, with what is needed to write them to a MIDI file."""

    notes: tuple[Note, ...]
    tempo: float
    meter: tuple[int, int]
    key: str | None  # as `mido` spells it ("Eb", "F#m"); None where there is none (drums)
    program: int = 0  # of General MIDI; ignored on the percussion channel
    percussion: bool = False
    length: int | None = None  # including closing rests; None ends with the last note
