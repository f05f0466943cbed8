"""What headers tell: worked examples, and the shares that are known of the real pieces."""

import re
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.facts import (
    STYLES,
    Composer,
    are_siblings,
    composer_named,
    composer_of,
    instrument_of,
    licence_of,
    style_of,
    title_kind,
    title_of,
)
from music_evals.notation.lilypond.source import read_text
from music_evals.notation.lilypond.syntax.header import read_header

MUTOPIA = Path(__file__).parents[3].parent / "shared" / "data" / "mutopia" / "ftp"
BACH = Composer("Johann Sebastian Bach", 1685, 1750)


@pytest.mark.parametrize(
    ("header", "piece", "composer"),
    [
        ({"mutopiacomposer": "BachJS", "composer": "J. S. Bach (1685-1750)"}, "BachJS/BWV846/prelude", BACH),
        ({"composer": "JOHANN SEBASTIAN BACH"}, "BachJS/BWV846/prelude", BACH),
        ({"composer": "Johann Sebastian Bach (1685–1750)"}, "bach/bwv66.6", BACH),
        # Christian Petzold's minuet, and works whose headers have doubts themselves.
        ({"mutopiacomposer": "BachJS", "composer": "J. S. Bach"}, "BachJS/BWVAnh114/minuet", None),
        ({"mutopiacomposer": "KuhnauJ", "composer": "attr. J. Kuhnau"}, "KuhnauJ/x/part2", None),
        ({"composer": "Michael Haydn (possibly spurious)"}, "HaydnJM/lyons", None),
        # Somebody else's music, or nobody's, that the person arranged.
        ({"mutopiacomposer": "RegerM", "composer": "Friedrich Glück (1793–1840), 1814"}, "RegerM/Untreue", None),
        ({"mutopiacomposer": "HoretzkyF", "mutopiatitle": "Nº. 1. March by Rossini."}, "HoretzkyF/1", None),
        ({"mutopiacomposer": "Traditional", "composer": "David Example"}, "Traditional/x", None),
        ({"composer": "Traditional"}, "ryansMammoth/reel", None),
        ({"composer": "Arr. Y. Nagai"}, "unknown/x", None),
        ({}, "unknown/x", None),
        # Spellings and scripts.
        ({"composer": "Haëndel"}, "HandelGF/x", Composer("George Frideric Handel", 1685, 1759)),
        ({"composer": "Петр И. Чайковский"}, "TchaikovskyPI/x", Composer("Pyotr Ilyich Tchaikovsky", 1840, 1893)),
        ({"composer": "Clement Ianequin"}, "JanequinC/x", Composer("Clément Janequin", 1485, 1558)),
        ({"composer": "J. S. Bach (1685-1750)"}, "x/y", BACH),
        ({"composer": "Joh. Seb. Bach"}, "x/y", BACH),
        # Composers who are not in the table.
        ({"composer": "J. S. Bach (1950- )"}, "x/y", Composer("J. S. Bach", 1950)),
        ({"composer": "J. W. Bach"}, "x/y", Composer("J. W. Bach")),
        ({"composer": "Tomaso Albinoni (1671-1751)"}, "AlbinoniT/x", Composer("Tomaso Albinoni", 1671, 1751)),
        ({"composer": "Jane Doe (c. 1950 – )"}, "DoeJ/x", Composer("Jane Doe", 1950)),
        ({"composer": "Unknown"}, "DoeJ/x", None),
    ],
)
def test_composer(header: dict[str, str], piece: str, composer: Composer | None) -> None:
    assert composer_of(header, piece) == composer


def test_every_listed_life_is_possible() -> None:
    listed = tomllib.loads((files("music_evals.datasets_builders.names") / "lilybench.toml").read_text("utf-8"))
    for entry in [*listed["mutopia"].values(), *listed["corpus"].values()]:
        if {"born", "died"} <= entry.keys():
            assert 10 < entry["died"] - entry["born"] < 100, entry
    assert set(listed["styles"].values()) == set(STYLES)
    words = Counter(word for words in listed["kinds"].values() for word in words)
    assert max(words.values()) == 1
    assert set(listed["endings"].values()) <= listed["kinds"].keys()
    assert composer_named("antonin dvorak") == Composer("Antonín Dvořák", 1841, 1904)
    assert composer_named("Dvorak") is None


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ({"title": "  Für\n Elise "}, "Für Elise"),
        ({"title": "THE LIBERTY BELL", "mutopiatitle": "The Liberty Bell March"}, "The Liberty Bell March"),
        ({"mutopiatitle": "Erlkönig (alternative typesetting)"}, "Erlkönig"),
        ({"mutopiatitle": " ", "title": "King Cotton."}, "King Cotton"),
        ({"title": "Sonata No. 8, Op. 13."}, "Sonata No. 8, Op. 13."),
        ({"title": "1."}, None),
        ({}, None),
    ],
)
def test_title(header: dict[str, str], title: str | None) -> None:
    assert title_of(header) == title


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Das Wohltemperierte Clavier I, Fuga II", "fugue"),
        ("Lute Suite BWV 997: 3. Sarabande", "sarabande"),
        ("Sonata No. 5 (3rd Movement: Prestissimo)", "sonata"),
        ("BWV 1006 - Gavotte en Rondeau", "rondo"),
        ("Fugue sur l'hymne de la Vierge, Ave Maris Stella", "fugue"),
        ("Rondo in E-flat Major", "rondo"),
        ("Præludium", "prelude"),
        ("Abendlied", "song"),
        ("Der Volkstanz", "dance"),
        ("Cherubic Hymn", "hymn"),
        ("There's Music in the Air", None),
        ("", None),
    ],
)
def test_kind_of_title(title: str, kind: str | None) -> None:
    assert title_kind(title) == kind


