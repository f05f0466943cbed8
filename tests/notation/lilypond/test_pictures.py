"""Pictures of first systems: their content and size, and hostile texts and files."""

import io
import struct
import tomllib
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from music_evals.notation.lilypond.pictures import (
    MAX_WIDTH,
    PictureError,
    _reduce,
    first_system,
    opening,
)
from music_evals.notation.lilypond.sandbox import Limits

pytestmark = pytest.mark.usefixtures("lilypond_runs")

HEAD = '\\version "2.24.3"\n\\header { title = "No title" }\n'
LONG = "c'4 e' g' e' | " * 20
CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def pixels(png):
    assert png is not None
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("L"))


def staff_lines(picture):
    """Count groups of rows that have ink from left to right: the lines of staves."""
    inked = (picture < 255).mean(axis=1) > 0.8
    return int((inked[1:] & ~inked[:-1]).sum())


def png(width, height, rows):
    """Write a PNG of one grey byte a pixel, whose rows need not fit its size."""
    head = struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    parts = (
        struct.pack(">I", len(c)) + kind + c + struct.pack(">I", zlib.crc32(kind + c))
        for kind, c in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_the_opening_is_as_many_systems_as_fit_a_page():
    short, long = (
        pixels(opening(HEAD + rf"\score {{ \new Staff {{ {LONG * times} }} }}")) for times in (1, 4)
    )
    assert staff_lines(short) // 5 in (3, 4, 5), "no empty systems after the end"
    assert 6 < staff_lines(long) // 5 < 35
    assert long.shape[0] < 1500


@pytest.mark.slow
@pytest.mark.parametrize(("attack", "why"), CASES["attacks"])
def test_attacks_and_texts_without_music_give_no_picture(attack, why):
    with pytest.raises(PictureError, match=why):
        first_system('\\version "2.24.3"\n' + attack, limits=Limits(seconds=10))


def test_files_are_checked_before_they_are_decoded():
    line = b"\0" + b"\xff" * 10 + b"\0" * 5 + b"\xff" * 5
    assert pixels(_reduce(png(20, 3, line * 3))).shape == (3 + 12, 5 + 12)
    bad = {
        "cut": png(20, 3, line * 3)[:-30],
        "a row whose first byte is no filter": png(20, 3, b"\xff" * 63),
        "white": png(20, 3, (b"\0" + b"\xff" * 20) * 3),
        "large": png(50_000, 50_000, line),
        "empty": png(0, 0, b""),
        "GIF": b"GIF89a" + bytes(100),
        "padded": png(20, 3, line * 3) + bytes(1_000_000),
    }
    assert {name: _reduce(file) for name, file in bad.items()} == dict.fromkeys(bad)
    assert pixels(_reduce(png(3000, 100, bytes(3001) * 100))).shape == (
        (100 + 12) * MAX_WIDTH // 3012,
        MAX_WIDTH,
    )
