"""The `music-evals` command: verbs are functions in modules of this package.

`COMMANDS` lists them.
"""

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import click
import typer
from typer.exceptions import TyperException

from music_evals.commands import (
    build,
    cache,
    calibrate_judge,
    check,
    curve,
    doctor,
    export,
    listen,
    listing,
    merge,
    power,
    publish,
    report,
    run,
    subset,
    view,
)
from music_evals.commands.output import errors_in_a_line, failed
from music_evals.notation.cache import limit_bytes
from music_evals.notation.extras import MissingLibraryError

_PASS_ON = {"ignore_unknown_options": True}  # to Inspect
app = typer.Typer(
    name="music-evals",
    help="Benchmarks of music for language models.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.add_typer(build.app, name="build")
app.add_typer(cache.app, name="cache")
COMMANDS: Mapping[str, Callable[..., None]] = {
    "calibrate-judge": calibrate_judge.calibrate_judge,
    "check": check.check,
    "compare": report.compare,
    "curve": curve.curve,
    "doctor": doctor.doctor,
    "export": export.export,
    "list": listing.list_tasks,
    "listen": listen.listen,
    "merge": merge.merge,
    "power": power.power,
    "publish": publish.publish,
    "report": report.report,
    "subset": subset.subset,
    "view": view.view,
}
for name, function in COMMANDS.items():
    app.command(name)(function)
app.command("run", context_settings=_PASS_ON)(run.run)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"music-evals {version('music-evals')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Benchmarks of music for language models."""
    if context.invoked_subcommand != "doctor":  # which reports it among other faults
        with errors_in_a_line():
            limit_bytes()


def main() -> None:
    """Run the command; what goes wrong is one line, with --debug its traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal of ASCII shows "?" for other characters
            stream.reconfigure(errors="replace")
    with_traceback = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        sys.exit(app(standalone_mode=False))
    # Errors of Click as Inspect has it, and of Typer's own copy.
    except (
        click.ClickException,
        TyperException,
    ) as error:
        failed(ValueError(error.format_message()))
        sys.exit(error.exit_code)
    except MissingLibraryError as error:
        sys.exit(failed(error).exit_code)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)
    except Exception as error:
        if with_traceback:
            raise
        text = " ".join(str(error).split())[:400]
        sys.exit(
            failed(
                RuntimeError(f"{type(error).__name__}: {text} (where: the same with --debug)")
            ).exit_code
        )
