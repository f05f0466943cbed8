"""Markup commands take the arguments that LilyPond's own definitions say."""

import re
import tomllib
from pathlib import Path

import pytest

from music_evals.notation.lilypond.syntax.lexer import code_tokens
from music_evals.notation.lilypond.syntax.markups import ARGUMENTS, markup_end, value_end

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

MARKUPS = {"markup?", "markup-list?", "cheap-markup?"}


def test_every_markup_command_of_lilypond() -> None:
    lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
    folder = next(Path(lilypond.executable()).parents[1].glob("share/lilypond/*/scm/lily"))
    definition = re.compile(r"\(define-markup(?:-list)?-command\s*\((\S+)\s+layout\s+props[^)]*\)\s*\(([^)]*)\)")
    found = {}
    for path in folder.glob("*.scm"):
        for name, predicates in definition.findall(path.read_text(encoding="utf-8")):
            found[name] = "".join("m" if each in MARKUPS else "v" for each in predicates.split())
    del found["@var{command}"]  # of an example in a comment
    assert len(found) > 150
    assert {name: ARGUMENTS.get(name, "m") for name in found} == found


@pytest.mark.parametrize("markup", CASES["test_the_extent_of_a_markup"])
def test_the_extent_of_a_markup(markup: str) -> None:
    text = f"c^{markup} d4 {{ e }}"
    found = code_tokens(text)
    assert found[markup_end(text, found, 2, {"own": "vm", "held": ""})].text == "d"


def test_the_extent_of_a_value_and_of_a_markup_that_does_not_end() -> None:
    for value in ("-1.5\\cm", "3", '"a"', "#'(1 . 2)", "\\x", "red", "{ a { } }"):
        found = code_tokens(f"{value} c4")
        assert found[value_end(found, 0)].text == "c", value
    for rest in ("", "\\bold", "\\combine a", "{ a", "}", "\\bold " * 5_000):
        text = f"\\markup {rest}"
        found = code_tokens(text)
        assert 1 <= markup_end(text, found, 0, {}) <= len(found), rest[:20]
