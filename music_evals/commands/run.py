"""`music-evals run` and `grid`: benchmarks and tasks by name, as one Inspect eval set that can be
resumed.
"""

import json
import re
from dataclasses import replace
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import typer
from rich.console import Console
from rich.text import Text

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.commands.log_folder import claimed
from music_evals.commands.output import Address, Engines, cluster, failed, list_logs, say, table
from music_evals.datasets_builders.progress import progress_bar
from music_evals.reports.sanitize import reason

if TYPE_CHECKING:
    from inspect_ai import Task

    from music_evals.shards.running import Asked, Report
    from music_evals.shards.sharded_run import Engine, Settings


Options = dict[str, Any]
_INTERRUPTED = 130  # the exit status of a shell's programs that Ctrl-C has ended


def run(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(help="Benchmarks (muse) or tasks (muse_syncopation).")
    ],
    model: Annotated[
        str,
        typer.Option(help="The model, as Inspect names it, e.g. vllm/Qwen/Qwen2.5-7B-Instruct."),
    ],
    log_dir: Annotated[
        str | None,
        typer.Option(
            help="Folder or address of the logs; the same one resumes. Default logs/NAMES-MODEL."
        ),
    ] = None,
    task_arg: Annotated[
        list[str] | None, typer.Option("-T", help="Parameter of the tasks, as name=value.")
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option("-M", help="Argument for the model's provider, as name=value."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the first samples of each task.", min=1)
    ] = None,
    max_tasks: Annotated[int, typer.Option(help="Tasks under way at once.", min=1)] = 4,
    shards: Annotated[
        int | None,
        typer.Option(
            help="Split each task's samples over so many processes; the log is one.", min=1
        ),
    ] = None,
    servers: Annotated[
        str | None,
        typer.Option(
            help="Addresses of servers of the model, with commas between; shards take turns."
        ),
    ] = None,
    engine: Engines = "processes",
    address: Address = None,
    gpus_per_shard: Annotated[
        float,
        typer.Option(
            help="GPUs that Ray gives each shard, in which Inspect starts its own vLLM server.",
            min=0,
        ),
    ] = 0,
    display: Annotated[
        Literal["full", "conversation", "rich", "plain", "log", "none"],
        typer.Option(help="How Inspect shows progress."),
    ] = "rich",
    arms: Annotated[
        str | None,
        typer.Option(
            help=(
                "Ask with other music: given,none,noise,other or some of these, or all; see -T "
                "stimulus."
            )
        ),
    ] = None,
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="Every condition that the benchmark declares, as `music-evals grid` does.",
        ),
    ] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Ask the published test, which is fetched once: -T dataset=published.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Ask nothing: say how many requests and tokens the run would be."
        ),
    ] = False,
    show: Annotated[
        int,
        typer.Option(
            help="Ask nothing: show the first prompts of each task as they would be sent.", min=0
        ),
    ] = 0,
    price: Annotated[
        str | None,
        typer.Option(help="With --dry-run: of a million tokens in and out, such as 0.15/0.60."),
    ] = None,
) -> None:
    """Run benchmarks or tasks on a model, resumably, and show their scores.

    The options of `inspect eval-set` work as well: --temperature, --max-tokens, --max-connections,
    --epochs, --seed, --reasoning-effort, --model-role, --batch, --retry-on-error and so on.
    """
    # Imported here: Inspect takes over a second to load, which `music-evals --help` should not wait
    # for.
    from inspect_ai import eval_set
    from inspect_ai.model import get_model

    from music_evals.evals.shared.tasks import error_limit
    from music_evals.shards.processes import run_processes
    from music_evals.shards.sharded_run import Settings
    from music_evals.solvers.abilities import made_for, provider_problem

    names, options = _inspect_options(names)
    is_interrupted = False
    options["max_tasks"] = max_tasks
    arguments = dict(parse_argument(text, "-T") for text in task_arg or [])
    if published:
        arguments.setdefault("dataset", "published")
    provider = dict(parse_argument(text, "-M") for text in model_arg or [])
    axes = {"stimulus": _arms(arms)} if arms else {}
    facts = [task for name in names for task in _tasks(name)]
    logs = log_dir or "logs/" + re.sub(r"[^A-Za-z0-9_.+-]+", "-", f"{'+'.join(names)}-{model}")
    addresses = [address.strip() for address in (servers or "").split(",") if address.strip()]
    prices = _prices(price)
    if shards is None and (addresses or engine != "processes"):
        raise typer.BadParameter(
            "servers and engines are for shards; give --shards as well", param_hint="--shards"
        )
    base_url = options.pop("model_base_url", None) or provider.get("base_url")
    if "model_path" not in provider and not dry_run and not show:
        problem = provider_problem(model, base_url or "".join(addresses[:1]))
        if problem := problem or folder_problem(logs):
            raise failed(ValueError(problem))
    try:
        if dry_run or show:
            tasks = conditions(facts, arguments, axes, grid=grid or context.info_name == "grid")
            _show_requests(tasks, limit, options, prices, show)
            return
        subject = get_model(
            model,
            base_url=base_url,
            **{name: one for name, one in provider.items() if name != "base_url"},
        )
        with made_for(subject):
            tasks = conditions(facts, arguments, axes, grid=grid or context.info_name == "grid")
        if limit is not None:
            Console().print(
                Text(
                    f"Limited by --limit {limit}: only the beginning of each task's samples is "
                    "asked.",
                    "yellow",
                )
            )
        if shards is not None:
            run_shards: Engine = run_processes
            if engine == "ray":
                run_shards = cluster().Cluster(address, gpus_per_shard)
            settings = Settings(model, provider, limit, options, addresses)
            errors = _run_in_shards(
                tasks, settings, logs, shards, run_shards, show=display != "none"
            )
        else:
            if not options.get("debug_errors"):
                _shorten_tracebacks()
            _claim_no_success_after_an_interrupt()
            for _, task in tasks:
                asked = len(task.dataset) if limit is None else min(limit, len(task.dataset))
                task.fail_on_error = error_limit(asked)
            defaults = {
                "retry_attempts": 0,
                "retry_immediate": False,
                "score_display": False,
                "log_level": "error",
            }
            with claimed(logs):
                success, ended = eval_set(
                    [task for _, task in tasks],
                    log_dir=logs,
                    model=subject,
                    limit=limit,
                    display=display,
                    **{**defaults, **options},
                )
            errors = [] if success else ["Not every task ended in success"]
            is_interrupted = len(ended) < len(tasks) or any(
                log.status == "cancelled" for log in ended
            )
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        # What Inspect says of a model or a log folder that it cannot use comes as exceptions of its
        # own.
        unreadable = _unreadable(logs)
        if (
            not isinstance(error, ValueError | OSError)
            and not hasattr(error, "message")
            and not unreadable
        ):
            raise
        text = " ".join(
            Text.from_markup(str(getattr(error, "message", error))).plain.split()
        ).removeprefix("ERROR: ")
        if "--log-dir-allow-dirty" in text:
            text = (
                f"{logs} holds logs of other tasks: take another --log-dir, or give "
                "--log-dir-allow-dirty"
            )
        list_logs(
            "Logs that cannot be read; move them away, or take another --log-dir:", unreadable
        )
        raise failed(ValueError(text)) from None
    if _exists(logs):
        show_scores(logs, limit)
    say(f"Logs: {logs} (open them with: inspect view --log-dir {logs})")
    if is_interrupted:
        done = _successes(logs)
        say(
            f"Interrupted: {done} of {len(tasks)} tasks are done; the same command takes up where "
            "it stopped"
        )
        raise typer.Exit(_INTERRUPTED)
    if errors:
        raise failed(ValueError(f"{'; '.join(errors)}; the same command takes up where it stopped"))


