"""Pictures that strangers made: checked by their headers, without unpacking them."""

import io
import warnings

FORMATS = ("PNG", "JPEG", "WEBP")


def check_picture(data: bytes) -> None:
    """Check the format and the size of a picture; ValueError says what is wrong with it."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            Image.open(io.BytesIO(data), formats=FORMATS).close()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(
            f"it has over {Image.MAX_IMAGE_PIXELS:,} pixels, which is the most"
        ) from error
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise ValueError("it is no PNG, JPEG or WebP") from error
