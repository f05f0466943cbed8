"""The folder for what can be made again: default datasets, LilyPond's results, embeddings."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return the folder for what is made on this machine: ``MUSIC_EVALS_CACHE``, or the user's cache folder."""
    chosen = os.environ.get("MUSIC_EVALS_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("music-evals")


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
