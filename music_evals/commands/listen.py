"""`music-evals listen`: a person answers the questions of a task on a local page; the result is a
log as a model's.
"""

import webbrowser
from pathlib import Path
from secrets import token_urlsafe
from socket import create_server, socket
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from music_evals import benchmarks
from music_evals.commands.output import TaskArguments, errors_in_a_line, path_of, plain_name, say
from music_evals.commands.run import conditions, folder_problem, parse_arguments, show_scores

if TYPE_CHECKING:
    from music_evals.listening.session import Session

OpenPage = Annotated[bool, Option("--open/--no-open", help="Open the page in a browser.")]
Port = Annotated[int, Option(help="Port of the page on 127.0.0.1.", min=1, max=65535)]
# Scorers of tasks that a person can answer.
_SCORERS = (
    "final_answer",
    "strict_choice",
    "lettered_choice",
)


def listen(
    task: Annotated[str, Argument(help="A task: muse_ten_oddball, or as `inspect eval` takes it.")],
    name: Annotated[str, Option(help="Name of the person; the model in the log is human/NAME.")],
    task_arg: TaskArguments = None,
    limit: Annotated[
        int | None, Option(help="Only the first questions of the task.", min=1)
    ] = None,
    log_dir: Annotated[
        str, Option(help="Folder of the logs, and of the file with the answers.")
    ] = "logs",
    port: Port = 7577,
    open_page: OpenPage = True,
) -> None:
    """Ask a person the questions of a task on a local page; the log has the model human/NAME.
    Repeat it to go on.
    """
    facts = _task_named(task)
    # Here, so that `music-evals --help` need not wait for Inspect.
    from inspect_ai.model import get_model

    from music_evals.evals.registry import defaults_of
    from music_evals.listening.session import open_session
    from music_evals.solvers.abilities import made_for

    arguments = parse_arguments(task_arg, "-T")
    if "modality" in defaults_of(facts.benchmark, facts.name):
        arguments = {"modality": "audio", **arguments}
    with errors_in_a_line():
        if "://" in log_dir:
            raise ValueError(f"{log_dir} is not a folder of this machine")
        if problem := folder_problem(log_dir):
            raise ValueError(problem)
        model = get_model(f"human/{name}", memoize=False)
        with made_for(model):
            ((_, inspect_task),) = conditions([(facts, {})], arguments, {}, grid=False)
        session = open_session(inspect_task, model, Path(log_dir).expanduser(), limit)
        ask_person(session, port, open_page)
        log = session.write_log()
        show_scores(log.location, limit)
        say(f"Log: {path_of(log.location)}")
        if session.unanswered:
            say(
                f"{len(session.unanswered)} questions are not answered; the same command goes on "
                "with them."
            )


def ask_person(session: "Session", port: int, open_page: bool) -> None:
    """Show the questions of a session on its page until all are answered, or until Ctrl-C.

    ValueError: none is answered then, or the port cannot be used.
    """
    from music_evals.listening.page import HOST, serve

    total = len(session.samples)
    say(f"{total - len(session.unanswered)} of {total} questions are answered, in {session.path}")
    if session.unanswered:
        shown, opened = token_urlsafe(12), token_urlsafe(12)
        with _listener(HOST, port) as listener:
            say(f"Open http://{HOST}:{port}/{shown} (Ctrl-C: stop and write the log)")
            door = session.path.with_suffix(".html")
            try:
                if open_page:
                    _open_browser(door, f"http://{HOST}:{port}/{opened}")
                serve(session, listener, {shown, opened})
            finally:
                door.unlink(missing_ok=True)
    if len(session.unanswered) == total:
        raise ValueError("no question was answered, so there is no log")


def _open_browser(door: Path, address: str) -> None:
    """Open an address by a file that only its owner can read: all users of a machine can read a
    browser's command line.
    """
    door.unlink(missing_ok=True)
    door.touch(0o600, exist_ok=False)
    door.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    webbrowser.open(door.resolve().as_uri())


def _listener(host: str, port: int) -> socket:
    try:
        return create_server((host, port))
    except OSError as error:
        raise ValueError(
            f"port {port} cannot be used: {error.strerror}; take another --port"
        ) from None


def _task_named(name: str) -> benchmarks.TaskFacts:
    """The task of a name; BadParameter with the names of all tasks that a person can be asked."""
    tasks = [task for task in benchmarks.all_tasks() if task.metric.partition("/")[0] in _SCORERS]
    short = plain_name(name)
    named = []
    for task in tasks:
        if short in (task.registry_name, f"{task.benchmark}_{task.name}"):
            return task
        # Several tasks may have these names; those of `muse_ten` can be called muse_oddball, too.
        family = task.benchmark.partition("_")[0]
        if short in (task.benchmark, task.name, f"{family}_{task.name}"):
            named.append(task)
    if len(named) == 1:
        return named[0]
    accepted = ", ".join(task.registry_name for task in named or tasks)
    raise BadParameter(f"{name} is not one task that a person can answer; accepted: {accepted}")
