"""Note names and markup commands agree with LilyPond's own definitions."""

import re
import tomllib
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from music_evals.notation.lilypond.syntax.languages import (
    LANGUAGES,
    language_of,
    languages_of,
    name_of,
    note_names,
    pitch_of,
)
from music_evals.notation.lilypond.syntax.lexer import code_tokens
from music_evals.notation.lilypond.syntax.markups import ARGUMENTS, markup_end, value_end

lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
SCHEME = next(Path(lilypond.executable()).parents[1].glob("share/lilypond/*/scm/lily"))
ALTERATIONS = ["DOUBLE-FLAT", "THREE-Q-FLAT", "FLAT", "SEMI-FLAT", "NATURAL"]
ALTERATIONS += ["SEMI-SHARP", "SHARP", "THREE-Q-SHARP", "DOUBLE-SHARP"]
CASES = tomllib.loads(Path(__file__).with_name("markups.toml").read_text(encoding="utf-8"))


def test_every_language_has_lilyponds_names() -> None:
    source = re.sub(";.*", "", (SCHEME / "define-note-names.scm").read_text(encoding="utf-8"))
    languages: dict[str, dict[str, tuple[int, Fraction]]] = {}
    names: dict[str, tuple[int, Fraction]] = {}
    for match in re.finditer(r"\((\w+) \. \(|\((\S+) \. ,\(ly:make-pitch -1 (\d) ([A-Z-]+)\)\)", source):
        if match[1]:
            names = languages.setdefault(match[1], {})
        elif match[4] in ALTERATIONS:
            names[match[2]] = (int(match[3]), Fraction(ALTERATIONS.index(match[4]) - 4, 2))
    del languages["arabic"]  # its alterations go further, and it is left out
    languages |= {"catalan": languages["català"], "espanol": languages["español"], "portugues": languages["português"]}
    assert {language: {**note_names(language)} for language in LANGUAGES} == languages
    for language, step, quarters in product(LANGUAGES, range(7), range(-4, 5)):
        pitch = (step, Fraction(quarters, 2))
        assert pitch_of(name_of(*pitch, language), language) == pitch


def test_unknown_names_and_the_language_of_a_text() -> None:
    with pytest.raises(ValueError, match="'klingon'; known are nederlands, "):
        pitch_of("c", "klingon")
    with pytest.raises(ValueError, match="step 7"):
        name_of(7, 0)
    assert language_of("{ c4 }") == "nederlands"
    assert language_of('\\include "italiano.ly" { do4 }') == "italiano"
    assert language_of('% \\language "norsk"\n{ c^"\\language \\"suomi\\"" } \\language "english"') == "english"
    text = '\\language "deutsch" { h4 }\n\\language "english" { bf4 } \\include "header.ly"'
    assert languages_of(text) == ["deutsch", "english"]


def test_every_markup_command_of_lilypond() -> None:
    definition = re.compile(r"\(define-markup(?:-list)?-command\s*\((\S+)\s+layout\s+props[^)]*\)\s*\(([^)]*)\)")
    sources = [path.read_text(encoding="utf-8") for path in SCHEME.glob("*.scm")]
    commands = dict(pair for source in sources for pair in definition.findall(source))
    del commands["@var{command}"]  # of an example in a comment
    assert len(commands) > 150
    markups = {"markup?", "markup-list?", "cheap-markup?"}
    kinds = {name: "".join("vm"[each in markups] for each in words.split()) for name, words in commands.items()}
    assert {name: ARGUMENTS.get(name, "m") for name in kinds} == kinds


@pytest.mark.parametrize("markup", CASES["test_the_extent_of_a_markup"])
def test_the_extent_of_a_markup(markup: str) -> None:
    text = f"c^{markup} d4 {{ e }}"
    tokens = code_tokens(text)
    assert tokens[markup_end(text, tokens, 2)].text == "d"


def test_the_extent_of_a_value_and_of_a_markup_that_does_not_end() -> None:
    for value in ("-1.5\\cm", "3", '"a"', "#'(1 . 2)", "\\x", "red", "{ a { } }"):
        tokens = code_tokens(f"{value} c4")
        assert tokens[value_end(tokens, 0)].text == "c", value
    for rest in ("", "\\bold", "\\combine a", "{ a", "}", "\\bold " * 5_000):
        text = f"\\markup {rest}"
        tokens = code_tokens(text)
        assert 1 <= markup_end(text, tokens, 0) <= len(tokens), rest[:20]
