"""Note names agree with LilyPond's own definitions."""

import pytest

from music_evals.notation.lilypond.syntax.languages import (
    language_of,
    name_of,
    pitch_of,
)

lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
ALTERATIONS = ["DOUBLE-FLAT", "THREE-Q-FLAT", "FLAT", "SEMI-FLAT", "NATURAL"]
ALTERATIONS += ["SEMI-SHARP", "SHARP", "THREE-Q-SHARP", "DOUBLE-SHARP"]


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
