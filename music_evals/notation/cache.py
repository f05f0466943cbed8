"""The folder for what can be made again: default datasets, LilyPond's results, embeddings."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return the folder for what is made on this machine: ``MUSIC_EVALS_CACHE``, or the user's cache folder."""
    chosen = os.environ.get("MUSIC_EVALS_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("music-evals")
