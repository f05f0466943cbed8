"""`music-evals listen`: a person answers the questions of a task on a local page; the result is a log as a model's."""

import webbrowser
from inspect import signature, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer
from rich.console import Console

from music_evals import benchmarks
from music_evals.commands.output import failed, path_of, say
from music_evals.commands.run import conditions, folder_problem, parse_argument, show_scores

if TYPE_CHECKING:
    from music_evals.benchmarks import TaskFacts


def listen(
    task: Annotated[str, typer.Argument(help="A task: muse_ten_oddball, or as `inspect eval` takes it.")],
    name: Annotated[str, typer.Option(help="Name of the person; the model in the log is human/NAME.")],
    task_arg: Annotated[list[str] | None, typer.Option("-T", help="Parameter of the task, as name=value.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first questions of the task.", min=1)] = None,
    log_dir: Annotated[str, typer.Option(help="Folder of the logs, and of the file with the answers.")] = "logs",
    port: Annotated[int, typer.Option(help="Port of the page on 127.0.0.1; 0 for any.", min=0, max=65535)] = 7577,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    """Ask a person the questions of a task, on a local page with sound, and write a log with the model human/NAME.

    Each answer is kept at once; the same command goes on where it stopped.
    """
    facts, function = _task_named(task)
    arguments = dict(parse_argument(text, "-T") for text in task_arg or [])
    if "modality" in signature(function).parameters:
        arguments = {"modality": "audio", **arguments}
    # Here, so that `music-evals --help` need not wait for Inspect.
    from inspect_ai.model import get_model

    from music_evals.listening.page import serve
    from music_evals.listening.session import open_session
    from music_evals.solvers.abilities import made_for

    try:
        if problem := f"{log_dir} is not a folder of this machine" if "://" in log_dir else folder_problem(log_dir):
            raise ValueError(problem)
        model = get_model(f"human/{name}", memoize=False)
        with made_for(model):
            ((_, made),) = conditions([facts], arguments, {}, grid=False)
        session = open_session(made, model, Path(log_dir).expanduser(), limit)
        console, total = Console(), len(session.samples)
        say(console, f"{facts.registry_name}: {total - len(session.unanswered)} of {total} questions are answered.")
        say(console, f"Answers: {session.path}")

        def announce(address: str) -> None:
            say(console, f"Open {address} (Ctrl-C: stop and write the log)")
            if open_page:
                webbrowser.open(address)

        if session.unanswered:
            try:
                serve(session, port, announce)
            except OSError as error:
                raise ValueError(f"port {port} cannot be used: {error.strerror}; take another --port") from None
        if len(session.unanswered) == total:
            raise ValueError("no question was answered, so there is no log")
        log = session.write_log()
        if log.status != "success":
            raise ValueError(f"the log ended with the status {log.status}; the answers are kept in {session.path}")
        show_scores(log.location, limit)
        say(console, f"Log: {path_of(log.location)}")
        if session.unanswered:
            say(console, f"{len(session.unanswered)} questions are not answered; the same command goes on with them.")
    except (ValueError, OSError) as error:
        raise failed(error) from None


def _task_named(name: str) -> "tuple[TaskFacts, object]":
    """The task of a name, and its function; BadParameter with the names of all tasks that a person can be asked."""
    from music_evals.evals.muse import TrialParameters
    from music_evals.evals.questions import QuestionParameters, QuestionSetParameters
    from music_evals.evals.registry import MODULES
    from music_evals.evals.ziqi import ZiqiParameters

    kinds = (TrialParameters, QuestionParameters, QuestionSetParameters, ZiqiParameters)
    known = [facts for benchmark in benchmarks.names() for facts in benchmarks.load(benchmark).tasks.values()]
    functions = {facts: getattr(MODULES[facts.benchmark], facts.name) for facts in known}
    tasks = [task for task in known if issubclass(get_type_hints(unwrap(functions[task]))["params"], kinds)]
    short = name.removeprefix("music_evals/").removeprefix("evals/").replace(".py@", "_").removesuffix(".py")
    # The tasks of `muse_ten` can be called muse_oddball as well.
    named = [task for task in tasks if short in (task.registry_name, f"{task.benchmark}_{task.name}")] or [
        task for task in tasks if short in (task.benchmark, task.name, f"{task.benchmark.split('_')[0]}_{task.name}")
    ]
    if len(named) == 1:
        return named[0], functions[named[0]]
    accepted = ", ".join(task.registry_name for task in named or tasks)
    raise typer.BadParameter(f"{name} is not one task that a person can answer; accepted: {accepted}")
