"""Rows of the ten tasks: balanced, different, reproducible, and with answers that only the music
gives away.
"""

from collections import Counter

import pytest

from music_evals.datasets_builders.muse_ten.dataset import FORMS, build, compose
from music_evals.datasets_builders.muse_ten.recordings import share_guessed

pytestmark = pytest.mark.usefixtures("no_audits")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["oddball", "contour", "meter", "progression", "instrument"])
def test_duration_gives_no_answer_away(name):
    """Tenths of a second of a clip or, for pairs, between the clips, as the other sizes are
    tried.
    """
    stimuli = []
    for number, (target, stimulus) in enumerate(
        compose(5, name, "floor", 40 * len(FORMS[name].options))
    ):
        first, *second = (
            round(600 * max(note.onset + note.duration for note in clip.notes) / 480 / clip.tempo)
            for clip, _ in stimulus.clips
        )
        stimuli.append((str(number), target, first - sum(second)))
    assert share_guessed(stimuli) == pytest.approx(
        1 / len(FORMS[name].options), abs=0.01 if name != "instrument" else 0.15
    )


def test_a_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    seeds = {"a": 3, "b": 3, "c": 4}
    first, again, other = (
        build(tmp_path / name, seed=seed, per_task=2).files for name, seed in seeds.items()
    )
    assert first == again
    assert all(first[path] != other[path] for path in first if path.endswith(".parquet"))


def test_drum_patterns_have_equally_many_strokes():
    variants = Counter()
    for target, stimulus in compose(5, "rhythm_matching", "test", 60):
        first, second = (
            {(note.onset // 240, note.pitch) for note in performance.notes}
            for performance, _ in stimulus.clips
        )
        assert len(first) == len(second)
        assert (first == second) == target.startswith("Yes")
        variants[stimulus.variant] += 1
    assert variants == {"same": 30, "other pattern": 10, "moved stroke": 10, "swapped drum": 10}