@pytest.mark.parametrize(
    ("title", "other", "siblings"),
    [
        ("Op. 35, No. 4", "Op. 35, No. 15", True),
        ("Op. 35, No. 4", "Für Elise", True),  # the first says nothing
        ("Etude 1", "Étude nº 2", True),
        ("Prelude in C", "Prelude in C minor", True),
        ("Valse en la bémol", "Waltz in E flat", True),
        ("English Suite II: Gigue", "Gigue", True),
        ("Das Wohltemperierte Clavier I, Fuga II", "Die Kunst der Fuge, Contrapunctus IV", False),
        ("Lieder ohne Worte", "Frühlingslied", False),
    ],
)
def test_sibling_titles(title: str, other: str, siblings: bool) -> None:
    assert are_siblings(title, other) == are_siblings(other, title) == siblings


def test_a_long_title_takes_no_time() -> None:
    assert title_kind("(" * 100_000 + " - " * 100_000) is None
    assert composer_of({"composer": "A " * 100_000}, "x/y") is None


def test_style_instrument_and_licence() -> None:
    assert style_of({"style": "Classique"}) == "Classical"
    assert style_of({"mutopiastyle": "Avant-garde"}) == "Modern"
    assert style_of({"style": "Symphonic"}) is None
    assert instrument_of({"instrument": "Guitar", "mutopiainstrument": " "}) == "Guitar"
    assert instrument_of({}) is None
    for text, licence in {
        "Public Domain": "Public Domain",
        "Creative Commons Attribution-ShareAlike 4.0 International": "CC BY-SA 4.0",
        "Creative Commons Attribution 2.5": "CC BY 2.5",
        "Creative Commons Share-Alike 4.0": "CC BY-SA 4.0",
        "Creative Commons BY-SA 2.5": "CC BY-SA 2.5",
        "CC BY-NC-SA 4.0": "CC BY-NC-SA 4.0",
        "Creative Commons Attribution-NonCommercial 3.0": "Creative Commons Attribution-NonCommercial 3.0",
    }.items():
        assert licence_of({"copyright": text}) == licence
    assert licence_of({"copyright": "© A. Typesetter", "mutopialicense": "Public Domain"}) == "Public Domain"
    assert licence_of({}) is None


@pytest.mark.skipif(not MUTOPIA.is_dir(), reason="the Mutopia Project's pieces are not in ../shared/data")
def test_real_headers_tell_nearly_everything() -> None:
    """Of each piece one file with the project's fields is read, whichever comes first."""
    required = re.compile(r"^[^%\n]*\bmutopiacomposer\s*=", re.MULTILINE)
    headers: dict[str, dict[str, str]] = {}
    some = {*sorted(MUTOPIA.iterdir())[::3], MUTOPIA / "BachJS"}
    for path in sorted(path for composer in some for path in composer.rglob("*ly*")):
        folder = next((one for one in path.parents if one.name.endswith("-lys")), path).parent
        piece = folder.relative_to(MUTOPIA).as_posix() if path.is_file() else ""
        if piece and piece not in headers and (field := required.search(text := read_text(path))):
            headers[piece] = read_header(text[: field.end() + 5000])
    assert len(headers) >= 250
    somebody = {piece: one for piece, one in headers.items() if not piece.startswith(("Anonymous", "Traditional"))}
    composers = {piece: composer_of(one, piece) for piece, one in somebody.items()}
    assert sum(map(bool, composers.values())) / len(somebody) > 0.95
    assert sum(title_of(one) is not None for one in headers.values()) / len(headers) > 0.99
    assert sum(style_of(one) is not None for one in headers.values()) / len(headers) > 0.98
    assert sum(instrument_of(one) is not None for one in headers.values()) / len(headers) > 0.95
    licences = Counter(licence_of(one) for one in headers.values())
    known = re.compile(r"Public Domain|CC BY(-SA)?( \d\.\d)?")
    assert sum(many for licence, many in licences.items() if known.fullmatch(licence or "")) / len(headers) > 0.95
    # Bach is written in a dozen ways.
    bach = {composer for piece, composer in composers.items() if piece.startswith("BachJS/BWV8")}
    assert bach == {BACH}
