"""The share of right notes against mir_eval and rapidfuzz (figures in `data`), and against all
matchings.
"""

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.metrics.transcription import note_f1

KNOWN = json.loads(
    (Path(__file__).parent / "data" / "transcriptions.json").read_text(encoding="utf-8")
)
SHORT = st.lists(st.integers(60, 64), max_size=7)


@pytest.mark.parametrize(
    ("kind", "in_order"), [("melodies", True), ("slots", False), ("chords", False)]
)
def test_figures_are_those_of_mir_eval_and_rapidfuzz(kind, in_order):
    assert len(KNOWN[kind]) >= 20
    for transcription, reference, expected in KNOWN[kind]:
        assert note_f1(transcription, reference, in_order=in_order) == pytest.approx(expected)


@given(SHORT, SHORT)
def test_right_notes_are_the_largest_matching(
    transcription: list[int], reference: list[int]
) -> None:
    def parts(notes: list[int], size: int) -> set[tuple[int, ...]]:
        return {*combinations(notes, size)}

    def largest(first: list[int], second: list[int]) -> int:
        return max(
            size for size in range(8) if size == 0 or parts(first, size) & parts(second, size)
        )

    notes = len(transcription) + len(reference)
    in_order = 2 * largest(transcription, reference) / notes if transcription and reference else 0
    assert note_f1(transcription, reference, in_order=True) == pytest.approx(in_order)
    in_any = (
        2 * largest(sorted(transcription), sorted(reference)) / notes
        if transcription and reference
        else 0
    )
    assert note_f1(transcription, reference, in_order=False) == pytest.approx(in_any)


def test_one_missing_note_costs_no_other():
    melody = [60, 62, 64, 65, 67, 69, 71, 72]
    assert note_f1(melody[1:], melody, in_order=True) == pytest.approx(14 / 15)
    assert note_f1([*melody[:3], 63, *melody[3:]], melody, in_order=True) == pytest.approx(16 / 17)
    assert note_f1(melody[::-1], melody, in_order=True) == pytest.approx(2 / 16)
    assert note_f1(melody[::-1], melody, in_order=False) == 1


def test_the_papers_example_has_no_right_note():
    # arXiv 2510.22455, Table 2, the first melody: the model hears it an octave or more too low.
    assert note_f1([55, 51, 55, 58, 51, 55], [67, 72, 67, 65, 67, 70], in_order=True) == 0
