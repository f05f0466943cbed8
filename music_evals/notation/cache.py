"""The folder for what can be made again: default datasets, LilyPond's results, embeddings, renderings of scores.

All but datasets are kept as long as there is room. Where they cannot be read or written, they are made anew, and
that is said once.
"""

import logging
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import platformdirs

FOLDERS: Final = ("datasets", "lilypond", "embeddings", "renderings")
"""What the cache's folder holds."""
LIMIT: Final = "MUSIC_EVALS_CACHE_GB"
"""The variable of the environment that says how many gigabytes each of these may have, but for datasets."""

_GIGABYTES: Final = 5.0
_LEFT: Final = 0.9  # of the limit, after the entries that were not used for longest have gone
_LOOK_EVERY: Final = 0.05  # of the limit, written by this process between two looks at the size

_written: dict[Path, float] = {}  # bytes since the last look, by folder


def cache_folder() -> Path:
    """Return the folder for what is made on this machine: ``MUSIC_EVALS_CACHE``, or the user's cache folder."""
    chosen = os.environ.get("MUSIC_EVALS_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("music-evals")


def limit_bytes() -> int:
    """Return how many bytes LilyPond's results, and embeddings, may have; ValueError where `LIMIT` is no number."""
    given = os.environ.get(LIMIT, "")
    try:
        gigabytes = float(given or _GIGABYTES)
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < float("inf"):
        raise ValueError(f"{LIMIT}={given!r} is no number of gigabytes")
    return int(gigabytes * 1e9)


def cache_get(folder: Path, name: str, most: int) -> bytes | None:
    """Return the content of an entry, its first `most` bytes; None where there is none, or none can be read."""
    path = folder / name
    try:
        with path.open("rb") as stream:
            content = stream.read(most)
    except FileNotFoundError:
        return None
    except OSError as error:
        _say_unusable(folder, str(error))
        return None
    with suppress(OSError):  # where nothing can be written, nothing is evicted either
        os.utime(path)
    return content


def cache_put(folder: Path, name: str, content: bytes) -> None:
    """Keep an entry, if it can be written; over the limit, those that were not used for longest are removed."""
    limit = limit_bytes()
    try:
        write_whole(folder / name, content)
        written = _written.get(folder, limit) + len(content)  # so that the first one looks
        if written >= _LOOK_EVERY * limit:
            _evict(folder, limit)
            written = 0
        _written[folder] = written
    except OSError as error:
        _say_unusable(folder, str(error))


def entries(folder: Path) -> list[tuple[float, int, Path]]:
    """List the files below a folder: when each was last used, in seconds, its bytes, and its path."""
    found = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # somebody else has removed it
            status = path.lstat()
            if not path.is_dir():
                found.append((status.st_mtime, status.st_size, path))
    return found


def _evict(folder: Path, limit: int) -> None:
    found = sorted(entries(folder))
    size = sum(count for _, count, _ in found)
    if size <= limit:
        return
    for _, count, path in found:
        if size <= _LEFT * limit:
            break
        path.unlink(missing_ok=True)
        size -= count


@cache
def _say_unusable(folder: Path, why: str) -> None:
    logging.getLogger(__name__).warning(f"the cache {folder} is not used: {why}")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of the cache, and its folder; nobody ever sees half of it, whatever ends this process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
        os.replace(part, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise
