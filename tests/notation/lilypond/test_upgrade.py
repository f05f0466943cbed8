"""What convert-ly leaves undone, and what is done about it."""

import pytest

from music_evals.notation.lilypond.compiler import ConversionError, compile_texts
from music_evals.notation.lilypond.syntax import edited
from music_evals.notation.lilypond.upgrade import mend, upgrade

pytestmark = pytest.mark.usefixtures("lilypond_runs")

LEFT = {
    "beams": (
        "v = { #(override-auto-beam-setting '(end * * * *) 1 4 'Staff) c4 }\nw = #(revert-auto-beam-setting '(e) 1 8)",
        "v = {  c4 }\nw = { }",
    ),
    "octaves": ("v = { #(set-octavation -1) c4 #(set-octavation 0) }", "v = { \\ottava #-1 c4 \\ottava #0 }"),
    "repeats": (
        "v = \\applyMusic #unfold-repeats { \\repeat volta 2 { c4 } }",
        "v = \\unfoldRepeats { \\repeat volta 2 { c4 } }",
    ),
    "numbers": (
        "v = { \\ottava #1\\tuplet 3/2 { c4 d e } \\ottava #0}",
        "v = { \\ottava #1 \\tuplet 3/2 { c4 d e } \\ottava #0 }",
    ),
    "spacing": (
        "\\paper { o = 1\\mm system-system-spacing.padding = #(/ o staff-space) #(if #t (define x 1)) } v = c4",
        "\\paper { o = 1\\mm   } v = c4",
    ),
    "sums": (
        '\\header { title = "a" tagline = "b " + \\footer + " c" opus = "1" } v = c4',
        '\\header { title = "a"  opus = "1" } v = c4',
    ),
    "a variable q": ("q = { c4 } v = { \\q d4 <c e> q }", "qq = { c4 } v = { \\qq d4 <c e> q }"),
    "ornaments": ("#(set-script-property \"prall\" 'avoid-slur 'outside)\nv = c4", "\nv = c4"),
}


@pytest.mark.parametrize("left", LEFT)
def test_mends(left: str) -> None:
    before, after = LEFT[left]
    assert mend(before) == after
    assert mend(after) == after


def test_lilypond_takes_the_mended_texts_alone() -> None:
    form = '\\version "2.24.3"\n{}\n\\score {{ {{ \\v }} \\midi {{ }} }}\n'
    before = compile_texts([form.format(text) for text, _ in LEFT.values()])
    after = compile_texts([form.format(text) for _, text in LEFT.values()])
    assert [name for name, run in zip(LEFT, before, strict=True) if run.status == 0] == []
    assert [name for name, run in zip(LEFT, after, strict=True) if not run.succeeded or len(run.midi) != 1] == []


def test_current_texts_stay() -> None:
    text = '\\version "2.24.3"\nv = { \\ottava #1 c4 #(f 1) \\repeat volta 2 { d } } % #(set-octavation 1)'
    assert mend(text) == text


def test_upgrade() -> None:
    assert "\\tuplet 3/2 { c4 d e }" in upgrade('\\version "2.16"\n{ \\times 2/3 { c4 d e } }')
    assert "\\version" in upgrade('\\version "2.6.4.3"\n{ c4 }')
    with pytest.raises(ConversionError, match="version"):
        upgrade("{ c4 }")


def test_edits() -> None:
    assert edited("abcdef", [(4, 5, "X"), (1, 3, ""), (2, 3, "lost"), (1, 2, "lost")]) == "adXf"
    assert edited("ab", [(1, 1, "-")]) == "a-b"
    assert edited("ab", []) == "ab"
