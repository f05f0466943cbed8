"""A performance: notes with a tempo, a metre and an instrument, independent of any file format.

Times are integer ticks, `TICKS_PER_BEAT` to the quarter note. Pitches are MIDI integers (60 =
middle C). Velocities run from 1 to 127. The tempo is in quarter notes per minute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

TICKS_PER_BEAT = 480  # resolution of every file that this package writes, in ticks per quarter note


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """A sounding note."""

    onset: int
    pitch: int  # for percussion it names the drum: 36 kick, 38 snare, 42 hi-hat
    duration: int  # at least 1
    velocity: int


@dataclass(frozen=True, slots=True)
class Performance:
    """Notes of one instrument, in any order, with all that a MIDI file of them needs."""

    notes: tuple[Note, ...]
    tempo: float
    meter: tuple[int, int]
    key: str | None  # as `mido` spells it ("Eb", "F#m"); None for drums
    program: int = 0  # General MIDI; ignored for percussion
    percussion: bool = False
    length: int | None = None  # including rests at the end; None ends with the last note

    def played_late(self, lateness: Sequence[int], rng: Random) -> "Performance":
        """Return the same performance with each note some ticks of `lateness` late."""
        notes = [replace(note, onset=note.onset + rng.choice(lateness)) for note in self.notes]
        return replace(self, notes=tuple(notes))
