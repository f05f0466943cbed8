"""The `music-evals` command: every verb is a module of this package."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from music_evals.commands import (
    attack,
    build,
    cache,
    doctor,
    finetune,
    finetune_data,
    leaderboard,
    listing,
    merge,
    publish,
    publish_results,
    report,
    run,
)
from music_evals.commands.output import failed
from music_evals.notation.extras import MissingLibraryError

app = typer.Typer(
    name="music-evals",
    help="Benchmarks of music for language models.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.add_typer(build.app, name="build")
app.add_typer(cache.app, name="cache")
app.command("attack")(attack.attack)
app.command("doctor")(doctor.doctor)
app.command("finetune-data")(finetune_data.finetune_data)
app.command("finetune")(finetune.finetune)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("list")(listing.list_tasks)
app.command("merge")(merge.merge)
app.command("publish")(publish.publish)
app.command("publish-results")(publish_results.publish_results)
app.command("run")(run.run)
app.command("grid", help="Run every condition of benchmarks or tasks on a model: `run` with --grid.")(run.run)
app.command("report")(report.report)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"music-evals {version('music-evals')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Benchmarks of music for language models."""


def main() -> None:
    """Run the command; a library that is missing is named in one line."""
    try:
        app()
    except MissingLibraryError as error:
        sys.exit(failed(error).exit_code)
