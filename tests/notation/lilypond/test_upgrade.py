"""What convert-ly leaves undone, and what is done about it."""

import tomllib
from pathlib import Path

import pytest

from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.syntax.lexer import apply_edits
from music_evals.notation.lilypond.upgrade import mend, upgrade

pytestmark = pytest.mark.usefixtures("lilypond_runs")

LEFT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("left", LEFT)
def test_mends(left: str) -> None:
    assert mend(LEFT[left]["before"]) == mend(LEFT[left]["after"]) == LEFT[left]["after"]


def test_lilypond_takes_the_mended_texts_alone() -> None:
    form = '\\version "2.24.3"\n{}\n\\score {{ {{ \\v }} \\midi {{ }} }}\n'
    before = compile_texts([form.format(left["before"]) for left in LEFT.values()])
    after = compile_texts([form.format(left["after"]) for left in LEFT.values()])
    assert [name for name, run in zip(LEFT, before, strict=True) if run.status == 0] == []
    assert [name for name, run in zip(LEFT, after, strict=True) if not run.succeeded or len(run.midi) != 1] == []


def test_upgrade() -> None:
    text = '\\version "2.24.3"\nv = { \\ottava #1 c4 #(f 1) \\repeat volta 2 { d } } % #(set-octavation 1)'
    assert mend(text) == text, "current texts stay"
    assert mend("\\header { }\n{ c4 }") == "\\header { }\n{ c4 }"
    assert "\\tuplet 3/2 { c4 d e }" in upgrade('\\version "2.16"\n{ \\times 2/3 { c4 d e } }')
    assert "\\version" in upgrade('\\version "2.6.4.3"\n{ c4 }')
    with pytest.raises(ConversionError, match="version"):
        upgrade("{ c4 }")


def test_edits() -> None:
    assert apply_edits("abcdef", [(4, 5, "X"), (1, 3, ""), (2, 3, "lost"), (1, 2, "lost")]) == "adXf"
    assert apply_edits("ab", [(1, 1, "-")]) == "a-b"
