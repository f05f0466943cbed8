"""Page images: titles, measure numbers and sizes."""

import io
import re

from music21 import corpus
from PIL import Image

from music_evals.notation.pages import engrave_pages, engrave_svgs
from music_evals.notation.score_file import prepare_score, score_to_musicxml


def test_chorale_has_title_and_numbers() -> None:
    score = prepare_score(corpus.parse("corelli/opus3no1/1grave"))
    score.metadata.title = "Grave"
    musicxml = score_to_musicxml(score)
    svgs = engrave_svgs(musicxml)
    for number, svg in enumerate(svgs):
        systems = len(re.findall(r'class="system"', svg))
        assert systems
        assert len(re.findall(r'class="mNum', svg)) >= systems - (number == 0)
    pages = engrave_pages(musicxml)
    assert len(pages) == len(svgs)
    image = Image.open(io.BytesIO(pages[0])).convert("L")
    assert image.size == (1400, 1980)
    assert image.getpixel((2, 2)) == 255
    # The title stands in the middle of the top.
    top = image.crop((560, 0, 840, 100))
    assert top.getextrema()[0] < 100
