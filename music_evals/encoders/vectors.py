"""Vectors kept by content: one small file each, in a folder for what can be computed again."""

import hashlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from music_evals.notation.cache import cache_get, cache_put


def content_key(*parts: str) -> str:
    """Return a key for a vector that depends on these texts, which UTF-8 can write, and on their borders.

    Example:
        >>> content_key("encoder", "c4 d e") == content_key("encoderc4", " d e")
        False
    """
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode()
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()


def read_vector(folder: Path, key: str, dimension: int) -> NDArray[np.float32] | None:
    """Read the vector that `write_vector` kept under a key; None if there is none of this length, or it is damaged."""
    blank = _as_file(np.zeros(dimension, np.float32))
    header = blank[: -4 * dimension]
    content = cache_get(folder, _name(key), len(blank) + 1)
    # All vectors of one length have the same header, so that none needs to be parsed.
    if content is None or len(content) != len(blank) or not content.startswith(header):
        return None
    vector = np.frombuffer(content, "<f4", offset=len(header)).astype(np.float32)
    return vector if np.isfinite(vector).all() else None


def write_vector(folder: Path, key: str, vector: NDArray[np.float32]) -> None:
    """Keep a vector, shape (d,), under a key of `content_key`, as a ``.npy`` file."""
    cache_put(folder, _name(key), _as_file(vector))


def _name(key: str) -> str:
    return f"{key[:2]}/{key}.npy"


def _as_file(vector: NDArray[np.float32]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vector.astype("<f4"), allow_pickle=False)
    return stream.getvalue()
