"""Composed piano clips by quadrant of emotion: a stand-in for EMOPIA that needs no download.

The pieces are short and composed by rule, after findings on which Russell's circumplex model and the studies on music
and emotion agree. Arousal is in tempo, density, loudness and register; valence is in mode and consonance. The LilyPond
texts have no loudness, because midi2ly drops it.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.emopia import Clip
from music_evals.datasets_builders.lilybench.rows import PER_QUADRANT
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance


class _Arousal(NamedTuple):
    """Ranges that differ between high and low arousal, and overlap."""

    tempo: tuple[int, int]  # quarter notes per minute
    notes_per_beat: Mapping[int, float]  # number of melody notes in a beat → weight
    velocity: tuple[int, int]
    melody: tuple[int, int]  # lowest MIDI pitch of the melody, which spans an octave and a fifth
    patterns: Sequence[str]  # of the left hand


_HIGH: Final = _Arousal(
    tempo=(92, 168),
    notes_per_beat={1: 0.45, 2: 0.4, 4: 0.15},
    velocity=(72, 108),
    melody=(62, 70),
    patterns=("eighths", "oom-pah", "broken", "broken"),
)
_LOW: Final = _Arousal(
    tempo=(54, 108),
    notes_per_beat={0: 0.2, 1: 0.45, 2: 0.35},
    velocity=(40, 78),
    melody=(59, 66),
    patterns=("held", "halves", "halves", "broken"),
)

_SCALES: Final = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
# Degrees of the scale, from 0. A line is four measures, and is played twice; the second time it ends on the tonic.
_PROGRESSIONS: Final = {
    "major": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 4, 5, 3), (0, 1, 4, 0)),
    "minor": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 1, 4, 0), (0, 3, 1, 4)),
}
_CLASHES: Final = {"major": 0.05, "minor": 0.35}  # share of left-hand chords with a semitone against their root
_LOWEST_BASS: Final = 36


def compose_clips(seed: int, per_quadrant: int = PER_QUADRANT) -> list[Clip]:
    """Compose short piano pieces with the arousal and valence of each quadrant, each a song of its own.

    Tempo, density, register and loudness overlap between high and low arousal, so that no single one decides. The mode
    is major for positive valence; for negative valence it is minor, with more semitone clashes.

    Source: J. A. Russell, "A circumplex model of affect", Journal of Personality and Social Psychology 39 (1980).
    """
    return [
        Clip(
            f"Q{quadrant}_composed-{number:03d}_0",
            quadrant,
            write_midi(_compose(quadrant, random.Random(f"emopia.{seed}.{quadrant}.{number}"))),
        )
        for quadrant in (1, 2, 3, 4)
        for number in range(per_quadrant)
    ]


def _compose(quadrant: int, rng: random.Random) -> Performance:
    arousal = _HIGH if quadrant in (1, 2) else _LOW
    mode = "major" if quadrant in (1, 4) else "minor"
    tonic = rng.randrange(12)
    beats = rng.choice((3, 4))
    lowest = rng.randint(*arousal.melody)
    loudness = rng.randint(*arousal.velocity)
    pattern = rng.choice(arousal.patterns)
    degrees = rng.choice(_PROGRESSIONS[mode])
    # Every piece has its own mix of rhythms.
    weights = {count: share * rng.uniform(0.25, 1.75) for count, share in arousal.notes_per_beat.items()}
    pitch = lowest + 9
    notes: list[Note] = []
    for measure, degree in enumerate((*degrees, *degrees[:-1], 0)):
        start = measure * beats * TICKS_PER_BEAT
        # The dominant of a minor key has the leading note.
        scale = [*_SCALES[mode][:6], 11] if degree == 4 else _SCALES[mode]
        chord = [(tonic + scale[(degree + third) % 7]) % 12 for third in (0, 2, 4)]
        has_clash = rng.random() < _CLASHES[mode]
        notes += _left_hand(pattern, chord, has_clash, start, beats, loudness)
        scale_classes = sorted((tonic + step) % 12 for step in scale)
        beat = 0
        while beat < beats:
            count = rng.choices(list(weights), list(weights.values()))[0]
            count, length = (1, 2) if count == 0 and beat + 2 <= beats else (max(count, 1), 1)
            duration = length * TICKS_PER_BEAT // count
            for number in range(count):
                classes = chord if number == 0 else scale_classes
                steps = [(abs(one - pitch), one) for one in range(lowest, lowest + 20) if one % 12 in classes]
                pitch = rng.choice(sorted(step for step in steps if step[0])[:3])[1]
                onset = start + beat * TICKS_PER_BEAT + number * duration
                notes.append(Note(onset, pitch, duration, min(127, loudness + rng.randint(0, 12))))
            beat += length
    return Performance(tuple(notes), tempo=rng.randint(*arousal.tempo), meter=(beats, 4), key=None)


def _left_hand(
    pattern: str, chord: Sequence[int], has_clash: bool, start: int, beats: int, loudness: int
) -> list[Note]:
    root = _LOWEST_BASS + (chord[0] - _LOWEST_BASS) % 12
    upper = [root + (pitch_class - root) % 12 for pitch_class in chord[1:]]
    if has_clash:
        upper[0] = root + 1
    measure, half = beats * TICKS_PER_BEAT, TICKS_PER_BEAT // 2
    match pattern:
        case "held":
            events = [(pitch, 0, measure) for pitch in (root, *upper)]
        case "halves":
            events = [(root, 0, measure)]
            events += [(pitch, TICKS_PER_BEAT, measure - TICKS_PER_BEAT) for pitch in upper]
        case "oom-pah":
            events = [(root, 0, TICKS_PER_BEAT)]
            events += [(pitch, beat * TICKS_PER_BEAT, TICKS_PER_BEAT) for beat in range(1, beats) for pitch in upper]
        case "eighths":
            events = [(root, onset, half) for onset in range(0, measure, TICKS_PER_BEAT)]
            events += [(pitch, onset + half, half) for onset in range(0, measure, TICKS_PER_BEAT) for pitch in upper]
        case _:
            turn = (root, upper[1], upper[0], upper[1])
            events = [(turn[number % 4], number * half, half) for number in range(2 * beats)]
    return [Note(start + onset, pitch, duration, max(1, loudness - 15)) for pitch, onset, duration in events]
