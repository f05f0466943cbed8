"""What headers tell: worked examples, and the shares that are known of the real pieces."""

import re
import tomllib
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.facts import (
    Composer,
    composer_of,
    instrument_of,
    licence_of,
    style_of,
    title_of,
)
from music_evals.notation.lilypond.source import read_text
from music_evals.notation.lilypond.syntax.header import read_header

MUTOPIA = Path(__file__).parents[3].parent / "shared" / "data" / "mutopia" / "ftp"
BACH = Composer("Johann Sebastian Bach", 1685, 1750)
CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["composers"], ids=lambda case: f"{case['header']}")
def test_composer(case):
    composer = Composer(*case["composer"]) if "composer" in case else None
    assert composer_of(case["header"], case["piece"]) == composer


@pytest.mark.parametrize(("header", "title"), CASES["titles"])
def test_title(header, title):
    assert (title_of(header) or "") == title


def test_style_instrument_and_licence():
    assert style_of({"style": "Classique"}) == "Classical"
    assert style_of({"mutopiastyle": "Avant-garde"}) == "Modern"
    assert style_of({"style": "Symphonic"}) is None
    assert instrument_of({"instrument": "Guitar", "mutopiainstrument": " "}) == "Guitar"
    assert instrument_of({}) is None
    for text, licence in CASES["licences"]:
        assert licence_of({"copyright": text}) == licence
    assert (
        licence_of({"copyright": "© A. Typesetter", "mutopialicense": "Public Domain"})
        == "Public Domain"
    )
    assert licence_of({}) is None


@pytest.mark.slow
@pytest.mark.skipif(
    not MUTOPIA.is_dir(), reason="the Mutopia Project's pieces are not in ../shared/data"
)
def test_real_headers_tell_nearly_everything():
    """Each piece is read from the first of its files with the project's fields."""
    required = re.compile(r"^[^%\n]*\bmutopiacomposer\s*=", re.MULTILINE)
    headers = {}
    folders = {*sorted(MUTOPIA.iterdir())[::9], *(MUTOPIA / "BachJS").glob("BWV8*")}
    for path in sorted(path for folder in folders for path in folder.rglob("*ly*")):
        folder = next(
            (parent for parent in path.parents if parent.name.endswith("-lys")), path
        ).parent
        piece = folder.relative_to(MUTOPIA).as_posix() if path.is_file() else ""
        if piece and piece not in headers and (field := required.search(text := read_text(path))):
            headers[piece] = read_header(text[: field.end() + 5000])
    assert len(headers) >= 60
    composed = {
        piece: header
        for piece, header in headers.items()
        if not piece.startswith(("Anonymous", "Traditional"))
    }
    composers = {piece: composer_of(header, piece) for piece, header in composed.items()}
    assert sum(map(bool, composers.values())) / len(composed) > 0.95
    for fact, share in ((title_of, 0.98), (style_of, 0.97), (instrument_of, 0.95)):
        assert sum(fact(header) is not None for header in headers.values()) / len(headers) > share
    free = re.compile(r"Public Domain|CC BY(-SA)?( \d\.\d)?")
    assert (
        sum(bool(free.fullmatch(licence_of(header) or "")) for header in headers.values())
        / len(headers)
        > 0.95
    )
    # Bach is written in a dozen ways.
    assert {
        composer for piece, composer in composers.items() if piece.startswith("BachJS/BWV8")
    } == {BACH}
