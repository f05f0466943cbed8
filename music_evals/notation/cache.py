"""The cache folder: default datasets, fetched files, results of LilyPond, embeddings, renderings of
scores.

Everything in it can be made or fetched again. Except for datasets, old entries are removed when a
folder exceeds its limit. If the cache cannot be read or written, a warning says so once, and the
program works without it.
"""

import hashlib
import logging
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

FOLDERS = ("datasets", "published", "lilypond", "embeddings", "renderings")
"""The folders in the cache."""
LIMIT = "MUSIC_EVALS_CACHE_GB"
"""Environment variable: the most gigabytes of each folder, except for datasets."""

_CHECKSUM_BYTES = 32  # at the beginning of an entry
_GIGABYTES = 5.0
_AFTER_EVICTION = 0.9  # share of the limit that remains in use
_CHECK_EVERY = 0.05  # share of the limit that this process writes between two checks of the size

_written: dict[Path, float] = {}  # folder → bytes since the last check


def cache_folder() -> Path:
    """Return the cache folder: ``MUSIC_EVALS_CACHE``, or the user's cache folder."""
    folder = os.environ.get("MUSIC_EVALS_CACHE")
    return (
        Path(folder).expanduser().absolute()
        if folder
        else platformdirs.user_cache_path("music-evals")
    )


def limit_bytes() -> int:
    """Return the most bytes of a folder, except for datasets; ValueError if `LIMIT` is no
    number.
    """
    value = os.environ.get(LIMIT, "")
    try:
        gigabytes = float(value or _GIGABYTES)
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < float("inf"):
        raise ValueError(f"{LIMIT}={value!r} is no number of gigabytes")
    return int(gigabytes * 1e9)


def cache_get(folder: Path, name: str, max_bytes: int) -> bytes | None:
    """Return an entry; None if it is missing, larger than `max_bytes`, damaged, or not readable."""
    path = folder / name
    try:
        with path.open("rb") as stream:
            checksum, content = stream.read(_CHECKSUM_BYTES), stream.read(max_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_unusable(folder, str(error))
        return None
    with suppress(OSError):  # a cache that is not writable evicts nothing
        os.utime(path)
    return content if len(content) <= max_bytes and checksum == _checksum(content) else None


def cache_put(folder: Path, name: str, content: bytes) -> None:
    """Store an entry if possible; over the limit, the least recently used entries are removed."""
    limit = limit_bytes()
    try:
        write_atomically(folder / name, _checksum(content) + content)
        written = _written.get(folder, limit) + len(content)  # the first entry causes a check
        if written >= _CHECK_EVERY * limit:
            _evict(folder, limit)
            written = 0
        _written[folder] = written
    except OSError as error:
        _warn_unusable(folder, str(error))


def entries(folder: Path) -> list[tuple[float, int, Path]]:
    """List the files below a folder: time of last use in seconds, bytes, and path."""
    files = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # another process has removed it
            status = path.lstat()
            if not path.is_dir():
                files.append((status.st_mtime, status.st_size, path))
    return files


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _evict(folder: Path, limit: int) -> None:
    files = sorted(entries(folder))
    size = sum(count for _, count, _ in files)
    target = _AFTER_EVICTION * limit if size > limit else limit
    for _, count, path in files:
        if size > target:
            path.unlink(missing_ok=True)
            size -= count


@cache
def _warn_unusable(folder: Path, reason: str) -> None:
    logging.getLogger(__name__).warning(f"the cache {folder} is not used: {reason}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file of the cache, and its folder; other processes never see an incomplete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