def _inspect_options(arguments: list[str]) -> tuple[list[str], Options]:
    """Read names and options as `inspect eval-set` does; options come as its function takes
    them.
    """
    import inspect_ai._cli.eval as cli

    inspect_cli: Any = cli

    def read(*given: str) -> Options:
        taken: Options = {}

        def take(**options: Any) -> tuple[bool, list[Any]]:
            taken.update(options)
            return True, []

        function, inspect_cli.eval_set = inspect_cli.eval_set, take
        try:
            inspect_cli.eval_set_command.main(
                list(given), prog_name="music-evals run", standalone_mode=False
            )
        except click.UsageError as error:
            raise typer.BadParameter(error.format_message()) from None
        finally:
            inspect_cli.eval_set = function
        return taken

    options, nothing = read(*arguments), read()
    return options.pop("tasks") or [], {
        name: one for name, one in options.items() if one != nothing.get(name)
    }


def _shorten_tracebacks() -> None:
    """Have Inspect show the last line of a task's error in the place of its traceback, which the
    log has.
    """
    from inspect_ai._display.core import results

    shown: Any = results
    shown.rich_traceback = lambda kind, value, _: Text(
        f"{kind.__name__}: {str(value).strip().rpartition(chr(10))[2]}"
    )


def _claim_no_success_after_an_interrupt() -> None:
    """Have Inspect not say that all tasks succeeded where none has ended."""
    from inspect_ai._eval import evalset

    inspect_evalset: Any = evalset
    all_succeeded = inspect_evalset.all_evals_succeeded
    inspect_evalset.all_evals_succeeded = lambda logs: bool(logs) and all_succeeded(logs)


