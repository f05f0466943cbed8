"""A score as page images: engraved by verovio, drawn by resvg.

The pages need no fonts of the system. verovio has the signs of music, and lays out text by the
widths of Times. Text is drawn in STIX General, whose letters have these widths, and in DejaVu Serif
where STIX lacks a letter. Both fonts come with matplotlib. Letters that neither font has are not
drawn, and `shown_text` leaves them out.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

from music_evals.notation.extras import require
from music_evals.notation.scores.preparing import NO_NAME, ScoreError

# A staff is then about 29 pixels high, so that accidentals and ledger lines are legible. The width
# stays below the 1,568 pixels to which several models scale images down.
_WIDTH = 1400
_SCALE = 60  # percent of verovio's own size

_LINE = 90  # letters in a line of title or composer
_FONT = "STIXGeneral"
_FILES = (
    "STIXGeneral.ttf",
    "STIXGeneralBol.ttf",
    "STIXGeneralItalic.ttf",
    "STIXGeneralBolIta.ttf",
    "DejaVuSerif.ttf",
    "DejaVuSerif-Bold.ttf",
    "DejaVuSerif-Italic.ttf",
    "DejaVuSerif-BoldItalic.ttf",
)
# Code points of SMuFL.
_TEXT_SIGNS = {
    "\ueca3": "half note",
    "\ueca5": "\u2669",
    "\ueca7": "\u266a",
    "\uecb7": ".",
}


def engrave_pages(musicxml: str) -> list[bytes]:
    """Engrave a score as PNG pages on white: A4, cut off below the last system.

    The first page has the title and the composer. Every system has the number of its first measure,
    unless that is 1. The same score gives the same bytes with the same versions of verovio and
    resvg.

    Args:
        musicxml: the score.

    Raises:
        ScoreError: verovio reads no music from the score.
        MissingLibraryError: verovio or resvg_py is not installed.
    """
    resvg, fonts = require("resvg_py", "scores"), _font_files()
    return [
        resvg.svg_to_bytes(
            svg_string=svg,
            width=_WIDTH,
            background="white",
            skip_system_fonts=True,
            font_files=fonts,
            font_family=_FONT,
            serif_family=_FONT,
        )
        for svg in engrave_svgs(musicxml)
    ]


def engrave_svgs(musicxml: str) -> list[str]:
    """Engrave a score as the SVG pages that `engrave_pages` draws."""
    tool = open_verovio(
        _add_credits(musicxml),
        {
            "pageWidth": 2100,  # verovio's units, tenths of a millimetre: A4
            "pageHeight": 2970,
            "pageMarginTop": 100,
            "pageMarginBottom": 100,
            "pageMarginLeft": 100,
            "pageMarginRight": 100,
            "scale": _SCALE,
            "scaleToPageSize": True,
            "adjustPageHeight": True,  # a page ends below its last system
            "breaks": "auto",
            "header": "encoded",
            "footer": "none",
            "mnumInterval": 0,  # measure numbers at the start of every system
            "svgViewBox": True,
            "svgFormatRaw": True,  # else white space within text is drawn
            "xmlIdChecksum": True,  # else ids are random
        },
    )
    svgs = [_for_resvg(tool.renderToSVG(page)) for page in range(1, tool.getPageCount() + 1)]
    if not any('class="note"' in svg or 'class="rest"' in svg for svg in svgs):
        raise ScoreError("verovio reads no music from the score")
    return svgs


def open_verovio(musicxml: str, options: Mapping[str, Any]) -> Any:
    """Return a toolkit of verovio with a score; ScoreError if verovio reads no music from it."""
    verovio = require("verovio", "scores")
    verovio.enableLog(verovio.LOG_OFF)
    # verovio keeps the place of its fonts per thread, and sets it in the thread that imports it.
    verovio.setDefaultResourcePath(str(Path(verovio.__file__).parent / "data"))
    tool = verovio.toolkit()
    tool.setOptions(options)
    if not tool.loadData(musicxml):
        raise ScoreError("verovio reads no music from the score")
    return tool


def shown_text(musicxml: str) -> str:
    """Return the text on the first page, such as title, composer, part names and tempo.

    Letters that no font has are left out, as on the page. Errors are those of `engrave_pages`.
    """
    page = ElementTree.fromstring(engrave_svgs(musicxml)[0])
    texts = [
        " ".join("".join(text.itertext()).split())
        for text in page.iter("{http://www.w3.org/2000/svg}text")
    ]
    letters = _letters()
    return "\n".join("".join(letter for letter in text if ord(letter) in letters) for text in texts)


@cache
def _letters() -> frozenset[int]:
    """Unicode numbers of the letters in the fonts."""
    from matplotlib.ft2font import FT2Font

    return frozenset(code for file in _font_files() for code in FT2Font(file).get_charmap())


def _add_credits(musicxml: str) -> str:
    """Leave out made-up names of parts, and add credits if there are none: verovio engraves only
    the title itself.
    """
    try:
        root = ElementTree.fromstring(musicxml)
    except ElementTree.ParseError as error:
        raise ScoreError(f"the score is no well-formed MusicXML ({error})") from error
    for part in root.iterfind("part-list/score-part"):
        for name in part.findall("*"):
            if (name.text or "").strip() == NO_NAME:
                name.text = None
    parts = root.find("part-list")
    if parts is not None and root.find("credit") is None:
        place = list(root).index(parts)
        root[place:place] = _credits(root)
    return ElementTree.tostring(root, encoding="unicode")


def _credits(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    title = root.findtext("work/work-title") or root.findtext("movement-title") or ""
    composer = root.findtext("identification/creator[@type='composer']") or ""
    for text, style in (
        (title, {"justify": "center", "valign": "top", "font-weight": "bold"}),
        (composer, {"justify": "right", "valign": "bottom"}),
    ):
        for line in wrap(text, _LINE):
            credit = ElementTree.Element("credit", page="1")
            ElementTree.SubElement(credit, "credit-words", style).text = line
            yield credit


def _for_resvg(svg: str) -> str:
    """Replace elements that resvg draws wrongly or has no font for.

    resvg shifts text that contains a ``<title>``, a tool tip. verovio has its font for signs of
    music within text, such as the note before a tempo, only in a form for browsers: text signs
    replace them.
    """
    svg = re.sub(r"<title[^>]*>[^<]*</title>", "", svg)
    svg = re.sub(
        r'font-family="(?:Leipzig|Times)[^"]*" font-size="720px"',
        f'font-family="{_FONT}" font-size="500px"',
        svg,
    )
    return re.sub("[\ue000-\uf8ff]", lambda sign: _TEXT_SIGNS.get(sign.group(), ""), svg)


def _font_files() -> list[str]:
    from importlib.util import find_spec

    # This is much faster than importing matplotlib.
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise ScoreError("text on the pages needs the fonts of matplotlib, which is not installed")
    folder = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder / name) for name in _FILES]
