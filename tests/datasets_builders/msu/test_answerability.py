"""Which questions a rendering of a score holds the answers to."""

from collections.abc import Mapping

import pytest

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions.answerability import is_answerable, needs
from music_evals.datasets_builders.msu.questions.compose import KINDS
from music_evals.notation.scores.renderings import Rendered, Rendering

REGULAR = Rendered(text="", files=[], words="Title: Ode. Flute, Oboe", is_regular=True, problem="")
PICKUP = Rendered({**REGULAR, "is_regular": False})


def test_every_kind_rests_on_something_and_no_other_is_named() -> None:
    table: Mapping[str, list[str]] = read_table("msu/questions/renderings.toml")
    assert {kind for kinds in table.values() for kind in kinds} == {kind.name for kind in KINDS}
    assert all(needs(kind.name) for kind in KINDS)


@pytest.mark.parametrize(
    ("rendering", "kind", "question", "answer", "expected"),
    [
        ("kern", "clef", "Which clef does the part “Oboe” begin with?", "Treble", True),
        ("kern", "clef", "Which clef does the part “Viola” begin with?", "Alto", False),
        ("kern", "title", "What is the title?", "Ode", True),
        ("kern", "title", "What is the title?", "Elegy", False),
        ("kern", "instruments", "For which instruments?", "Flute, Oboe", True),
        ("kern", None, "Who is happy?", "The oboe", True),
        ("midi", None, "Who is happy?", "The oboe", False),
        ("midi", "clef", "Which clef does it begin with?", "Treble", False),
        ("midi", "time signature", "What is the time signature?", "3/4", True),
        ("midi", "bass note", "Which pitch is the bass in measure 2?", "F♯3", False),
        ("midi", "chord quality", "What is the quality of the chord in measure 2?", "Major triad", True),
        ("midi", "stepwise motion", "Does the melody of measure 2 move by step?", "Yes", False),
        ("audio", "time signature", "What is the time signature?", "3/4", False),
        ("audio", "chord quality", "What is the quality of the chord in measure 2?", "Major triad", False),
        ("audio", "initial key", "In which key does the piece begin?", "D major", True),
        ("audio", "initial key", "In which key does the piece begin?", "G♭ major", False),
        ("midi", "initial key", "In which key does the piece begin?", "G♭ major", True),
        ("audio", "cadence", "The piece begins in A minor. With which kind of cadence does it end?", "Plagal", True),
    ],
)
def test_what_is_held(rendering: Rendering, kind: str | None, question: str, answer: str, expected: bool) -> None:
    assert is_answerable(rendering, REGULAR, kind, question, answer) is expected


def test_measures_cannot_be_counted_after_a_pickup_that_is_not_seen() -> None:
    asked = ("chord quality", "What is the quality of the chord in measure 2?", "Major triad")
    assert not is_answerable("midi", PICKUP, *asked)
    assert is_answerable("lilypond", PICKUP, *asked)