def folder_problem(logs: str) -> str:
    """Why no log can be written to a folder of this machine."""
    if "://" in logs:
        return ""
    folder = Path(logs).expanduser().absolute()
    try:
        with TemporaryFile(dir=next(one for one in (folder, *folder.parents) if one.exists())):
            return ""
    except OSError as error:
        return f"logs cannot be written to {logs}: {error.strerror}; take another --log-dir"


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        into, out = (float(one) for one in text.split("/"))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not valid; 0.15/0.60 would be", param_hint="--price"
        ) from None
    return into, out


def _show_requests(
    tasks: list[tuple["Asked", "Task"]],
    limit: int | None,
    options: Options,
    prices: tuple[float, float] | None,
    n_prompts: int,
) -> None:
    """Show what the tasks would send; with `n_prompts`, the first prompts in the place of the
    numbers.
    """
    from music_evals.evals.shared.requests import prompt, reader_requests, requests_of

    shown = table(
        "task", "requests", "tokens in", "new tokens, at most", "at most $" if prices else ""
    )
    total, price = [0, 0, 0], 0.0
    for asked, task in tasks:
        facts = benchmarks.load(asked.benchmark).tasks[asked.task]
        name = " ".join(
            [facts.registry_name, *(f"{name}={value}" for name, value in asked.arguments.items())]
        )
        for sample in list(task.dataset)[:n_prompts]:
            say(f"--- {name}, {sample.id} ---", *prompt(sample).splitlines(), "")
        epochs = options["epochs"].epochs if "epochs" in options else 1
        one = requests_of(task, limit=limit, epochs=epochs, max_tokens=options.get("max_tokens"))
        media = "".join(
            f", {n} {what}" for n, what in ((one.sounds, "sounds"), (one.pictures, "pictures")) if n
        )
        cost = one.price(*prices) if prices else None
        numbers = (f"{one.requests:,}{'+' if one.is_least else ''}", f"{one.tokens:,}{media}")
        most = "no limit" if one.new_tokens is None else f"{one.new_tokens:,}"
        shown.add_row(name, *numbers, most, "" if cost is None else f"{cost:.2f}")
        total = [total[0] + one.requests, total[1] + one.tokens, total[2] + (one.new_tokens or 0)]
        price += cost or 0
        if "reader" in (options.get("model_roles") or {}):
            one = reader_requests(task, limit=limit, epochs=epochs)
            shown.add_row(
                "  its reader, at most",
                f"{one.requests:,}",
                f"{one.tokens:,}",
                f"{one.new_tokens:,}",
                "",
            )
    if not n_prompts:
        sums = [f"{number:,}" if number else "" for number in total]
        shown.add_row("all", *sums, f"{price:.2f}" if prices else "", style="bold")
        Console().print(shown)
        say(
            "Tokens are of texts, estimated to about 10%; sounds, pictures and reasoning come on "
            "top."
        )


def _run_in_shards(
    tasks: list[tuple["Asked", "Task"]],
    settings: "Settings",
    folder: str,
    shards: int,
    engine: "Engine",
    *,
    show: bool,
) -> list[str]:
    from music_evals.shards.sharded_run import run_in_shards

    with progress_bar(Console(stderr=True, quiet=not show)) as bar:

        def begin(samples: int) -> "Report":
            shown = bar.add_task("samples", total=samples)
            return lambda finished: bar.advance(shown, finished)

        return run_in_shards(tasks, settings, folder, shards, engine, begin)


