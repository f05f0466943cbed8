"""Pictures are checked by their headers."""

import io
import struct
from zlib import crc32

import pytest
from PIL import Image

from music_evals.notation.pictures import as_sendable, check_picture


def picture(form):
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20)).save(buffer, form)
    return buffer.getvalue()


def png_of(width, height):
    """The beginning of a PNG file with one bit per pixel."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", crc32(header))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk
        + struct.pack(">I", 0)
        + b"IDAT"
        + struct.pack(">I", crc32(b"IDAT"))
    )


def problem_with(data):
    try:
        check_picture(data)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (png_of(50_000, 50_000), "pixels"),
        (png_of(10_000, 10_000), "pixels"),
        (picture("GIF"), "it is no PNG, JPEG or WebP"),
        (b"\x89PNG\r\n\x1a\n", "it is no PNG, JPEG or WebP"),
        (b"", "it is no PNG, JPEG or WebP"),
    ],
)
def test_other_files_are_refused(data, problem):
    assert problem in problem_with(data)


def test_a_gif_that_is_damaged_or_too_large_is_refused():
    with pytest.raises(ValueError, match="it is no PNG, JPEG or WebP"):
        as_sendable(picture("GIF")[:20])
    huge = b"GIF89a" + struct.pack("<HH", 65_000, 65_000) + picture("GIF")[10:]
    with pytest.raises(ValueError, match="pixels"):
        as_sendable(huge)
