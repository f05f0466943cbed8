"""`music-evals run`: benchmarks and tasks by name, as one Inspect eval set that can be
resumed.
"""

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from errno import ENOSPC
from functools import partial
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import click
import typer
from rich.console import Console
from rich.text import Text
from typer import Argument, BadParameter, Option

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.benchmarks.groups import load_groups
from music_evals.benchmarks.prompts import WORDINGS
from music_evals.commands.chosen_tasks import Chosen, as_reported, fetchable
from music_evals.commands.log_folder import claimed
from music_evals.commands.output import (
    Address,
    Engines,
    TaskArguments,
    cluster,
    failed,
    list_logs,
    logs_folder,
    plain_name,
    program,
    say,
    show_table,
    table,
)
from music_evals.datasets_builders.progress import progress_bar
from music_evals.notation.extras import EXTRAS
from music_evals.notation.secrets import remember

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.model import Model

    from music_evals.commands.run_file import RunFile
    from music_evals.shards.running import Asked, Report
    from music_evals.shards.sharded_run import Engine, Settings


Options = dict[str, Any]
Tasks = list[tuple["Asked", "Task"]]
_MANY = 10**9
_BOUNDS = {
    "temperature": (0, 100),
    "top_p": (0, 1),
    **dict.fromkeys(("max_tokens", "epochs", "max_connections", "max_samples"), (1, _MANY)),
}
"""Least and most of options that Inspect does not check."""
_MISREAD = re.compile(r"[#[\]\x00-\x1f\x7f\ud800-\udfff]|%[0-9a-fA-F]{2}")
"""What Inspect takes for a part of an address, or for markup, in names of models and folders."""
_OWN_OPTIONS = {"model", "model_args", "task_args", "limit", "max_tasks", "display", "log_dir"}
"""Options of Inspect that `run` takes itself."""
_RECORDED = ("limit", "published", "like", "arms", "wordings", "shards", "grid")
_INTERRUPTED = 130  # the exit status of a shell's programs that Ctrl-C has ended


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take what a file says as the defaults of the options, before Inspect's variables."""
    from inspect_ai._util.dotenv import init_dotenv

    init_dotenv()
    if path:
        from music_evals.commands.run_file import COMMAND_LINE, read_run_file

        context.obj = read_run_file(path)
        values = context.obj.model_dump(include={*COMMAND_LINE, "models"}, exclude_unset=True)
        context.default_map = {"model": values.pop("models", None), **values}
        for parameter in context.command.params:
            if parameter.name in context.default_map and isinstance(parameter.envvar, str):
                os.environ.pop(parameter.envvar, None)
    return path


