"""Pictures that strangers made: checked by their headers, without unpacking them; the pictures of
GIFs become PNG, which servers take.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP")
_GIF = (b"GIF87a", b"GIF89a")


def check_picture(data: bytes) -> None:
    """Check the format and the size of a picture; ValueError says what is wrong with it.

    Of a PDF only how it begins is checked.
    """
    if not data.startswith(b"%PDF"):
        with _opened(data, FORMATS):
            pass


def as_sendable(data: bytes) -> bytes:
    """Return the first picture of a GIF as PNG, whatever the name of its file; all other data as it
    is.

    ValueError says what is wrong with a GIF.
    """
    if not data.startswith(_GIF):
        return data
    with _opened(data, ("GIF",)) as picture:
        return png_of(picture.convert("RGBA"))


def png_of(picture: "Image", **options: int) -> bytes:
    """Return a picture as PNG; `options` are those of Pillow."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", **options)
    return buffer.getvalue()


@contextmanager
def _opened(data: bytes, formats: tuple[str, ...]) -> Iterator["Image"]:
    """Open a picture; an error of the library within the block becomes a ValueError."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=formats) as picture:
                yield picture
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(
            f"it has over {Image.MAX_IMAGE_PIXELS:,} pixels, which is the most"
        ) from error
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise ValueError("it is no PNG, JPEG or WebP") from error
