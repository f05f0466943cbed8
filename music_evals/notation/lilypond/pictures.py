"""Pictures of the first system, or the first few systems, of a text's first score.

LilyPond draws them in the sandbox, in a run of its own (`settings/first_system.ly`), so they do not
change what a text compiles to. The picture file comes from an untrusted program and is checked
before it is decoded.
"""

import io
from typing import Unpack

from music_evals.notation.lilypond.compiler import Running, compile_text
from music_evals.notation.pictures import png_of
from music_evals.notation.toml_files import read_resource

MAX_WIDTH = 1000  # pixels; wider pictures are scaled down

_FILE = "system.png"
_MAX_BYTES = 1_000_000
_MAX_SIZE = (4000, 2000)
_PAGE = 140  # height in staff spaces; a staff has four
_MARGIN = 6  # pixels of white around the ink
_GREYS = 4


class PictureError(ValueError):
    """LilyPond makes no picture of a text."""


def first_system(text: str, **options: Unpack[Running]) -> bytes:
    """Engrave the first system of a text's first score; arguments, result and errors as for
    `opening`.
    """
    return _engrave(text, 12, 0, **options)


def opening(text: str, **options: Unpack[Running]) -> bytes:
    """Engrave about a page of a text's first score, at most its first 64 whole notes.

    Returns a PNG in four shades of grey, at most `MAX_WIDTH` pixels wide. A staff is about 27
    pixels high. PictureError says why there is none: LilyPond draws nothing, fails, or makes a file
    that is no such picture.
    """
    return _engrave(text, 64, _PAGE, **options)


def _engrave(text: str, whole_notes: int, room: int, **options: Unpack[Running]) -> bytes:
    extent = f"#(define notes-wanted {whole_notes})\n#(define room-wanted {room})\n"
    settings = extent + read_resource(__package__, "settings/first_system.ly")
    compiled = compile_text(text, settings=settings, collect=[_FILE], **options)
    if _FILE not in compiled.files:
        raise PictureError(compiled.problem or "LilyPond draws nothing")
    picture = _reduce(compiled.files[_FILE])
    if picture is None:
        raise PictureError("LilyPond's file is empty, too large or no PNG")
    return picture


def _reduce(png: bytes) -> bytes | None:
    """Crop LilyPond's picture to its ink and reduce its size and colours; None if it is empty, too
    large or no PNG.
    """
    from PIL import Image, ImageOps

    if len(png) > _MAX_BYTES:
        return None
    try:
        # This decodes nothing but the size.
        with Image.open(io.BytesIO(png), formats=["PNG"]) as file:
            if file.width > _MAX_SIZE[0] or file.height > _MAX_SIZE[1]:
                return None
            drawn = file.convert("RGBA")
    # Pillow passes on all errors of its readers: IndexError, struct.error, zlib.error and more.
    except Exception:
        return None
    grey = Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn).convert("L")
    # All that will not be white.
    ink = grey.point([level < 256 - 256 // _GREYS for level in range(256)]).getbbox()
    if ink is None:
        return None
    grey = ImageOps.expand(grey.crop(ink), _MARGIN, fill=255)
    if grey.width > MAX_WIDTH:
        grey = grey.resize(
            (MAX_WIDTH, max(1, grey.height * MAX_WIDTH // grey.width)), Image.Resampling.LANCZOS
        )
    shades = grey.point([level * _GREYS // 256 for level in range(256)], "L").convert("P")
    shades.putpalette([shade * 255 // (_GREYS - 1) for shade in range(_GREYS) for _ in "RGB"])
    return png_of(shades, optimize=True, bits=2)
