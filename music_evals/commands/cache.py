"""`music-evals cache`: what was made on this machine and can be made again."""

import shutil

import typer
from rich.console import Console

from music_evals.commands.output import failed, say
from music_evals.notation.cache import FOLDERS, cache_folder, entries

app = typer.Typer(help="Default datasets, LilyPond's results and embeddings that are kept.", no_args_is_help=True)


@app.callback()
def cache() -> None:
    """Default datasets, LilyPond's results and embeddings that are kept."""


@app.command()
def clear() -> None:
    """Remove what is kept; all of it is made again when it is needed. `music-evals doctor` says where it lies."""
    root = cache_folder()
    size = sum(count for name in FOLDERS for _, count, _ in entries(root / name))
    try:
        for name in FOLDERS:
            if (root / name).exists():
                shutil.rmtree(root / name)
    except OSError as error:
        raise failed(error) from error
    say(Console(), f"Removed {size / 1e6:,.1f} MB from {root}")
