"""Note names agree with LilyPond's own table, and name the pitches that they spell."""

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from music_evals.notation.lilypond.syntax.languages import (
    LANGUAGES,
    language_changes,
    language_of,
    name_of,
    note_names,
    pitch_of,
)

lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
TABLE = next(Path(lilypond.executable()).parents[1].glob("share/lilypond/*/scm/lily/define-note-names.scm"))
ALTERATIONS = ["DOUBLE-FLAT", "THREE-Q-FLAT", "FLAT", "SEMI-FLAT", "NATURAL"]
ALTERATIONS += ["SEMI-SHARP", "SHARP", "THREE-Q-SHARP", "DOUBLE-SHARP"]


def test_every_language_has_lilyponds_names() -> None:
    """LilyPond's own are read from its Scheme source."""
    source = re.sub(";.*", "", TABLE.read_text(encoding="utf-8"))
    languages: dict[str, dict[str, tuple[int, Fraction]]] = {}
    names: dict[str, tuple[int, Fraction]] = {}
    for found in re.finditer(r"\((\w+) \. \(|\((\S+) \. ,\(ly:make-pitch -1 (\d) ([A-Z-]+)\)\)", source):
        if found[1]:
            names = languages.setdefault(found[1], {})
        elif found[4] in ALTERATIONS:
            names[found[2]] = (int(found[3]), Fraction(ALTERATIONS.index(found[4]) - 4, 2))
    del languages["arabic"]  # its alterations go further, and it is left out
    languages |= {"catalan": languages["català"], "espanol": languages["español"], "portugues": languages["português"]}
    assert {language: {**note_names(language)} for language in LANGUAGES} == languages


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_usual_name_of_a_note_is_a_name_of_it(language: str) -> None:
    for step, quarters in product(range(7), range(-4, 5)):
        pitch = (step, Fraction(quarters, 2))
        assert pitch_of(name_of(*pitch, language), language) == pitch


def test_what_is_not_known_and_the_language_of_a_text() -> None:
    with pytest.raises(ValueError, match="'klingon'; known are nederlands, "):
        pitch_of("c", "klingon")
    with pytest.raises(ValueError, match="step 7"):
        name_of(7, 0)
    assert language_of("{ c4 }") == "nederlands"
    assert language_of('\\include "italiano.ly" { do4 }') == "italiano"
    assert language_of('% \\language "norsk"\n{ c^"\\language \\"suomi\\"" } \\language "english"') == "english"
    text = '\\language "deutsch" { h4 }\n\\language "english" { bf4 } \\include "header.ly"'
    assert [name for _, name in language_changes(text)] == ["deutsch", "english"]
