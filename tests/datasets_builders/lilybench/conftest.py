"""Small pieces of many composers, keys and metres: those of the golden record, and as many made of
them.
"""

import re
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.lilybench.strict.survey import survey
from music_evals.notation.lilypond.syntax.header import read_header

PIECES = Path(__file__).parents[2] / "golden" / "data" / "mutopia" / "ftp"


def make_piece(number):
    """A tune of 9 measures and its number, doubled by a lower staff.

    From 8 on it is another one backwards, with its first measures turned after it.
    """
    (path,) = PIECES.glob(f"*/piece{number % 8}/*.ly")
    text = path.read_text(encoding="utf-8")
    if number >= 8:
        (music,) = re.findall(r"\\time \S+\n  (.*) \|\n", text)
        bars = [bar.split() for bar in music.split(" | ")]
        other = [bar[::-1] for bar in bars[::-1]] + [bar[1:] + bar[:1] for bar in bars[:8]]
        text = text.replace(music, " | ".join(map(" ".join, other))).replace(
            f"No. {number - 8} ", f"No. {number} "
        )
    text = re.sub(r"(\\new Staff )(\\\w+Melody)", r"<< \1\2 \1\\transpose c c, \2 >>", text)
    return Piece(f"{path.parts[-3]}/piece{number}", text, read_header(text))


def write_files(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def tunes():
    return [make_piece(number) for number in range(16)]


@pytest.fixture(scope="session")
def usable_tunes(tunes):
    surveyed = list(survey(tunes[:12]))
    assert [row["reason"] for row, _ in surveyed] == [None] * 12
    return [piece for _, piece in surveyed if piece is not None]
