"""A score as one PDF: put together from its page images, and taken apart into them."""

import io
import re
from collections.abc import Sequence
from functools import lru_cache

from music_evals.notation.extras import require
from music_evals.notation.pictures import png_of

_A4_INCHES = 8.27  # width
_SCALE = 150 / 72  # pixels per point


def pages_to_pdf(pages: Sequence[bytes]) -> bytes:
    """Put page images together as a PDF with A4's width.

    Pillow puts them in as JPEG. There are no dates in it: the same pages give the same bytes with
    the same version of Pillow.

    Args:
        pages: PNG or JPEG files, at least one.
    """
    from PIL import Image

    first, *others = [Image.open(io.BytesIO(page)).convert("RGB") for page in pages]
    file = io.BytesIO()
    first.save(
        file,
        "PDF",
        save_all=True,
        append_images=others,
        resolution=first.width / _A4_INCHES,
        quality=95,
        creationDate=None,
        modDate=None,
    )
    return file.getvalue()


@lru_cache(maxsize=32)
def pdf_to_pages(pdf: bytes) -> list[bytes]:
    """Return the pages of a PDF as PNG, with 150 dots per inch.

    Raises:
        MissingLibraryError: the extra ``scores`` is not installed.
    """
    pages = require("pypdfium2", "scores").PdfDocument(pdf)
    return [png_of(page.render(scale=_SCALE).to_pil()) for page in pages]


def count_pages(pdf: bytes) -> int:
    """Count the pages of a PDF; one whose objects are compressed counts as one page.

    Example:
        >>> count_pages(b"%PDF-1.4 <</Type /Pages /Count 2>> <</Type /Page>> <</Type/Page>>")
        2
    """
    return max(1, len(re.findall(rb"/Type\s*/Page(?![A-Za-z])", pdf)))
