"""A cache of vectors: a small file per vector, by a key of what the vector depends on."""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from music_evals.notation.cache import cache_get, cache_put


def content_key(*parts: str) -> str:
    """Return a key for a vector that depends on these texts and on the borders between them.

    Example:
        >>> content_key("encoder", "c4 d e") == content_key("encoderc4", " d e")
        False
    """
    contents = [part.encode() for part in parts]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(content), content) for content in contents)).hexdigest()


def read_vector(folder: Path, key: str, dimension: int) -> NDArray[np.float32] | None:
    """Read the vector of a key, shape (dimension,); None if there is none or the file is damaged."""
    content = cache_get(folder, f"{key[:2]}/{key}.f32", 4 * dimension + 1)
    if content is None or len(content) != 4 * dimension:
        return None
    vector = np.frombuffer(content, "<f4").astype(np.float32)
    return vector if np.isfinite(vector).all() else None


def write_vector(folder: Path, key: str, vector: NDArray[np.float32]) -> None:
    """Write the vector of a key, shape (dimension,), as little-endian 32-bit numbers."""
    cache_put(folder, f"{key[:2]}/{key}.f32", vector.astype("<f4").tobytes())
