"""Which questions a rendering of a score holds the answers to."""

import tomllib
from pathlib import Path

import pytest

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions.answerability import is_answerable, needs
from music_evals.datasets_builders.msu.questions.compose import KINDS
from music_evals.notation.scores.renderings import Rendered

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["cases"]
REGULAR = Rendered(text="", files=[], words="Title: Ode. Flute, Oboe", is_regular=True, problem="")


def test_every_kind_rests_on_something_and_no_other_is_named():
    table = read_table("msu/questions/renderings.toml")
    assert {kind for kinds in table.values() for kind in kinds} == {kind.name for kind in KINDS}
    assert all(needs(kind.name) for kind in KINDS)


@pytest.mark.parametrize(("rendering", "kind", "question", "answer", "expected"), CASES)
def test_what_is_held(rendering, kind, question, answer, expected):
    assert is_answerable(rendering, REGULAR, kind or None, question, answer) is expected
