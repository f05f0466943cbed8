"""`music-evals view`: Inspect's viewer, also where no command `inspect` is, as under uvx."""

import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, listener, say

_HOST = "127.0.0.1"


def view(
    logs: Annotated[str, Argument(help="A folder of logs or a log, or its address.")] = "logs",
    port: Annotated[int, Option(help="Port of the viewer on 127.0.0.1.", min=1, max=65535)] = 7575,
    open_page: Annotated[
        bool, Option("--open/--no-open", help="Open the viewer in a browser.")
    ] = True,
) -> None:
    """Show each question, reply and score of logs in Inspect's viewer; Ctrl-C ends it."""
    # Here, so that `music-evals --help` need not wait for Inspect.
    import fsspec
    from inspect_ai import view as inspect_view
    from inspect_ai.log import list_eval_logs

    with errors_in_a_line():
        files, path = fsspec.core.url_to_fs(logs)
        if not files.exists(path):
            raise ValueError(f"{logs} does not exist; `music-evals run` prints the folder of a run")
        if not list_eval_logs(logs):
            raise ValueError(f"{logs} holds no log of Inspect (.eval)")
        listener(_HOST, port).close()
    folder = logs if files.isdir(path) else str(Path(logs).parent)
    address = f"http://{_HOST}:{port}"
    say(f"{address} shows {folder} (Ctrl-C ends it)")
    if open_page:
        Timer(1, webbrowser.open, [address]).start()  # by then the viewer answers
    inspect_view(log_dir=folder, host=_HOST, port=port)
