"""Clips composed by a simple rule, so that `emotion_recognition` runs without a download.

A score on them says how well a model reads this rule, and nothing of emotion in music. Arousal is
in tempo, density, loudness and register, whose ranges overlap so that none of them decides alone.
Valence is in the mode.

Source: J. A. Russell, "A circumplex model of affect", Journal of Personality and Social Psychology
39 (1980).
"""

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.emopia import Clip
from music_evals.datasets_builders.lilybench.rows import PER_QUADRANT
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance


class _Arousal(NamedTuple):
    tempo: range  # quarter notes per minute
    counts: tuple[int, ...]  # how many notes of the melody a beat may have
    velocity: range
    lowest: range  # MIDI pitch of the melody's lowest note
    # whether chords of the left hand are held for a measure, or struck on every beat
    is_sustained: tuple[bool, ...]


_HIGH = _Arousal(
    range(92, 169), (1, 1, 2, 2, 4), range(72, 109), range(62, 71), (True, False, False)
)
_LOW = _Arousal(range(54, 109), (1, 1, 1, 2), range(40, 79), range(59, 67), (True, True, False))
_SCALES = read_table("names/scales.toml")["scales"]
# Degrees of the scale, a measure each.
_PROGRESSIONS = ((0, 3, 4, 0), (0, 5, 3, 0), (0, 3, 0, 0))
_BASS = 36


def compose_clips(seed: int, per_quadrant: int = PER_QUADRANT) -> list[Clip]:
    """Compose short piano pieces with the arousal and valence of each quadrant, each a song of its
    own.
    """
    clips = []
    for quadrant, number in product((1, 2, 3, 4), range(per_quadrant)):
        rng = Random(f"emopia.{seed}.{quadrant}.{number}")
        name = f"Q{quadrant}_composed-{number:03d}_0"
        clips.append(Clip(name, quadrant, write_midi(_compose(quadrant, rng))))
    return clips


def _compose(quadrant: int, rng: Random) -> Performance:
    arousal = _HIGH if quadrant in (1, 2) else _LOW
    scale = _SCALES["major" if quadrant in (1, 4) else "minor"]
    tonic = rng.randrange(12)
    lowest = rng.choice(arousal.lowest)
    loudness = rng.choice(arousal.velocity)
    beats = rng.choice((3, 4))
    bar = beats * TICKS_PER_BEAT
    length = bar if rng.choice(arousal.is_sustained) else TICKS_PER_BEAT
    pitch = lowest + 9
    notes = []
    for measure, degree in enumerate(rng.choice(_PROGRESSIONS) * 2):
        start = measure * bar
        chord = [(tonic + scale[(degree + third) % 7]) % 12 for third in (0, 2, 4)]
        for onset, tone in product(range(start, start + bar, length), chord):
            notes.append(Note(onset, _BASS + tone, length, loudness - 15))
        for beat in range(start, start + bar, TICKS_PER_BEAT):
            step = TICKS_PER_BEAT // rng.choice(arousal.counts)
            for onset in range(beat, beat + TICKS_PER_BEAT, step):
                # Beats begin with a tone of the chord.
                tones = chord if onset == beat else [(tonic + interval) % 12 for interval in scale]
                pitch = _next_pitch(pitch, lowest, tones, rng)
                notes.append(Note(onset, pitch, step, loudness + rng.randint(0, 12)))
    return Performance(tuple(notes), tempo=rng.choice(arousal.tempo), meter=(beats, 4), key=None)


def _next_pitch(pitch: int, lowest: int, tones: Sequence[int], rng: Random) -> int:
    """One of the three nearest other pitches of these classes."""
    near = [other for other in range(lowest, lowest + 20) if other % 12 in tones]
    near.sort(key=lambda other: (abs(other - pitch), other))
    return rng.choice([other for other in near if other != pitch][:3])
