"""`music-evals view`: Inspect's viewer, also where no command `inspect` is, as under uvx."""

from typing import Annotated

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line


def view(
    logs: Annotated[
        str, Argument(help="A folder of logs, or its address.", envvar="INSPECT_LOG_DIR")
    ] = "logs",
    port: Annotated[int, Option(help="Port of the viewer on 127.0.0.1.", min=1, max=65535)] = 7575,
) -> None:
    """Show each question, reply and score in Inspect's viewer, a page in the browser; Ctrl-C ends
    it.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from inspect_ai import view as inspect_view
    from inspect_ai.log import list_eval_logs

    with errors_in_a_line():
        if not list_eval_logs(logs):
            raise ValueError(f"{logs} is no folder with logs of Inspect (.eval)")
    inspect_view(log_dir=logs, port=port)
