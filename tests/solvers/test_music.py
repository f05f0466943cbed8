"""The deterministic solvers, against worked examples of the paper and against theory."""

import pytest
from hypothesis import strategies as st

from music_evals.datasets_builders.muse_ten.stimuli import FORMS
from music_evals.solvers.symbolic import muse_ten
from music_evals.solvers.symbolic.music import (
    SAME,
    classify_chord,
    compare_intervals,
    count_off_beats,
)

pitches = st.lists(st.integers(20, 100), min_size=2, max_size=30)


def test_every_level_has_its_letter():
    for count in (*range(10), 16):
        decision = count_off_beats([[1, 9, *range(2, 2 + 2 * count, 2)]])
        assert decision.answer == {0: "A", 2: "B", 4: "C", 6: "D", 8: "E"}.get(count)
        assert decision.result.startswith(f"{count} kick or snare")


def test_the_papers_examples_and_empty_lists():
    empty = [
        count_off_beats([[]]),
        classify_chord([[]]),
        compare_intervals([[], [60]]),
        compare_intervals([[60], []]),
    ]
    assert [decision.answer for decision in empty] == [None] * 4
    # Appendix B, 1c: kick on 1 and 3, snare on 2 and 4 throughout. Table 2: one melody in E and in
    # G major.
    assert count_off_beats([list(range(1, 33, 2))]).answer == "A"
    assert compare_intervals([[67, 72, 67, 65, 67, 70], [71, 76, 71, 69, 71, 74]]).answer == SAME


def test_other_chords_are_undecided():
    # A note, a fifth, a diminished seventh, augmented, a major seventh, suspended, a cluster.
    for chord in (
        [60],
        [60, 67],
        [60, 63, 66, 69],
        [60, 64, 68],
        [60, 64, 67, 71],
        [60, 62, 67],
        [60, 61, 62, 63],
    ):
        assert classify_chord([chord]).answer is None


# Task, lists of a formulation, the place of the option that is right; None for undecided.
TEN = [
    ("oddball", [[60, 62, 64], [60, 62, 64]], 0),
    ("oddball", [[60, 62, 64], [60, 63, 64]], 1),
    ("oddball", [[60, 62, 64], [60, 62]], 1),
    ("oddball", [[60], []], None),
    ("contour", [[60, 64, 67, 72, 67, 64, 60]], 0),
    ("contour", [[72, 60, 60, 64]], 1),
    ("contour", [[60, 60, 64, 67]], 2),
    ("contour", [[67, 64, 60]], 3),
    ("contour", [[60, 64, 60, 64]], None),
    ("contour", [[60, 60]], None),
    ("rhythm_matching", [[1, 103, 5, 107], [1, 103, 5, 107]], 0),
    ("rhythm_matching", [[1, 103, 5, 107], [1, 5, 103, 107]], 0),  # written drum by drum
    ("rhythm_matching", [[1, 103, 5, 107], [1, 3, 5, 107]], 1),  # a kick in the place of a snare
    ("meter", [[1, 4, 7, 10]], 0),
    ("meter", [[13, 5, 9, 1, 20]], 1),
    ("meter", [[2, 7, 12]], 2),
    ("meter", [[1, 3, 5]], None),
    ("meter", [[1, 4, 8]], None),
    ("meter", [[7]], None),
    ("progression", [[0, 7, 21, 5], [7, 2, 16, 0]], 0),  # I V vi IV in C and in G
    ("progression", [[0, 7, 21, 5], [0, 21, 5, 7]], 1),
    ("progression", [[0, 7, 21, 5], [0, 7, 9, 5]], 1),  # VI for vi
    ("progression", [[], [0]], None),
    ("transposition_pairs", [[60, 64], [65, 69]], 0),
    ("major_or_minor", [[57, 60, 64, 69]], 1),
    ("major_or_minor", [[60, 64, 67]], 0),
    ("major_or_minor", [[60, 64, 67, 70]], None),
    ("syncopation_pairs", [[1, 2, 4], [1, 3, 6]], 0),
    ("syncopation_pairs", [[1, 3], [1, 2]], 1),
    ("syncopation_pairs", [[1, 2], [3, 4]], None),
    ("syncopation_pairs", [[], [2]], None),
]


@pytest.mark.parametrize(("task", "lists", "place"), TEN)
def test_the_ten_tasks_are_decided(task, lists, place):
    targets = FORMS[task].targets
    assert muse_ten.SOLVERS[task].decide(lists).answer == (
        None if place is None else targets[place]
    )
    assert [*muse_ten.SOLVERS[task].examples] == targets
