"""`music-evals cache`: datasets and results that can be made or fetched again."""

import shutil

import typer

from music_evals.commands.output import errors_in_a_line, say
from music_evals.notation.cache import FOLDERS, cache_folder, entries

app = typer.Typer(
    help="The cache of datasets, fetched ones too, LilyPond's results and embeddings.",
    no_args_is_help=True,
)


@app.callback()
def cache() -> None:
    """The cache of datasets, fetched ones too, LilyPond's results and embeddings."""


@app.command()
def clear() -> None:
    """Empty the cache; its content is made or fetched again when needed. `music-evals doctor` says
    where the cache is.
    """
    root = cache_folder()
    size = sum(count for name in FOLDERS for _, count, _ in entries(root / name))
    with errors_in_a_line():
        for name in FOLDERS:
            if (root / name).exists():
                shutil.rmtree(root / name)
    say(f"Removed {size / 1e6:,.1f} MB from {root}")
