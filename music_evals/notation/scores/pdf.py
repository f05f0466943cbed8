"""A score as one PDF: put together from its page images; and how many pages a PDF has."""

import io
import re
import zlib
from collections.abc import Sequence
from typing import Final

_A4_INCHES: Final = 8.27  # width
_QUALITY: Final = 95  # of JPEG, as which Pillow puts pictures in a PDF
_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_MOST: Final = 1 << 26  # bytes that a compressed stream may unpack to


def is_pdf(data: object) -> bool:
    """Whether a value is the content of a PDF file, which begins within its first 1,024 bytes."""
    return isinstance(data, bytes) and b"%PDF-" in data[:1024]


def pages_to_pdf(pages: Sequence[bytes]) -> bytes:
    """Put page images together as a PDF with A4's width, on white.

    There are no dates in it: the same pages give the same bytes with the same version of Pillow.

    Args:
        pages: PNG or JPEG files, at least one.
    """
    from PIL import Image

    images = []
    for page in pages:
        image = Image.open(io.BytesIO(page)).convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        images.append(Image.alpha_composite(white, image).convert("RGB"))
    first, *others = images
    file = io.BytesIO()
    first.save(
        file,
        "PDF",
        save_all=True,
        append_images=others,
        resolution=first.width / _A4_INCHES,
        quality=_QUALITY,
        creationDate=None,
        modDate=None,
    )
    return file.getvalue()


def count_pages(pdf: bytes) -> int:
    """Count the pages of a PDF, also where its objects are in compressed streams; at least 1.

    Example:
        >>> count_pages(b"%PDF-1.4 1 0 obj <</Type /Pages /Count 2>> <</Type /Page>> <</Type/Page>>")
        2
    """
    objects = [pdf]
    for entry in pdf.split(b"endstream"):
        head, _, data = entry.partition(b"stream")
        if b"/ObjStm" in head:
            objects.append(_unpacked(data.lstrip(b"\r\n")))
    return max(1, sum(len(_PAGE.findall(text)) for text in objects))


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _MOST)
    except zlib.error:
        return b""
