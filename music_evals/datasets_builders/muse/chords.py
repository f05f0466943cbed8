"""Piano chords for the chord-quality task: a block chord, then the same chord as an upward
arpeggio.

Nothing is random: root, quality, variant and level determine a chord, and all chords differ.
"""

from random import Random
from typing import Literal, NamedTuple, get_args

from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

Quality = Literal["major", "minor", "dominant", "diminished"]

ROOTS = ("Ab", "A", "Bb", "B", "C", "Db", "D", "Eb", "E", "F", "Gb", "G")
"""The twelve roots, in the order in which the MUSE recordings are numbered."""

QUALITIES: tuple[Quality, ...] = get_args(Quality)
"""The four qualities, in the order of the answer options A to D."""

INTERVALS: dict[Quality, tuple[int, ...]] = {
    "major": (0, 4, 7),
    "minor": (0, 3, 7),
    "dominant": (0, 4, 7, 10),
    "diminished": (0, 3, 6),
}
"""Chord tones of each quality, in semitones above the root."""

_TEMPO = 120
_TICKS_PER_SECOND = TICKS_PER_BEAT * _TEMPO // 60
_ARPEGGIO_ONSET = 5 * _TICKS_PER_SECOND // 2
_ARPEGGIO_STEP = _TICKS_PER_SECOND // 2
_ARPEGGIO_NOTES = 6
_LENGTH = 86 * _TICKS_PER_SECOND // 10

# MIDI pitch of the lowest C of a register; roots lie in the octave above it.
_REGISTERS = (48, 36, 60)
_VOICINGS = ("close", "root doubled above", "open")
# Velocities of the block chord and of the first note of the arpeggio, and the change of velocity
# from note to note.
_DYNAMICS = ((80, 76, 1), (64, 60, 2), (96, 92, -1), (72, 84, -2))

N_REGISTERS = len(_REGISTERS)
N_VARIANTS = N_REGISTERS * len(_VOICINGS) * len(_DYNAMICS)
"""Number of variants of a root and quality."""


class Chord(NamedTuple):
    """A chord stimulus; `pitches` are the MIDI pitches of the block chord from the lowest, which at
    level 1 is the root.
    """

    root: str
    quality: Quality
    pitches: tuple[int, ...]
    performance: Performance


def compose_chord(root: str, quality: Quality, variant: int = 0, level: int = 1) -> Chord:
    """Compose a chord stimulus: a block chord at 0 s, then from 2.5 s six notes upward that ring
    until 8.6 s.

    Args:
        root: one of `ROOTS`.
        quality: one of `QUALITIES`.
        variant: 0 to `N_VARIANTS` - 1. Variants differ in register, voicing of the block chord and
            dynamics. Variant 0 is plain: close position between C3 and Bb4, medium loudness. All
            variants are in root position.
        level: 1, or 2 to 5 for 5 to 14 notes in up to six octaves and any inversion, the single
            notes in any order.

    Source: MUSE (arXiv 2510.22455), chord-quality task; the times were measured on its recordings.
    """
    # Consecutive variants change register first, then voicing, then dynamics.
    rest, register = divmod(variant, len(_REGISTERS))
    dynamics, voicing = divmod(rest, len(_VOICINGS))

    # ROOTS starts at Ab, 8 semitones above C.
    lowest = _REGISTERS[register] + (ROOTS.index(root) + 8) % 12
    tones = INTERVALS[quality]
    block = [lowest + tone for tone in tones]
    if _VOICINGS[voicing] == "root doubled above":
        block.append(lowest + 12)
    elif _VOICINGS[voicing] == "open":
        # The third is an octave higher, as pianists spread a chord.
        block = sorted([lowest, lowest + tones[1] + 12, *block[2:]])
    arpeggio = [
        lowest + 12 * (i // len(tones)) + tones[i % len(tones)] for i in range(_ARPEGGIO_NOTES)
    ]
    if level > 1:
        rng = Random(f"{root}/{quality}/{variant}/{level}")
        reach = 9 * level - 6
        pool = [pitch for pitch in range(60 - reach, 60 + reach) if (pitch - lowest) % 12 in tones]
        arpeggio = []
        while len({pitch % 12 for pitch in arpeggio}) < len(tones):
            arpeggio = rng.sample(pool, 3 * level - 1)
        block = sorted(arpeggio)

    block_velocity, velocity, growth = _DYNAMICS[dynamics]
    # The block chord ends where the arpeggio begins: in MIDI a pitch sounds only once at a time.
    notes = [Note(0, pitch, _ARPEGGIO_ONSET, block_velocity) for pitch in block]
    for i, pitch in enumerate(arpeggio):
        onset = _ARPEGGIO_ONSET + i * _ARPEGGIO_STEP * _ARPEGGIO_NOTES // len(arpeggio)
        notes.append(Note(onset, pitch, _LENGTH - onset, velocity + i * growth))
    performance = Performance(tuple(notes), _TEMPO, (4, 4), None, length=_LENGTH)
    return Chord(root, quality, tuple(block), performance)
