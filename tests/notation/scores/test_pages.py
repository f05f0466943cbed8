"""Page images: titles, measure numbers, sizes, and text that is laid out as it is drawn."""

import io
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import resvg_py
from PIL import Image, ImageFont

from music_evals.notation.scores.pages import engrave_pages, engrave_svgs, shown_text
from music_evals.notation.scores.preparing import prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import read_corpus

SYLLABLE = re.compile(r'class="syl"><text x="(\d+)" y="(\d+)".*?font-size="(\d\d+)px">(.*?)<')


def musicxml(path, title="", composer=""):
    score = prepare_score(read_corpus(path))
    score.metadata.title = title
    score.metadata.composer = composer
    return score_to_musicxml(score)


CHORALE = musicxml("bach/bwv66.6", "TITLE", "COMPOSER")


def chorale(title="Chorale", composer="Johann Sebastian Bach"):
    return CHORALE.replace("TITLE", title.replace("&", "&amp;")).replace("COMPOSER", composer)


def test_chorale_has_title_and_numbers():
    score = chorale()
    svgs = engrave_svgs(score)
    for number, svg in enumerate(svgs):
        systems = len(re.findall(r'class="system"', svg))
        assert systems
        assert len(re.findall(r'class="mNum', svg)) >= systems - (number == 0)
    pages = engrave_pages(score)
    assert len(pages) == len(svgs)
    image = Image.open(io.BytesIO(pages[0])).convert("L")
    assert image.width == 1400
    assert image.height < 1980, "the page ends below its music"
    darkest, _ = image.crop((0, image.height - 200, 1400, image.height)).getextrema()
    assert darkest < 128
    assert image.getpixel((2, 2)) == 255
    # The letters of title and composer are drawn: others give another page.
    assert (
        len(
            {
                pages[0],
                engrave_pages(chorale("Choral"))[0],
                engrave_pages(chorale(composer="Bach"))[0],
            }
        )
        == 3
    )


def test_text_of_the_first_page():
    title = "Sonata & Fuge, " * 20 + "荒城の月"
    lines = shown_text(chorale(title, "Frédéric Łódź")).split("\n")
    assert " ".join(lines).count("Sonata & Fuge,") == 20
    assert max(map(len, lines)) < 100
    assert {"Frédéric Łódź", "Soprano", "Bass"} <= set(lines)
    assert "月" not in "".join(lines)  # of no font


def test_names_that_music21_makes_up_are_not_shown():
    unnamed = CHORALE.replace(">Soprano<", ">MusicXML Part<")
    credited = unnamed.replace("<part-list>", "<credit><credit-words/></credit><part-list>")
    for text in (shown_text(unnamed), shown_text(credited)):
        assert ("MusicXML" in text, "Tenor" in text) == (False, True)


def test_lyrics_do_not_overprint_each_other(monkeypatch):
    pages = []
    monkeypatch.setattr(resvg_py, "svg_to_bytes", lambda **given: pages.append(given))
    engrave_pages(musicxml("bach/bwv101.7"))
    count = 0
    for page in pages:
        # The widths are those of the font that is drawn.
        fonts = [ImageFont.truetype(file, 1000) for file in page["font_files"]]
        font = next(font for font in fonts if font.getname()[0] == page["font_family"])
        rows = {}
        for x, y, size, text in SYLLABLE.findall(page["svg_string"]):
            left, _, right, _ = font.getbbox(text)
            rows.setdefault(y, []).append(
                (int(x) + left * int(size) / 1000, int(x) + right * int(size) / 1000, text)
            )
        for row in rows.values():
            for (_, end, text), (start, _, following) in pairwise(sorted(row)):
                assert end < start, (text, following)
                count += 1
    assert count > 20


def test_pages_are_the_same_in_another_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(engrave_pages, chorale()).result() == engrave_pages(chorale())
