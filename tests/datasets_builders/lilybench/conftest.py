"""Small pieces of many composers, keys and metres, written as LilyPond for the tests."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.corpus import Usable, survey
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.syntax import read_header

COMPOSERS = [
    *[("BachJS", "Johann Sebastian Bach", "Baroque"), ("HandelGF", "George Frideric Handel", "Baroque")],
    *[("MozartWA", "Wolfgang Amadeus Mozart", "Classical"), ("HaydnFJ", "Joseph Haydn", "Classical")],
    *[("SchubertF", "Franz Schubert", "Romantic"), ("ChopinFF", "Frédéric Chopin", "Romantic")],
    *[("JoplinS", "Scott Joplin", "Jazz"), ("DowlandJ", "John Dowland", "Renaissance")],
]
KEYS = ["c \\major", "a \\minor", "g \\major", "e \\minor", "f \\major", "d \\minor", "d \\major", "bes \\major"]
SCALES = {
    "c": "cdefgab",
    "a": "abcdefg",
    "g": "gabcdef",
    "e": "efgabcd",
    "f": "fgabcde",
    "d": "defgabc",
    "b": "bcdefga",
}
METRES = {"3/4": 3, "4/4": 4, "2/4": 2, "2/2": 4, "3/8": 1.5, "6/8": 3, "3/2": 6, "4/8": 2}


def make_piece(number: int) -> Piece:
    """A tune of so many measures, in quarters and eighths, with the header of a Mutopia piece."""
    draw = random.Random(number)
    code, composer, style = COMPOSERS[number % len(COMPOSERS)]
    key, metre = KEYS[number * 3 % 8], list(METRES)[number * 5 % 8]
    sharps = {"g \\major": "f", "e \\minor": "f", "d \\major": "fc"}.get(key, "")
    flats = {"f \\major": "b", "d \\minor": "b", "bes \\major": "be"}.get(key, "")
    names = [letter + ("is" if letter in sharps else "es" if letter in flats else "") for letter in SCALES[key[0]]]
    place, bars = 3, []
    for _ in range(9 + number):
        notes, left = [], METRES[metre]
        while left > 0:
            place = min(max(place + draw.choice((-2, -1, 1, 2)), 0), 6)
            length = 0.5 if left % 1 or draw.random() < 0.4 else 1
            notes.append(f"{names[place]}'{8 if length == 0.5 else 4}")
            left -= length
        bars.append(" ".join(notes))
    kind = ("Minuet", "March", "Prelude", "Song")[number % 4]
    text = f"""\\version "2.24.0"
\\header {{
  title = "{kind} No. {number} of {composer.split()[-1]}"
  mutopiatitle = "{kind} No. {number} of {composer.split()[-1]}"
  composer = "{composer}"
  mutopiacomposer = "{code}"
  style = "{style}"
  instrument = "Piano"
  license = "Public Domain"
}}
% by {composer}
{composer.split()[-1].replace("é", "e")}Melody = {{
  \\clef "treble" \\key {key} \\time {metre}
  {" | ".join(bars)} |
}}
\\score {{ \\new Staff \\{composer.split()[-1].replace("é", "e")}Melody \\layout {{ }} \\midi {{ }} }}
"""
    return Piece(f"{code}/piece{number}", text, text, read_header(text))


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module", autouse=True)
def lilypond_runs_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for all modules of this folder, which read the same tunes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUSIC_EVALS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="session")
def tunes() -> list[Piece]:
    return [make_piece(number) for number in range(16)]


@pytest.fixture(scope="session")
def usable_tunes(tunes: list[Piece]) -> list[Usable]:
    found = list(survey(tunes, cache=lilypond_cache()))
    assert [row["reason"] for row, _ in found] == [None] * 16
    return [piece for _, piece in found if piece is not None]
