"""What the outside of generated stimuli tells: floors that need no music, by number of notes and length of the text."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from music_evals.datasets_builders.muse import chords, drum_loops
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Performance

_LOOPS_PER_LEVEL: Final = 30
_NEAREST: Final = 9  # stimuli that vote, and all that are as near as the last of them
MEASURES: Final[dict[str, Callable[[Performance], int]]] = {
    "count": lambda performance: len(performance.notes),
    "length": lambda performance: len(midi_to_text(write_midi(performance))),
}
"""Floor → what it is guessed from: the number of notes, and the characters of the MIDI text."""


def surface_floors(seed: int, n_variants: int) -> dict[str, dict[str, float]]:
    """Return the share of answers to `syncopation` and `chord_quality` that each of `MEASURES` tells, from 0 to 1.

    A stimulus is guessed by those that measure alike, of 150 loops from the seed and of the chords on other roots. A
    share within three standard errors of chance is chance. Transposed melodies are as long as others, and not tried.

    Args:
        seed: of the dataset.
        n_variants: how many variants of each chord the dataset has.

    Example:
        >>> surface_floors(1, 1)["chord_quality"]  # a dominant seventh has four notes, the other chords have three
        {'count': 0.5, 'length': 0.5}
    """
    loops = [
        (
            f"{level}/{number}",
            level,
            drum_loops.compose_drum_loop(level, random.Random(f"{seed}/{level}/{number}/floor")),
        )
        for level in drum_loops.OFFBEATS
        for number in range(_LOOPS_PER_LEVEL)
    ]
    made: dict[str, list[tuple[str, str, Performance]]] = {
        "syncopation": [(group, str(level), loop.performance) for group, level, loop in loops],
        "chord_quality": [
            (root, quality, chords.compose_chord(root, quality, variant).performance)
            for root in chords.ROOTS
            for quality in chords.QUALITIES
            for variant in range(n_variants)
        ],
    }
    return {
        task: {
            name: _share([(group, answer, measure(one)) for group, answer, one in stimuli])
            for name, measure in MEASURES.items()
        }
        for task, stimuli in made.items()
    }


def _share(stimuli: Sequence[tuple[str, str, int]]) -> float:
    """The share that is guessed right, from (group, answer, size)."""
    chance = 1 / len({answer for _, answer, _ in stimuli})
    right = 0.0
    for group, answer, size in stimuli:
        others = sorted((abs(other - size), known) for name, known, other in stimuli if name != group)
        votes = Counter(known for distance, known in others if distance <= others[_NEAREST - 1][0])
        best = [known for known, n_votes in votes.items() if n_votes == max(votes.values())]
        right += (answer in best) / len(best)
    share = right / len(stimuli)
    error = (chance * (1 - chance) / len(stimuli)) ** 0.5
    return round(share if share > chance + 3 * error else chance, 4)
