"""What convert-ly leaves undone, and the mends of it."""

import tomllib
from pathlib import Path

import pytest

from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.upgrade import mend, upgrade

pytestmark = pytest.mark.usefixtures("lilypond_runs")

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def test_mends_are_what_lilypond_takes() -> None:
    """LilyPond 2.24.3 compiles none of the texts before."""
    for case in CASES.values():
        assert mend(case["before"]) == mend(case["after"]) == case["after"]
    texts = [f'\\version "2.24.3"\n{case["after"]}\n\\score {{ {{ \\v }} \\midi {{ }} }}\n' for case in CASES.values()]
    assert [(run.succeeded, len(run.midi)) for run in compile_texts(texts, together=True)] == [(True, 1)] * len(texts)


def test_upgrade() -> None:
    text = '\\version "2.24.3"\nv = { \\ottava #1 c4 #(f 1) \\repeat volta 2 { d } } % #(set-octavation 1)'
    assert mend(text) == text, "current texts stay"
    assert mend("\\header { }\n{ c4 }") == "\\header { }\n{ c4 }"
    assert "\\tuplet 3/2 { c4 d e }" in upgrade('\\version "2.16"\n{ \\times 2/3 { c4 d e } }')
    assert "\\version" in upgrade('\\version "2.6.4.3"\n{ c4 }')
    with pytest.raises(ConversionError, match="version"):
        upgrade("{ c4 }")
