"""Note names agree with LilyPond's own definitions."""

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from music_evals.notation.lilypond.syntax.languages import (
    LANGUAGES,
    language_of,
    name_of,
    note_names,
    pitch_of,
)

lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
SCHEME = next(Path(lilypond.executable()).parents[1].glob("share/lilypond/*/scm/lily"))
ALTERATIONS = ["DOUBLE-FLAT", "THREE-Q-FLAT", "FLAT", "SEMI-FLAT", "NATURAL"]
ALTERATIONS += ["SEMI-SHARP", "SHARP", "THREE-Q-SHARP", "DOUBLE-SHARP"]


def test_every_language_has_lilyponds_names():
    source = re.sub(";.*", "", (SCHEME / "define-note-names.scm").read_text(encoding="utf-8"))
    languages = {}
    names = {}
    for match in re.finditer(
        r"\((\w+) \. \(|\((\S+) \. ,\(ly:make-pitch -1 (\d) ([A-Z-]+)\)\)", source
    ):
        if match[1]:
            names = languages.setdefault(match[1], {})
        elif match[4] in ALTERATIONS:
            names[match[2]] = (int(match[3]), Fraction(ALTERATIONS.index(match[4]) - 4, 2))
    del languages["arabic"]  # its alterations go further, and it is left out
    languages |= {
        "catalan": languages["català"],
        "espanol": languages["español"],
        "portugues": languages["português"],
    }
    assert {language: {**note_names(language)} for language in LANGUAGES} == languages
    for step, quarters in product(range(7), range(-4, 5)):
        pitch = (step, Fraction(quarters, 2))
        assert pitch_of(name_of(*pitch)) == pitch


def test_unknown_names_and_the_language_of_a_text():
    with pytest.raises(ValueError, match="'klingon'; known are nederlands, "):
        pitch_of("c", "klingon")
    with pytest.raises(ValueError, match="step 7"):
        name_of(7, 0)
    assert language_of("{ c4 }") == "nederlands"
    assert language_of('\\include "italiano.ly" { do4 }') == "italiano"
    assert (
        language_of('% \\language "norsk"\n{ c^"\\language \\"suomi\\"" } \\language "english"')
        == "english"
    )
    assert (
        language_of(
            '\\include "header.ly" \\language "deutsch" { h4 } \\language "english" { bf4 }'
        )
        == "deutsch"
    )
