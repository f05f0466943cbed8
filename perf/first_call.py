"""How long a task takes from an empty cache to its first request, beside a task that asks "Hello".

Each task starts in a process of its own, with an empty folder in MUSIC_EVALS_CACHE, as `inspect
eval FILE@TASK` starts it. The measurement ends when the task asks the model for the first time. CPU
seconds include all processes that the task started and waited for.

    python perf/first_call.py [--only lilybench]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import typer

PLAIN = "a task that asks Hello"
STARTS: dict[str, tuple[str, dict[str, Any]]] = {
    PLAIN: ("", {}),
    "muse, all three": ("evals/muse.py", {}),
    "muse, all three, audio": ("evals/muse.py", {"modality": "audio"}),
    "ziqi, both": ("evals/ziqi.py", {}),
    "musictheorybench, both": ("evals/musictheorybench.py", {}),
    "msu textual": ("evals/msu.py@textual", {}),
    "msu visual": ("evals/msu.py@visual", {}),
    "msu, both": ("evals/msu.py", {}),
    "lilybench bar_count": ("evals/lilybench.py@bar_count", {}),
    "lilybench generation": ("evals/lilybench_generation.py", {}),
    "lilybench, all ten": ("evals/lilybench.py", {}),
}
"""What is started: a file of tasks or a task of it, and parameters."""


def ask(task: str, params: dict[str, Any]) -> None:
    """Run a task, or the plain one, up to its first request, and print the time and the CPU
    seconds.
    """
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelAPI, get_model, modelapi

    @modelapi(name="stops")
    class Stops(ModelAPI):
        async def generate(self, *_: Any, **__: Any) -> Any:
            spent = os.times()
            seconds = spent.user + spent.system + spent.children_user + spent.children_system
            print(json.dumps({"at": time.time(), "cpu": seconds}), flush=True)
            os._exit(0)

    tasks = task or Task(dataset=MemoryDataset([Sample("Hello")]))
    with tempfile.TemporaryDirectory() as logs:
        inspect_eval(
            tasks,
            get_model("stops/now"),
            task_args=params,
            log_dir=logs,
            display="none",
            max_connections=1,
        )


def measure(task: str, params: dict[str, Any]) -> dict[str, float]:
    """Return seconds and CPU seconds of a start from an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        started = time.time()
        ended = subprocess.run(
            [sys.executable, os.path.abspath(__file__), "ask", task, json.dumps(params)],
            env={**os.environ, "MUSIC_EVALS_CACHE": cache, "PYTHONPATH": os.getcwd()},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
        return {**figures, "wall": figures["at"] - started}


def main(only: str = "") -> None:
    """Print a row for each start."""
    plain = measure("", {})
    print(
        "| start | seconds | of CPU | ratio of CPU to the plain start |\n|---|---|---|---|",
        flush=True,
    )
    for name, (task, params) in STARTS.items():
        if only in name or name == PLAIN:
            figures = plain if name == PLAIN else measure(task, params)
            ratio = figures["cpu"] / plain["cpu"]
            print(
                f"| {name} | {figures['wall']:.1f} | {figures['cpu']:.1f} | {ratio:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(sys.argv[2], json.loads(sys.argv[3]))
    else:
        typer.run(main)