def _tasks(name: str) -> list[TaskFacts]:
    if tasks := benchmarks.tasks_named(name):
        return tasks
    all_tasks = [
        task.registry_name
        for entry in benchmarks.names()
        for task in benchmarks.load(entry).tasks.values()
    ]
    near = get_close_matches(name, [*benchmarks.names(), *all_tasks], 1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise typer.BadParameter(
        f"{name} is neither a benchmark nor a task{hint}; benchmarks: "
        f"{', '.join(benchmarks.names())}; tasks: see `music-evals list`"
    )


def _arms(names: str) -> list[str]:
    from music_evals.solvers.stimulus import ARMS

    arms: list[str] = list(ARMS) if names == "all" else [arm.strip() for arm in names.split(",")]
    if unknown := [arm for arm in arms if arm not in ARMS]:
        raise typer.BadParameter(
            f"{unknown[0]} is none of {', '.join(ARMS)}, all", param_hint="--arms"
        )
    return arms


def conditions(
    facts: list[TaskFacts], arguments: Options, axes: dict[str, list[Any]], *, grid: bool
) -> list[tuple["Asked", "Task"]]:
    """Make the tasks under each condition; a condition that a task refuses is left out, with the
    reason.
    """
    from inspect import signature

    from music_evals.datasets_builders.dataset_io import FetchError
    from music_evals.evals.registry import MODULES
    from music_evals.shards.running import Asked

    functions = {task: getattr(MODULES[task.benchmark], task.name) for task in facts}
    accepted = {name for function in functions.values() for name in signature(function).parameters}
    if unknown := sorted(set(arguments) - accepted):
        raise typer.BadParameter(
            f"none of the tasks takes {unknown[0]}; they take {', '.join(sorted(accepted))}",
            param_hint="-T",
        )
    tasks: list[tuple[Asked, Task]] = []
    left_out: dict[str, list[str]] = {}
    for task, function in functions.items():
        table = benchmarks.load(task.benchmark).table
        declared: dict[str, list[Any]] = table.get("grid", {}) if grid else {}
        of_published = (
            table.get("published_run", {}) if arguments.get("dataset") == "published" else {}
        )
        given = {name: [value] for name, value in (of_published | arguments).items()}
        choices = declared | axes | given
        choices = {
            name: values
            for name, values in choices.items()
            if name in signature(function).parameters
        }
        for values in product(*choices.values()):
            params = dict(zip(choices, values, strict=True))
            try:
                tasks.append((Asked(task.benchmark, task.name, params), function(**params)))
            except ValueError as error:
                if isinstance(
                    error.__cause__, FetchError
                ):  # no fault of the condition; the next would fetch again
                    raise
                condition = " ".join([task.registry_name, *map(str, values)])
                left_out.setdefault(str(getattr(error, "message", error)), []).append(condition)
    if not tasks:
        raise failed(ValueError("; ".join(left_out)))
    for why, conditions in left_out.items():
        Console().print(
            Text(f"Left out: {', '.join(conditions)}: {why}", style="yellow"), soft_wrap=True
        )
    return tasks


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
    from music_evals.reports.records import local_logs, read_header

    faults = []
    with local_logs(*([folder] if _exists(folder) else [])) as paths:
        for path in paths:
            try:
                read_header(path)
            except (
                Exception
            ) as error:  # whatever a reader of zip and JSON meets in a file that is no log
                faults.append((str(path), reason(error)))
    return faults


def show_scores(folder: str, limit: int | None) -> None:
    """Show the main metric of each run that ended in success, a line per task under each
    condition.
    """
    from music_evals.reports.records import read_records
    from music_evals.reports.table import share, text
    from music_evals.reports.tables.common import unread_advice

    records = read_records(folder)
    list_logs("Passed over:", records.passed_over)
    runs = records.runs[records.runs["is_current"]]
    if not len(runs):
        return
    say(f"Main metrics{'' if limit is None else f', limited by --limit {limit}'}:")
    for (section, model, condition, data), group in runs.groupby(
        ["section", "model", "condition", "data"], sort=False
    ):
        say(", ".join([section, model, condition, data]))
        width = max(map(len, group["task"]))
        for number, run in group.iterrows():
            score, (scorer, _, metric) = records.score(number), run["main_metric"].partition("/")
            facts = [text(score and replace(score, unread=None))]
            if by_rules := records.score(number, f"{scorer}/accuracy_by_rules"):
                facts += ["with the reader", f"{text(by_rules)} by rules"]
            if score and score.unread is not None:
                facts.append(f"{share(score.unread)} unread")
            say(f"  {run['task']:{width}}  {metric:12}  {', '.join(facts)}")
    for line in unread_advice(runs):
        Console().print(Text(line, "yellow"), soft_wrap=True)


def parse_argument(text: str, option: str) -> tuple[str, Any]:
    """Read ``name=value``; a value that is not JSON is text."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise typer.BadParameter(f"{text!r} is not valid; name=value is needed", param_hint=option)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
