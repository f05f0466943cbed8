"""Transposed ABC: what music21 hears of it, and the other way back."""

import re
from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from music21 import converter

from music_evals.notation.abc.transposed import (
    Direction,
    direction_of,
    transpose_abc,
    transpose_names,
    transpose_signed,
)
from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.scores.reading import parse_musicxml
from tests.notation.scores.test_renderings import STUDY

HEADER = "X:1\nT:In B, a title\nM:4/4\nL:1/8\nK:Gm % b\n"
TUNE = HEADER + '"Gm7/D"G2 ^F>G {a}A=B (3c_d^^c B,-B | [DB^f\']4 !trill!z2 "^slow"_E2 |]'


def heard(abc):
    notes = converter.parseData(abc, format="abc").flatten().notes
    return [
        (float(note.offset), pitch.midi)
        for note in notes
        if "Harmony" not in note.classes
        for pitch in note.pitches
    ]


@pytest.mark.parametrize("direction", get_args(Direction))
def test_all_notes_sound_a_major_second_away_and_the_rest_is_as_it_was(
    direction,
):
    moved, notes = transpose_abc(TUNE, direction), heard(TUNE)
    assert heard(moved) == [(onset, pitch + 2 * direction) for onset, pitch in notes]
    assert len(notes) == 15
    assert transpose_abc(moved, -direction) == TUNE  # type: ignore[arg-type]
    for words in ("T:In B, a title", '"^slow"', '"Am7/E"' if direction == 1 else '"Fm7/C"'):
        assert words in moved


def test_scores_of_several_voices_move_too():
    abc = score_to_abc(parse_musicxml(STUDY))
    direction = direction_of(abc)
    moved = transpose_abc(abc, direction)
    assert re.findall("(?m)^[VLM]:.*", moved) == re.findall("(?m)^[VLM]:.*", abc)
    assert transpose_abc(moved, -direction) == abc  # type: ignore[arg-type]
    assert moved != abc


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="ABCDEFGabcdefg^_=,'0123456789/|[]:() -zZ\"!{}~K\n", max_size=60),
    st.sampled_from([1, -1]),
)
def test_any_text_is_moved_and_moved_back_or_refused(text: str, direction: Direction) -> None:
    try:
        moved = transpose_abc(text, direction)
    except ValueError:
        return
    assert len(moved.split("\n")) == len(text.split("\n"))
    with suppress(ValueError):  # a key at the edge of what can be written
        back = transpose_abc(moved, -direction)  # type: ignore[arg-type]
        # The same note has two spellings: a, and A.
        assert re.sub("[,']", "", back).lower() == re.sub("[,']", "", text).lower()


def test_the_direction_has_fewer_accidentals():
    keys = {"C": 1, "Gm": 1, "G": 1, "D": -1, "F#m": -1, "E clef=bass": -1}
    assert {key: direction_of(f"X:1\nK:{key}\nC") for key in keys} == keys
    with pytest.raises(ValueError, match="treble"):
        direction_of("X:1\nK:Bb treble\nC")


ERRORS = {
    "K:C#\nC": "accidentals",
    "K:HP\nA": "cannot be read",
    "K:C\n§": "cannot read",
    "^^B": "would need",
}


@pytest.mark.parametrize(("abc", "message"), ERRORS.items())
def test_what_cannot_be_moved_is_an_error(abc, message):
    with pytest.raises(ValueError, match=message):
        transpose_abc(abc, 1)


@pytest.mark.parametrize(
    ("text", "up", "down"),
    [
        ("B4", "C♯5", "A4"),
        ("C♯4, E♭3, B♮", "D♯4, F3, C♯♮", "B3, D♭3, A♮"),
        ("F sharp minor", "G♯ minor", "E minor"),
        ("Bb major", "C major", "A♭ major"),
        ("E-flat", "F", "D♭"),
    ],
)
def test_names_move(text, up, down):
    assert (transpose_names(text, 1), transpose_names(text, -1)) == (up, down)


def test_a_sentence_keeps_its_words():
    text = "In measure 3, is A a part of the A minor triad, or F♯4 a chord of G?"
    assert (
        transpose_signed(text, 1)
        == "In measure 3, is A a part of the B minor triad, or G♯4 a chord of G?"
    )
