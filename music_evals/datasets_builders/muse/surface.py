"""Floors that look at the size of a generated stimulus alone: its number of notes, and the length of its MIDI text."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Final

from music_evals.datasets_builders.muse import chords, drum_loops
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Performance

_LOOPS_PER_LEVEL: Final = 30
_NEAREST: Final = 9  # stimuli that vote; stimuli at the same distance as the last of them vote too
_Stimulus = tuple[str, str, Performance]  # group, answer, performance; a group never votes on itself
MEASURES: Final[dict[str, Callable[[Performance], int]]] = {
    "count": lambda performance: len(performance.notes),
    "length": lambda performance: len(midi_to_text(write_midi(performance))),
}
"""Floor → the size that the guess uses: the number of notes, or of characters of the MIDI text."""


@cache
def surface_floors(seed: int, n_variants: int) -> dict[str, dict[str, float]]:
    """Return the share of answers to `syncopation` and `chord_quality` that each of `MEASURES` gives away, 0 to 1.

    Stimuli of about the same size vote on the answer: 150 loops from the seed, or the chords on other roots. A share
    within three standard errors of chance counts as chance. Transposed melodies are not tried: they are as long as
    other melodies.

    Args:
        seed: of the dataset.
        n_variants: how many variants of each chord the dataset has.

    Example:
        >>> surface_floors(1, 1)["chord_quality"]  # a dominant seventh has four notes, the other chords have three
        {'count': 0.5, 'length': 0.5}
    """
    stimuli: dict[str, list[_Stimulus]] = {"syncopation": [], "chord_quality": []}
    for level, number in product(drum_loops.OFFBEATS, range(_LOOPS_PER_LEVEL)):
        name = f"{level}/{number}"
        loop = drum_loops.compose_drum_loop(level, random.Random(f"{seed}/{name}/floor"))
        stimuli["syncopation"].append((name, str(level), loop.performance))
    for root, quality, variant in product(chords.ROOTS, chords.QUALITIES, range(n_variants)):
        stimuli["chord_quality"].append((root, quality, chords.compose_chord(root, quality, variant).performance))
    return {
        task: {
            name: share_guessed([(group, answer, measure(performance)) for group, answer, performance in own])
            for name, measure in MEASURES.items()
        }
        for task, own in stimuli.items()
    }


def share_guessed(stimuli: Sequence[tuple[str, str, int]]) -> float:
    """Return the share of stimuli (group, answer, size) whose answer others of about the same size give away, 0 to 1.

    There are at least two groups. A share within three standard errors of chance counts as chance.
    """
    chance = 1 / len({answer for _, answer, _ in stimuli})
    right = 0.0
    for group, answer, size in stimuli:
        others = sorted((abs(other - size), known) for name, known, other in stimuli if name != group)
        farthest = others[:_NEAREST][-1][0]
        votes = Counter(known for distance, known in others if distance <= farthest)
        best = [known for known, n_votes in votes.items() if n_votes == max(votes.values())]
        right += (answer in best) / len(best)
    share = right / len(stimuli)
    error = (chance * (1 - chance) / len(stimuli)) ** 0.5
    return round(share if share > chance + 3 * error else chance, 4)
