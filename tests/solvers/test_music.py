"""The deterministic solvers, against worked examples of the paper and against theory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.solvers.symbolic.music import (
    DIFFERENT,
    LEVELS,
    QUALITIES,
    SAME,
    classify_chord,
    compare_intervals,
    count_off_beats,
)

pitches = st.lists(st.integers(20, 100), min_size=2, max_size=30)


def test_the_papers_example_rhythm_has_no_off_beat() -> None:
    # Kick on 1 and 3, snare on 2 and 4 throughout: the example of Appendix B, 1c.
    assert count_off_beats([list(range(1, 33, 2))]).answer == "A"


@pytest.mark.parametrize(("count", "letter"), [(0, "A"), (2, "B"), (4, "C"), (6, "D"), (8, "E")])
def test_every_level_has_its_letter(count: int, letter: str) -> None:
    assert count_off_beats([[1, 9, *range(2, 2 + 2 * count, 2)]]).answer == letter


@pytest.mark.parametrize("count", [1, 3, 5, 7, 9, 16])
def test_a_count_that_is_no_level_is_undecided(count: int) -> None:
    decision = count_off_beats([[1, *range(2, 2 + 2 * count, 2)]])
    assert decision.answer is None
    assert decision.result.startswith(f"{count} kick or snare")
    assert count not in LEVELS


def test_an_empty_list_is_undecided() -> None:
    for decision in (
        count_off_beats([[]]),
        classify_chord([[]]),
        compare_intervals([[], [60]]),
        compare_intervals([[60], []]),
    ):
        assert decision.answer is None


def test_the_papers_ground_truth_melodies_are_the_same() -> None:
    # Table 2: the beginnings of one melody in E and in G major.
    e_major, g_major = [67, 72, 67, 65, 67, 70], [71, 76, 71, 69, 71, 74]
    assert compare_intervals([e_major, g_major]).answer == SAME


@given(pitches, st.integers(-20, 20), st.data())
def test_a_transposition_is_the_same_melody_and_one_changed_note_or_a_note_more_another(
    melody: list[int], semitones: int, data: st.DataObject
) -> None:
    transposed = [pitch + semitones for pitch in melody]
    assert compare_intervals([melody, transposed]).answer == SAME
    assert compare_intervals([melody, [*transposed, transposed[-1]]]).answer == DIFFERENT
    transposed[data.draw(st.integers(0, len(melody) - 1))] += data.draw(st.sampled_from([-2, -1, 1, 2]))
    assert compare_intervals([melody, transposed]).answer == DIFFERENT


@pytest.mark.parametrize("letter", QUALITIES)
def test_every_quality_is_found_over_every_root_in_every_inversion(letter: str) -> None:
    name, intervals = QUALITIES[letter]
    for root in range(48, 60):
        tones = sorted(root + interval for interval in intervals)
        for inversion in range(len(tones)):
            turned = [tone + 12 if index < inversion else tone for index, tone in enumerate(tones)]
            decision = classify_chord([[*turned, tones[0] + 24]])
            assert (decision.answer, name in decision.result) == (letter, True)


@pytest.mark.parametrize(
    "chord",
    [[60], [60, 67], [60, 63, 66, 69], [60, 64, 68], [60, 64, 67, 71], [60, 62, 67], [60, 61, 62, 63]],
    ids=["note", "fifth", "diminished seventh", "augmented", "major seventh", "suspended", "cluster"],
)
def test_other_chords_are_undecided(chord: list[int]) -> None:
    assert classify_chord([chord]).answer is None