def run(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        Argument(help="Benchmarks (muse), tasks (muse_syncopation) or groups (sound)."),
    ] = None,
    model: Annotated[
        list[str] | None,
        Option(
            help=(
                "The model, as Inspect names it, e.g. vllm/Qwen/Qwen2.5-7B-Instruct, or the folder "
                "of a checkpoint. Several, each with --model, are run one after the other."
            ),
            envvar="INSPECT_EVAL_MODEL",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        Option(
            help="YAML file of a run, such as the run.yaml of another; options here win over it.",
            is_eager=True,
            callback=_read_config,
        ),
    ] = None,
    log_dir: Annotated[
        str | None,
        Option(
            help=(
                "Folder or address of the logs; the same one resumes. Default NAMES-MODEL in logs, "
                "or in the folder of INSPECT_LOG_DIR."
            )
        ),
    ] = None,
    task_arg: TaskArguments = None,
    model_arg: Annotated[
        list[str] | None,
        Option(
            "-M",
            help="Argument for the model's provider, as name=value.",
            envvar="INSPECT_EVAL_MODEL_ARGS",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        Option(help="Only the first samples of each task.", min=1, envvar="INSPECT_EVAL_LIMIT"),
    ] = None,
    max_tasks: Annotated[
        int, Option(help="Tasks under way at once.", min=1, envvar="INSPECT_EVAL_MAX_TASKS")
    ] = 4,
    shards: Annotated[
        int | None,
        Option(help="Split each task's samples over so many processes; the log is one.", min=1),
    ] = None,
    servers: Annotated[
        str | None,
        Option(help="Addresses of servers of the model, with commas between; shards take turns."),
    ] = None,
    engine: Engines = "processes",
    address: Address = None,
    gpus_per_shard: Annotated[
        float,
        Option(
            help="GPUs that Ray gives each shard, in which Inspect starts its own vLLM server.",
            min=0,
        ),
    ] = 0,
    display: Annotated[
        Literal["full", "conversation", "rich", "plain", "log", "none"],
        Option(help="How Inspect shows progress.", envvar="INSPECT_DISPLAY"),
    ] = "rich",
    arms: Annotated[
        str | None,
        Option(
            help=(
                "Ask with other music: given,none,noise,other or some of these, or all; see -T "
                "stimulus."
            )
        ),
    ] = None,
    wordings: Annotated[
        bool,
        Option(
            "--wordings",
            help="Ask in all three wordings of the prompts; see -T prompts.",
        ),
    ] = False,
    grid: Annotated[
        bool,
        Option(
            "--grid",
            help="Every condition that the benchmarks declare.",
        ),
    ] = False,
    published: Annotated[
        bool,
        Option(
            "--published",
            help="Ask the published test, which is fetched once: -T dataset=published.",
        ),
    ] = False,
    like: Annotated[
        str | None,
        Option(
            help=(
                "Ask as a laboratory's report states: qwen3-omni, qwen3.5-omni, moss-music or "
                "music-flamingo; what it does not state is printed."
            )
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Ask nothing: say how many requests and tokens the run would be."),
    ] = False,
    show: Annotated[
        int,
        Option(
            help="Ask nothing: show the first prompts of each task as they would be sent.", min=0
        ),
    ] = 0,
    price: Annotated[
        str | None,
        Option(help="With --dry-run: of a million tokens in and out, such as 0.15/0.60."),
    ] = None,
) -> None:
    """Run benchmarks, tasks or groups on a model, resumably, and show their scores.

    The options of `inspect eval-set` work as well: --temperature, --max-tokens, --max-connections,
    --epochs, --seed, --reasoning-effort, --model-role, --batch, --retry-on-error and so on.
    """
    file: RunFile | None = context.obj
    names, generation, options = _read_words(names or [], file, config)
    arguments = parse_arguments(task_arg, "-T")
    provider = parse_arguments(model_arg, "-M")
    if file:
        arguments, provider = file.parameters | arguments, file.model_args | provider
    _check_options(context.params, options, arguments)
    recorded = {
        "tasks": names,
        "parameters": {**arguments},
        "generation": generation,
        "model_args": provider,
        "options": {name: options[name] for name in options if name != "log_dir_allow_dirty"},
        **{name: context.params[name] for name in _RECORDED},
        "servers": servers,
    }
    if published:
        arguments["dataset"] = "published"
    addresses = [*filter(None, map(str.strip, (servers or "").split(",")))]
    prices = _prices(price)
    axes: dict[str, list[Any]] = {} if arms is None else {"stimulus": _arms(arms)}
    if wordings:
        axes["prompts"] = [None, *WORDINGS]
    chosen = as_reported(like, [*chain.from_iterable(map(_tasks, names))])
    chosen = fetchable(chosen, {**arguments, **axes})
    make_tasks = partial(conditions, chosen, arguments, axes, grid=grid)
    options = {**options, **generation, "max_tasks": max_tasks}
    remember(options)
    base_url = options.pop("model_base_url", None) or provider.get("base_url")
    if dry_run or show:
        with _errors_in_a_line(""):
            if show:
                _show_prompts(make_tasks(), show)
            else:
                _show_requests(make_tasks(), limit, options, prices)
        return
    places = [*_places(model or [], names, log_dir)]
    for name, logs in places:
        if "model_path" not in provider:
            _check_place(name, base_url or "".join(addresses[:1]), logs)
    from music_evals.shards.sharded_run import Settings

    run_shards = _engine(engine, address, gpus_per_shard) if shards else None
    statuses = []
    for name, logs in places:
        settings = Settings(name, provider, limit, options, addresses)
        about = {"models": [name], **recorded}
        way = (shards, run_shards, display)
        try:
            _run_model(settings, make_tasks, logs, base_url, way, about, len(places) == 1)
        except typer.Exit as ending:
            if ending.exit_code == _INTERRUPTED:
                raise
            statuses.append(ending.exit_code)
    if len(places) > 1:
        _report_models(places, names, limit)
    if statuses:
        raise typer.Exit(max(statuses))


def _check_options(params: Options, options: Options, arguments: Options) -> None:
    """Refuse options that contradict each other, or that nothing would use."""
    roles = options.get("model_roles") or {}
    if unknown := roles.keys() - {"reader", *str(arguments.get("judges")).split(",")}:
        raise BadParameter(
            f"no task takes the role {', '.join(unknown)}; valid are reader, and judges of -T "
            "judges=",
            param_hint="--model-role",
        )
    dataset = arguments.get("dataset", "published")
    if params["published"] and dataset != "published":
        raise BadParameter(
            f"-T dataset={dataset} is not the published test; leave one out",
            param_hint="--published",
        )
    if params["shards"] is None and (params["servers"] or params["engine"] != "processes"):
        raise BadParameter(
            "servers and engines are for shards; give --shards as well", param_hint="--shards"
        )
    if "sample_id" in options and (params["shards"] or params["limit"]):
        raise BadParameter(
            "it names the samples to ask (sample_id); --limit and --shards are valid without it",
            param_hint="--config",
        )
    if params["price"] and not params["dry_run"]:
        raise BadParameter("a price is for --dry-run; give it as well", param_hint="--price")


def _run_model(
    settings: "Settings",
    make_tasks: Callable[[], Tasks],
    logs: str,
    base_url: str | None,
    way: tuple[int | None, "Engine | None", str],
    about: Options,
    shows_scores: bool,
) -> None:
    """Run tasks on a model, and write ``run.yaml``."""
    from inspect_ai.model import get_model

    from music_evals.commands.run_file import write_run_file
    from music_evals.solvers.abilities import made_for

    limit = settings.limit
    shards, engine, display = way
    with _errors_in_a_line(logs):
        try:
            subject = get_model(settings.model, **{**settings.model_args, "base_url": base_url})
        except TypeError as error:  # of the provider's client
            given = ", ".join(settings.model_args)
            raise BadParameter(
                f"{settings.model} cannot be made with {given}: {error}", param_hint="-M"
            ) from None
        with made_for(subject):
            tasks = make_tasks()
        if limit is not None:
            warning = f"Limited by --limit {limit}: only the beginning of each task's samples is"
            Console().print(Text(f"{warning} asked.", "yellow"))
        if engine is None or shards is None:
            inspect_tasks = [task for _, task in tasks]
            options = {"display": display, **settings.options}
            ending = _run_here(inspect_tasks, subject, logs, limit, options)
        else:
            ending = _run_in_shards(tasks, settings, logs, shards, engine, display != "none")
        advice = _advice(subject, ending.errors)
        write_run_file(logs, about)
    if shows_scores and _exists(logs):
        show_scores(logs, limit, settings.model, about["tasks"])
    _report_ending(ending, logs, len(tasks), shows_scores, advice)


def _report_models(
    places: Sequence[tuple[str, str]], names: Sequence[str], limit: int | None
) -> None:
    """Show the scores of several models beside each other."""
    say("")
    folders = [logs for _, logs in places if _exists(logs)]
    if not folders:
        return
    show_scores(folders, limit, names=names)
    say(f"Next: {program()} report {shlex.join(folders)}")
    if all(name.startswith("baseline/") for name, _ in places):
        say(f"For your own model: {program()} run {' '.join(names)} --model PROVIDER/NAME")


def _read_words(
    words: list[str], file: "RunFile | None", path: Path | None
) -> tuple[list[str], Options, Options]:
    """Return the names in a command line, and the settings of generation and other options of
    Inspect; a file has those that are not on the command line.
    """
    from music_evals.commands.run_file import Generation, versions

    with _no_variables():
        texts, options = _inspect_options(words)
    _, by_variables = _inspect_options([])
    # Inspect takes both in silence, and leaves them out.
    if match := re.search(r"(--epochs[ =]0+|--model-role[ =][^ =]+)( |$)", " ".join(words)):
        raise BadParameter(f"{match[1]} is not valid")
    if file:
        options = {**file.options, **file.generation.model_dump(exclude_none=True), **options}
        texts = texts or file.tasks
        if file.versions not in ({}, versions()):
            say(f"{path} was made with {file.versions}; here is {versions()}")
    options = by_variables | options
    for name, (least, most) in _BOUNDS.items():
        value = options.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            raise BadParameter(f"{name}: {value} is not valid; {least} to {most} would be")
    if not texts:
        raise BadParameter(
            f"benchmarks or tasks are needed, as in: {program()} run muse --model baseline/chance"
        )
    names = [plain_name(name) for name in ",".join(texts).split(",")]
    generation = {name: options.pop(name) for name in Generation.model_fields if name in options}
    return names, generation, options


def _places(
    models: Sequence[str], names: Sequence[str], log_dir: str | None
) -> Iterator[tuple[str, str]]:
    """Yield each model with the folder of its logs."""
    _refuse_twice(models, "--model")
    if not models or log_dir == "":
        raise BadParameter(
            "a model is needed (--model PROVIDER/NAME, such as openai/gpt-4o or baseline/chance), "
            "and --log-dir has to be a folder"
        )
    given = {log_dir or "": "--log-dir", **dict.fromkeys(models, "--model")}
    for name, option in given.items():
        if misread := _MISREAD.search(name):
            raise BadParameter(
                f"{name!r} has {misread[0]!r}, which Inspect reads as something else; accepted are "
                "letters, digits and other characters, without # [ ] and controls",
                param_hint=option,
            )
    for model in map(_checkpoint, ",".join(models).split(",")):
        name = model if log_dir else f"{'+'.join(names)}-{model}"
        folder = f"{log_dir or logs_folder()}/{re.sub(r'[^A-Za-z0-9_.+-]+', '-', name)}"
        yield model, log_dir if log_dir and len(models) == 1 else folder


def _checkpoint(model: str) -> str:
    """A model as Inspect names it; the folder of a checkpoint is one of ``hf/``."""
    folder = Path(model).expanduser()
    is_path = model.startswith(("/", ".", "~"))
    if (folder / "config.json").is_file() and (is_path or model.partition("/")[0] not in EXTRAS):
        name = f"hf/{folder.resolve()}"
        say(f"{model} is a checkpoint and runs as {name}; for vLLM write vllm/{folder.resolve()}")
        return name
    if is_path:
        raise BadParameter(
            f"{model} is no folder with a config.json; accepted are the folder of a checkpoint, and"
            " PROVIDER/NAME such as openai/gpt-4o, hf//FOLDER or vllm//FOLDER",
            param_hint="--model",
        )
    return model


def _refuse_twice(names: Sequence[str], option: str) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadParameter(f"{twice[0]} is given twice", param_hint=option)


def _check_place(model: str, server: str, logs: str) -> None:
    """Refuse a model that cannot be used here, and a folder that cannot be written."""
    from music_evals.solvers.abilities import provider_problem

    if problem := provider_problem(model, server) or folder_problem(logs):
        raise failed(ValueError(problem))


class _Ending(NamedTuple):
    """How a run ended."""

    errors: Sequence[str] = ()
    is_interrupted: bool = False


@contextmanager
def _errors_in_a_line(logs: str) -> Iterator[None]:
    """Say in a line what goes wrong with a model or a folder of logs; other errors are raised."""
    try:
        yield
    except (typer.Exit, BadParameter):
        raise
    except Exception as error:
        # What Inspect says of a model or a log folder that it cannot use comes as exceptions of its
        # own.
        unreadable = _unreadable(logs)
        has_message = isinstance(error, ValueError | OSError) or hasattr(error, "message")
        if not has_message and not unreadable:
            raise
        message = Text.from_markup(str(getattr(error, "message", error))).plain
        text = " ".join(message.split()).removeprefix("ERROR: ")
        if "--log-dir-allow-dirty" in text:
            text = (
                f"{logs} holds logs of other tasks: take another --log-dir, or give "
                "--log-dir-allow-dirty"
            )
        list_logs(
            "Logs that cannot be read; move them away, or take another --log-dir:", unreadable
        )
        if isinstance(error, OSError) and error.errno == ENOSPC:
            raise failed(OSError(ENOSPC, "", error.filename or logs)) from None
        raise failed(ValueError(text)) from None


def _run_here(
    tasks: list["Task"], model: "Model", logs: str, limit: int | None, options: Options
) -> _Ending:
    """Run tasks in this process, as an eval set of Inspect."""
    from inspect_ai import eval_set

    from music_evals.evals.shared.declared_tasks import error_limit

    if not options.get("debug_errors"):
        _shorten_tracebacks()
    _claim_no_success_after_an_interrupt()
    for task in tasks:
        samples = len(task.dataset)
        task.fail_on_error = error_limit(samples if limit is None else min(limit, samples))
    defaults: Options = {
        "retry_attempts": 0,
        "retry_immediate": False,
        "score_display": False,
        "log_level": "error",
    }
    with claimed(logs):
        success, ended = eval_set(tasks, logs, model=model, limit=limit, **(defaults | options))
    is_cancelled = any(log.status == "cancelled" for log in ended)
    causes = [f"{log.eval.task}: {_last_line(log.error.message)}" for log in ended if log.error]
    errors = [] if success else ["Not every task ended in success", *causes]
    return _Ending(errors, is_cancelled or len(ended) < len(tasks))


def _engine(name: str, address: str | None, gpus_per_shard: float) -> "Engine":
    from music_evals.shards.processes import run_processes

    if name == "processes":
        return run_processes
    engine: Engine = cluster().Cluster(address, gpus_per_shard)
    return engine


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _run_in_shards(
    tasks: Tasks, settings: "Settings", folder: str, shards: int, engine: "Engine", show: bool
) -> _Ending:
    from music_evals.shards.sharded_run import run_in_shards

    with progress_bar(Console(stderr=True, quiet=not show)) as bar:

        def begin(samples: int) -> "Report":
            shown = bar.add_task("samples", total=samples)
            return lambda finished: bar.advance(shown, finished)

        return _Ending(run_in_shards(tasks, settings, folder, shards, engine, begin))


def _advice(model: "Model", errors: Sequence[str]) -> str:
    """What to do about errors of a server."""
    provider = str(model).partition("/")[0]
    variable = f"{provider.upper().replace('-', '_')}_BASE_URL"
    address = model.api.base_url or os.environ.get(variable) or "the provider's own address"
    text = " ".join(errors)
    if re.search("connection error|connect", text, re.IGNORECASE):
        return (
            f"no connection to {address}: is the server running? Correct --model-base-url, "
            f"{variable}, or the proxy"
        )
    if provider == "openai" and re.search("404|405|Not ?Found", text):
        return (
            f"{address} may serve chat completions alone: add -M responses_api=false, or check the "
            "name of the model"
        )
    return ""


def _report_ending(ending: _Ending, logs: str, count: int, shows_next: bool, advice: str) -> None:
    """Show the place of the logs; exit with a status if not all tasks are done."""
    say(f"Logs: {logs}")
    if shows_next and not ending.errors:
        place = shlex.quote(logs)
        say(f"Next: {program()} view {place}", f"      {program()} report {place}")
    if ending.is_interrupted:
        say(
            f"Interrupted: {_successes(logs)} of {count} tasks are done; the same command takes up "
            "where it stopped"
        )
        raise typer.Exit(_INTERRUPTED)
    if ending.errors:
        errors = "; ".join(filter(None, [*ending.errors, advice]))
        raise failed(ValueError(f"{errors}; the same command takes up where it stopped"))


def _inspect_options(arguments: list[str]) -> tuple[list[str], Options]:
    """Read names and options as `inspect eval-set` does; options come as its function takes
    them.
    """
    import inspect_ai._cli.eval as cli

    inspect_cli: Any = cli

    def read(*words: str) -> Options:
        options: Options = {}

        def take(**read_options: Any) -> tuple[bool, list[Any]]:
            options.update(read_options)
            return True, []

        function, inspect_cli.eval_set = inspect_cli.eval_set, take
        try:
            inspect_cli.eval_set_command.main(
                list(words), prog_name="music-evals run", standalone_mode=False
            )
        except click.UsageError as error:
            raise BadParameter(error.format_message()) from None
        finally:
            inspect_cli.eval_set = function
        return options

    options = read(*arguments)
    with _no_variables():
        defaults = read()
    names = options.pop("tasks") or []
    changed = {name: value for name, value in options.items() if value != defaults.get(name)}
    if "epochs" in changed and not changed["epochs"].reducer:
        changed["epochs"] = changed["epochs"].epochs
    return names, {name: changed[name] for name in changed.keys() - _OWN_OPTIONS}


@contextmanager
def _no_variables() -> Iterator[None]:
    """Hide the variables that Inspect takes options from."""
    names = [name for name in os.environ if name.startswith("INSPECT_")]
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _shorten_tracebacks() -> None:
    """Have Inspect show the last line of a task's error in the place of its traceback, which the
    log has.
    """
    from inspect_ai._display.core import results

    shown: Any = results
    shown.rich_traceback = lambda kind, value, _: Text(f"{kind.__name__}: {_last_line(str(value))}")


def _claim_no_success_after_an_interrupt() -> None:
    """Have Inspect not say that all tasks succeeded where none has ended."""
    from inspect_ai._eval import evalset

    inspect_evalset = evalset
    all_succeeded = inspect_evalset.all_evals_succeeded
    inspect_evalset.all_evals_succeeded = lambda logs: bool(logs) and all_succeeded(logs)


def folder_problem(logs: str) -> str:
    """Why no log can be written to a folder of this machine."""
    if "://" in logs:
        return ""
    folder = Path(logs).expanduser().absolute()
    try:
        with TemporaryFile(dir=next(path for path in (folder, *folder.parents) if path.exists())):
            return ""
    except OSError as error:
        return f"logs cannot be written to {logs}: {error.strerror}; take another --log-dir"


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d*\.?\d+)/(\d*\.?\d+)", text)
    if match is None:
        raise BadParameter(f"{text!r} is not valid; 0.15/0.60 would be", param_hint="--price")
    return float(match[1]), float(match[2])


def _show_prompts(tasks: Tasks, count: int) -> None:
    """Show the first prompts of tasks as they would be sent."""
    from music_evals.evals.shared.request_counts import prompt

    for asked, task in tasks:
        for sample in list(task.dataset)[:count]:
            say(f"--- {_name_of(asked)}, {sample.id} ---", *prompt(sample).splitlines(), "")


def _show_requests(
    tasks: Tasks, limit: int | None, options: Options, prices: tuple[float, float] | None
) -> None:
    """Show how many requests and tokens the tasks would send, and what they would cost."""
    from music_evals.evals.shared.request_counts import reader_requests, requests_of

    price_heading = "$" if prices else ""
    unpriced = []
    shown = table("task", "requests", "tokens in", "new tokens, at most", price_heading)
    epochs: Any = options.get("epochs", 1)
    epochs = getattr(epochs, "epochs", epochs)
    has_reader = "reader" in (options.get("model_roles") or {})
    sums, total_price = Counter[str](), 0.0
    for asked, task in tasks:
        sent = requests_of(task, limit=limit, epochs=epochs, max_tokens=options.get("max_tokens"))
        price = sent.price(*prices) if prices else None
        price_cell = "" if price is None else f"{price:.2f}"
        if price is None or sent.sounds or sent.pictures or sent.is_least:
            _, texts, most = sent.cells()
            unpriced.append(f"{_name_of(asked)} ({texts} in, {most} out)")
        shown.add_row(_name_of(asked), *sent.cells(), price_cell)
        sums += Counter(requests=sent.requests, tokens=sent.tokens, new=sent.new_tokens or 0)
        total_price += price or 0
        if has_reader:
            reader = reader_requests(task, limit=limit, epochs=epochs)
            shown.add_row("  its reader, at most", *reader.cells(), "")
    totals = [f"{sums[name]:,}" if sums[name] else "" for name in ("requests", "tokens", "new")]
    shown.add_row("all", *totals, f"{total_price:.2f}" if prices else "", style="bold")
    Console().print(shown)
    say("Tokens are of texts, estimated to about 10%; sounds, pictures and reasoning come on top.")
    if prices and unpriced:
        say(f"The price is no bound: only texts within limits have one, not {'; '.join(unpriced)}.")


def _name_of(asked: "Asked") -> str:
    name = benchmarks.load(asked.benchmark).tasks[asked.task].registry_name
    return " ".join([name, *(f"{key}={value}" for key, value in asked.arguments.items())])


def _tasks(name: str) -> list[Chosen]:
    """The tasks of a benchmark or group, or the task of a name, with their parameters."""
    if tasks := benchmarks.tasks_named(name):
        return [(task, {}) for task in tasks]
    groups = load_groups()
    if name in groups:
        return [(column.task, column.parameters) for column in groups[name].columns]
    if "=" in name:
        raise BadParameter(f"a parameter needs -T before it: -T {name}")
    titles = {plain_name(benchmarks.load(each).title): each for each in benchmarks.names()}
    names = [task.registry_name for task in benchmarks.all_tasks()]
    near = get_close_matches(name, [*benchmarks.names(), *names, *groups, *titles], 1)
    hint = f" (did you mean {titles.get(near[0], near[0])}?)" if near else ""
    raise BadParameter(
        f"{name} is neither a benchmark nor a task{hint}; benchmarks: "
        f"{', '.join(benchmarks.names())}; groups: {', '.join(groups)}; tasks: see "
        f"`{program()} list`"
    )


def _arms(names: str) -> list[str]:
    from music_evals.solvers.stimulus import ARMS

    arms: list[str] = list(ARMS) if names == "all" else [arm.strip() for arm in names.split(",")]
    if unknown := [arm for arm in arms if arm not in ARMS]:
        raise BadParameter(f"{unknown[0]!r} is none of {', '.join(ARMS)}, all", param_hint="--arms")
    _refuse_twice(arms, "--arms")
    return arms


def conditions(
    chosen: Sequence[Chosen], arguments: Options, axes: dict[str, list[Any]], *, grid: bool
) -> Tasks:
    """Make the tasks under each condition; a condition that a task refuses is left out, with the
    reason.
    """
    from music_evals.datasets_builders.dataset_io import FetchError
    from music_evals.evals.registry import MODULES, defaults_of
    from music_evals.shards.running import Asked

    functions = {task: getattr(MODULES[task.benchmark], task.name) for task, _ in chosen}
    accepted = {task: defaults_of(task.benchmark, task.name) for task in functions}
    names = {name for parameters in accepted.values() for name in parameters}
    if unknown := sorted(set(arguments) - names):
        raise BadParameter(
            f"none of the tasks takes {unknown[0]}; they take {', '.join(sorted(names))}",
            param_hint="-T",
        )
    tasks: list[tuple[Asked, Task]] = []
    left_out: dict[str, list[str]] = {}
    unfetched = set()  # benchmarks whose data cannot be fetched
    for task, params in _params_of(chosen, arguments, axes, accepted, grid):
        asked = Asked(task.benchmark, task.name, params)
        if task.benchmark in unfetched or any(asked == other for other, _ in tasks):
            continue
        try:
            tasks.append((asked, functions[task](**params)))
        except ValueError as error:
            if isinstance(error.__cause__, FetchError):
                unfetched.add(task.benchmark)
            condition = " ".join([task.registry_name, *map(str, params.values())])
            left_out.setdefault(str(getattr(error, "message", error)), []).append(condition)
    if not tasks:
        raise failed(ValueError("; ".join(left_out)))
    for why, names_of_conditions in left_out.items():
        line = f"Left out: {', '.join(names_of_conditions)}: {why}"
        Console().print(Text(line, style="yellow"), soft_wrap=True)
    return tasks


def _params_of(
    chosen: Sequence[Chosen],
    arguments: Options,
    axes: dict[str, list[Any]],
    accepted: Mapping[TaskFacts, Mapping[str, Any]],
    grid: bool,
) -> Iterator[tuple[TaskFacts, Options]]:
    """The parameters of each task under each condition: of the benchmark's grid, and of the command
    line. What a task does not take is left out.
    """
    for task, own in chosen:
        table = benchmarks.load(task.benchmark).table
        fixed = {**own, **arguments}
        if fixed.get("dataset") == "published":
            fixed = table.get("published_run", {}) | fixed
        choices = {**table.get("grid", {})} if grid else {}
        choices |= axes | {name: [value] for name, value in fixed.items()}
        names = [name for name in choices if name in accepted[task]]
        for values in product(*(choices[name] for name in names)):
            yield task, dict(zip(names, values, strict=True))


def _successes(folder: str) -> int:
    """The number of tasks that a log in a folder says to have ended in success."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    headers = [read_eval_log(log, header_only=True) for log in list_eval_logs(folder)]
    return len({header.eval.task_id for header in headers if header.status == "success"})


def _exists(folder: str) -> bool:
    import fsspec

    files, path = fsspec.core.url_to_fs(folder)
    return bool(files.exists(path))


def _unreadable(folder: str) -> list[tuple[str, str]]:
    """The logs in a folder that cannot be read, and why."""
    from music_evals.reports.records import local_logs, read_each, read_header

    with local_logs(*[folder] * _exists(folder)) as paths:
        headers = zip(paths, read_each(read_header, paths), strict=True)
        return [(str(path), header) for path, header in headers if isinstance(header, str)]


def show_scores(
    folder: str | list[str], limit: int | None, model: str = "", names: Sequence[str] = ()
) -> None:
    """Show the score of each run that ended in success, of a model or of all; of groups that are
    named, also beside what others published.
    """
    from music_evals.reports.answers import answer_lines
    from music_evals.reports.records import read_records
    from music_evals.reports.tables.common import unread_advice
    from music_evals.reports.tables.groups import beside_published
    from music_evals.reports.tables.runs import run_table

    records = read_records(folder)
    list_logs("Passed over:", records.passed_over)
    if not len(records.runs):
        return
    table = run_table(records, model)
    if not table.rows:
        return
    if limit is not None:
        table = replace(table, title=f"{table.title}, --limit {limit}")
    show_table(table)
    for name in load_groups().keys() & {*names}:
        show_table(beside_published(records, load_groups()[name]))
    others = sorted({*records.runs["model"]} - {model}) if model else []
    if others:
        say(f"{folder} has logs of {len(others)} other models: {program()} report {folder}")
    current = records.runs[records.runs["is_current"]]
    for line in [*answer_lines(current), *unread_advice(current)]:
        Console().print(Text(line, "yellow"), soft_wrap=True)


def parse_arguments(texts: list[str] | None, option: str) -> Options:
    """Read texts ``name=value``; a value that is not JSON is text."""
    pairs = [_parse_argument(text, option) for text in texts or []]
    _refuse_twice([name for name, _ in pairs], option)
    return dict(pairs)


def _parse_argument(text: str, option: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise BadParameter(f"{text!r} is not valid; name=value is needed", param_hint=option)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
