"""What the scripts share: their arguments, times, and runs of Inspect."""

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any, TypeVar

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

T = TypeVar("T")


def arguments(doc: str | None) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def timed(compute: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and the result."""
    started = time.perf_counter()
    found = compute()
    return time.perf_counter() - started, found


def fastest(compute: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some runs."""
    return min(timed(compute)[0] for _ in range(repeats))


def run(tasks: Task | list[Task], model: str, **options: Any) -> tuple[float, list[EvalLog]]:
    """Seconds that tasks take, without a display and with logs that are thrown away, and the logs."""
    options = {"display": "none", "log_realtime": False, **options}
    with tempfile.TemporaryDirectory() as folder:
        seconds, logs = timed(lambda: inspect_eval(tasks, model=model, log_dir=folder, **options))
    assert all(log.status == "success" for log in logs), [log.error for log in logs]
    return seconds, list(logs)
