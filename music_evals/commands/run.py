"""`music-evals run` and `grid`: benchmarks and tasks by name, as one Inspect eval set that can be resumed."""

import json
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.commands.doctor import missing_packages
from music_evals.commands.output import list_logs, path_of, say
from music_evals.reports.texts import plain

if TYPE_CHECKING:
    from inspect_ai import Task

    from music_evals.reports.runs import Run


def run(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Benchmarks (muse) or tasks (muse_syncopation).")],
    model: Annotated[str, typer.Option(help="The model, as Inspect names it, e.g. vllm/Qwen/Qwen2.5-7B-Instruct.")],
    log_dir: Annotated[
        Path | None, typer.Option(help="Folder of the logs; the same folder resumes. Default logs/NAMES-MODEL.")
    ] = None,
    task_arg: Annotated[list[str] | None, typer.Option("-T", help="Parameter of the tasks, as name=value.")] = None,
    model_arg: Annotated[
        list[str] | None, typer.Option("-M", help="Argument for the model's provider, as name=value.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first samples of each task.", min=1)] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of a reply, in the place of what a task has as its limit.", min=1)
    ] = None,
    max_connections: Annotated[int | None, typer.Option(help="Requests under way at once.", min=1)] = None,
    max_tasks: Annotated[int, typer.Option(help="Tasks under way at once.", min=1)] = 4,
    display: Annotated[
        Literal["full", "conversation", "rich", "plain", "log", "none"],
        typer.Option(help="How Inspect shows progress."),
    ] = "rich",
    grid: Annotated[
        bool, typer.Option("--grid", help="Every condition that the benchmark declares, as `music-evals grid` does.")
    ] = False,
) -> None:
    """Run benchmarks or tasks on a model, resumably, and show their scores."""
    # Imported here: Inspect takes over a second to load, which `music-evals --help` should not wait for.
    from inspect_ai import eval_set
    from inspect_ai.model import get_model

    from music_evals.reports.logs import read_headers
    from music_evals.solvers.abilities import made_for

    arguments = dict(_argument(text, "-T") for text in task_arg or [])
    provider = dict(_argument(text, "-M") for text in model_arg or [])
    facts = [task for name in names for task in _tasks(name)]
    logs = log_dir or Path("logs") / re.sub(r"[^A-Za-z0-9_.+-]+", "-", f"{'+'.join(names)}-{model}")
    try:
        subject = get_model(model, **provider)
        with made_for(subject):
            tasks = _conditions(facts, arguments, grid=grid or context.info_name == "grid")
        if not tasks:
            raise typer.Exit(1)
        if limit is not None:
            Console().print(
                Text(f"Limited by --limit {limit}: only the beginning of each task's samples is asked.", "yellow")
            )
        success, _ = eval_set(
            tasks,
            log_dir=str(logs),
            model=subject,
            limit=limit,
            max_connections=max_connections,
            max_tasks=max_tasks,
            display=display,
            retry_attempts=0,
            retry_immediate=False,
            score_display=False,
            max_tokens=max_tokens,
        )
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        # What Inspect says of a model or a log folder that it cannot use comes as exceptions of its own.
        _, unreadable = read_headers(_logs_in(logs))
        if not isinstance(error, ValueError) and not hasattr(error, "message") and not unreadable:
            raise
        text = "\n".join(map(plain, str(getattr(error, "message", error)).splitlines()))
        missing = missing_packages(provider_name := model.partition("/")[0])
        if missing and "pip install" in text:
            text = f"Models of {provider_name}/ need {', '.join(missing)}: pip install 'music-evals[{provider_name}]'"
        Console().print(Text(text, style="red"))
        list_logs(Console(), "Logs that cannot be read; move them away, or take another --log-dir:", unreadable)
        raise typer.Exit(1) from None
    _show_scores(_logs_in(logs), limit)
    say(Console(), f"Logs: {logs} (open them with: inspect view --log-dir {logs})")
    if not success:
        Console().print("[red]Not every task ended in success; the same command takes up where it stopped.[/red]")
        raise typer.Exit(1)


def _tasks(name: str) -> list[TaskFacts]:
    if name in benchmarks.names():
        return list(benchmarks.load(name).tasks.values())
    known = {task.registry_name: task for each in benchmarks.names() for task in benchmarks.load(each).tasks.values()}
    if name not in known:
        raise typer.BadParameter(
            f"{name} is neither a benchmark nor a task; benchmarks: {', '.join(benchmarks.names())}; "
            f"tasks: {', '.join(known)}"
        )
    return [known[name]]


def _conditions(facts: list[TaskFacts], arguments: dict[str, Any], *, grid: bool) -> list["Task"]:
    """Make the tasks under each condition; those that cannot be run as asked are left out, with their reasons."""
    from inspect import signature

    from music_evals.evals.registry import MODULES

    functions = {task: getattr(MODULES[task.benchmark], task.name) for task in facts}
    known = {name for function in functions.values() for name in signature(function).parameters}
    if unknown := sorted(set(arguments) - known):
        raise typer.BadParameter(f"no task takes {unknown[0]}; known are: {', '.join(sorted(known))}", param_hint="-T")
    made: list[Task] = []
    left_out: dict[str, list[str]] = {}
    for task, function in functions.items():
        declared: dict[str, list[Any]] = benchmarks.load(task.benchmark).table.get("grid", {}) if grid else {}
        asked = declared | {name: [value] for name, value in arguments.items()}
        axes = {name: values for name, values in asked.items() if name in signature(function).parameters}
        for values in product(*axes.values()):
            try:
                made.append(function(**dict(zip(axes, values, strict=True))))
            except ValueError as error:
                named = " ".join([task.registry_name, *map(str, values)])
                left_out.setdefault(str(getattr(error, "message", error)), []).append(named)
    for reason, those in left_out.items():
        Console().print(Text(f"Left out, {len(those)} ({', '.join(those)}): {reason}", style="yellow"))
    return made


def _logs_in(folder: Path) -> list[Path]:
    from inspect_ai.log import list_eval_logs

    return [Path(path_of(info.name)) for info in list_eval_logs(str(folder.resolve()))] if folder.is_dir() else []


def _show_scores(logs: list[Path], limit: int | None) -> None:
    """Show the main metric of each run that ended in success: under each condition a line a task."""
    from music_evals.reports.logs import read_headers
    from music_evals.reports.runs import grouped
    from music_evals.reports.sections import read_parts

    headers, unreadable = read_headers(logs)
    found, passed_over = read_parts(headers, {})
    list_logs(Console(), "Passed over:", [*unreadable, *passed_over])
    samples = {header.location: header.eval.dataset.samples for header in headers}
    runs = [run for part in found for run in part.runs]
    if runs:
        say(Console(), f"Main metrics{'' if limit is None else f', limited by --limit {limit}'}:")
    several = len({run.model for run in runs}) > 1
    for heading, some in grouped(runs, lambda run: _heading(run, several)).items():
        say(Console(), heading)
        width = max(len(run.task) for run in runs)
        for run in some:
            asked = f"{run.samples} of {samples[run.location]}"
            say(Console(), f"  {run.task:{width}}  {run.main[1]:12}  {run.figure() or 'undefined'!s:21}  {asked}")


def _heading(run: "Run", several: bool) -> str:
    return ", ".join(filter(None, [run.part.title, run.model if several else "", run.whole_condition]))


def _argument(text: str, option: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise typer.BadParameter(f"{text!r} is not valid; name=value is needed", param_hint=option)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
