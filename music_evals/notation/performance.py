"""A performance: notes with a tempo, a metre and an instrument, before any file format.

Conventions: times are integer ticks, `TICKS_PER_BEAT` to the quarter note; pitches are MIDI integers
(60 = middle C); velocities run from 1 to 127; the tempo is in quarter notes a minute.
"""

from dataclasses import dataclass

TICKS_PER_BEAT = 480
"""Resolution of every file that this package writes, in ticks a quarter note."""


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One sounding note.

    Args:
        onset: start in ticks from the beginning.
        pitch: MIDI integer, 0 to 127. On the percussion channel it names the drum (36 kick, 38 snare, 42 hi-hat).
        duration: length in ticks, at least 1.
        velocity: 1 to 127.
    """

    onset: int
    pitch: int
    duration: int
    velocity: int


@dataclass(frozen=True, slots=True)
class Performance:
    """Notes of one instrument with what is needed to write them to a MIDI file.

    Args:
        notes: the notes, in any order.
        tempo: quarter notes a minute.
        meter: time signature, e.g. ``(4, 4)``.
        key: key as `mido` spells it (``"Eb"``, ``"F#m"``), or None where there is none (drums).
        program: General MIDI program, 0 to 127; ignored on the percussion channel.
        percussion: whether the notes go to the percussion channel.
        length: length in ticks including closing rests, or None to end with the last note.
    """

    notes: tuple[Note, ...]
    tempo: float
    meter: tuple[int, int]
    key: str | None
    program: int = 0
    percussion: bool = False
    length: int | None = None
