"""What the scripts share: their start, times, how two are printed, and runs of Inspect."""

import tempfile
import time
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

T = TypeVar("T")


def start(main: Callable[..., None], doc: str | None) -> None:
    """Run a script whose options are the parameters of `main`."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(help=f"\b\n{doc}")(main)
    app()


def timed(compute: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and the result."""
    started = time.perf_counter()
    found = compute()
    return time.perf_counter() - started, found


def fastest(compute: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some runs."""
    return min(timed(compute)[0] for _ in range(repeats))


def show(what: str, ours: float, other: str, theirs: float, *, faster: bool = True) -> None:
    """Print our seconds, the other's, and how many times as fast, or as slow, ours are."""
    ratio = theirs / ours if faster else ours / theirs
    print(f"{what}: {ours:.4g} s, {other} {theirs:.4g} s, ratio {ratio:.3g}", flush=True)


def run(tasks: Task | list[Task], model: str, **options: Any) -> tuple[float, list[EvalLog]]:
    """Seconds that tasks take, without a display and with logs that are thrown away, and the logs."""
    options = {"display": "none", "log_realtime": False, **options}
    with tempfile.TemporaryDirectory() as folder:
        seconds, logs = timed(lambda: inspect_eval(tasks, model=model, log_dir=folder, **options))
    assert all(log.status == "success" for log in logs), [log.error for log in logs]
    return seconds, list(logs)
