"""PDFs of page images, as Pillow's own reader of PDFs and its decoder of JPEG see them; and
counting pages.
"""

import io
import re

import numpy as np
import pytest
from PIL import Image, PdfParser

from music_evals.notation.scores.pdf import count_pages, pages_to_pdf


def page(shade, mode="RGBA", size=(140, 70), kind="PNG"):
    """A page of one shade with a black line across its middle."""
    pixels = np.full((size[1], size[0], 3), shade, dtype=np.uint8)
    pixels[size[1] // 2] = 0
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, kind)
    return file.getvalue()


def test_every_page_is_in_the_pdf_in_its_order_and_size():
    shades = (250, 120, 30)
    pdf = pages_to_pdf([page(250), page(120, "L"), page(30, "RGB", (140, 90), "JPEG")])
    assert pdf.startswith(b"%PDF-")
    assert b"Date" not in pdf
    reader = PdfParser.PdfParser(buf=pdf)
    assert len(reader.pages) == count_pages(pdf) == 3
    boxes = [[float(end) for end in reader.read_indirect(ref)[b"MediaBox"]] for ref in reader.pages]
    # A4 is 210 mm wide, 595 points.
    assert [round(width) for _, _, width, _ in boxes] == [595, 595, 595]
    assert [round(height / width, 3) for _, _, width, height in boxes] == [
        0.5,
        0.5,
        round(90 / 140, 3),
    ]
    pictures = re.findall(rb"stream\r?\n(\xff\xd8.*?)\r?\nendstream", pdf, re.DOTALL)
    for picture, shade in zip(pictures, shades, strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("L"), dtype=int)
        assert abs(np.median(pixels) - shade) <= 1
        assert pixels[pixels.shape[0] // 2].max() < 12


def test_the_same_pages_give_the_same_bytes():
    pages = [page(200), page(100)]
    assert pages_to_pdf(pages) == pages_to_pdf(pages)


@pytest.mark.parametrize(
    ("pdf", "count"),
    [
        (
            b"%PDF-1.4\n<< /Type /Pages /Count 2 >> << /Type /Page >>\n<</Type/Page/Parent 1 0 R>>",
            2,
        ),
        (b"", 1),
    ],
)
def test_pages_are_counted(pdf, count):
    assert count_pages(pdf) == count
