"""Errors of canonical scores, put in by hand and by `corrupt`, which puts in nothing else."""

import tomllib
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.reasons import reasons
from music_evals.datasets_builders.lilybench.rows import task_row
from music_evals.datasets_builders.lilybench.strict.errors import (
    find_errors,
    is_foreign,
    later_commands,
    signature_of,
)
from music_evals.notation.lilypond.syntax.languages import NoteName, name_of, pitch_of

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SCORE = CASES["score"]


def test_a_score_without_errors_has_none():
    assert find_errors(SCORE) == {}
    assert later_commands(SCORE)
    assert not later_commands(SCORE.replace("\\key d \\major ", ""))


@pytest.mark.parametrize(
    ("key", "own"),
    [
        # By hand: the key's seven notes; what its neighbours on the circle add (for C major those
        # of F and G); the leading notes of the three relative minors.
        ("c major", "c d e f g a b  bes fis  gis dis cis"),
        ("a minor", "c d e f g a b  bes fis  gis dis cis"),
        ("g major", "c d e fis g a b  f cis  dis ais gis"),
        ("c minor", "c d ees f g aes bes  des a  b fis e"),
    ],
)
def test_foreign_notes_move_with_the_signature(key, own):
    tonic, mode = key.split()
    signature = signature_of(pitch_of(tonic) or NoteName(0, 0), mode)
    every = [NoteName(step, alteration) for step in range(7) for alteration in (-1, 0, 1)]
    assert {name_of(*note) for note in every if not is_foreign(signature, note)} == set(own.split())


def test_a_reader_of_a_log_sees_the_change():
    text = "\\new Staff {\n  c'4 d'4 |\n  g'8 a'8 b'4 |\n}\n"
    scores = {
        "melodic_leap": (
            text.replace("g'8", "g,8"),
            "a melodic leap in measure 2: `g'8` became `g,8`.",
        ),
        "invalid_content": (
            text.replace("b'4", "zq4"),
            "text that is no music in measure 2: `b'4` became `zq4`.",
        ),
        "accidental_outside_key": (
            "{ c'1 }" * 50,
            "an accidental that is foreign to the key in measure 2.",
        ),
        "clean": (text, "nothing in this score was changed."),
    }
    rows = [
        task_row("error_detection", "strict", "airs/tune", "2", score=score, kind=kind)
        for kind, (score, _) in scores.items()
    ]
    explained = reasons("error_detection", "strict", rows, {"airs/tune": text})
    assert list(explained.values()) == [words for _, words in scores.values()]
    assert reasons("error_detection", "strict", rows[:1], {}) == {
        rows[0]["id"]: "a melodic leap in measure 2."
    }
