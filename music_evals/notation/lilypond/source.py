"""LilyPond files on disk: their size and their encodings."""

from contextlib import suppress
from pathlib import Path

MAX_BYTES = 4_000_000  # of a file


class SourceError(ValueError):
    """A file cannot be read."""


def decode(data: bytes) -> str:
    """Return the text of a file in UTF-8, UTF-16, Windows-1252 or Latin-1, with line feeds and no
    byte-order mark.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        for encoding in ("utf-8-sig", "cp1252", "latin-1"):  # the last one decodes any bytes
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                break
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path) -> str:
    """Return the text of a LilyPond file, decoded; SourceError if it cannot be read or is larger
    than `MAX_BYTES`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path.name} is larger than {MAX_BYTES:,} bytes")
    return decode(data)
