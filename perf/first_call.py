"""How long does a task take from an empty cache to its first request, next to a task that asks "Hello"?

Each task starts in a process of its own, with a new folder in MUSIC_EVALS_CACHE, as `inspect eval FILE@TASK` does, and
ends when the model is asked for the first time. CPU seconds are those of the process and of all that it started and
waited for; the load is that of the machine when the task began to ask.

    python perf/first_call.py [--only lilybench] [--root CLONE]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Final

PLAIN: Final = "a task that asks Hello"
STARTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    PLAIN: ("", {}),
    "muse, all three": ("evals/muse.py", {}),
    "muse, all three, audio": ("evals/muse.py", {"modality": "audio"}),
    "ziqi, both": ("evals/ziqi.py", {}),
    "musictheorybench, both": ("evals/musictheorybench.py", {}),
    "msu textual": ("evals/msu.py@textual", {}),
    "msu visual": ("evals/msu.py@visual", {}),
    "msu, both": ("evals/msu.py", {}),
    **{
        f"lilybench {name}": (f"evals/lilybench.py@{name}", {})
        for name in (
            *("bar_count", "metadata_qa", "bar_sequencing", "next_bar_prediction", "metadata_prediction"),
            *("music_captioning", "composer_recognition", "genre_recognition", "emotion_recognition"),
            *("error_detection", "generation"),
        )
    },
    "lilybench, all eleven": ("evals/lilybench.py", {}),
}
"""What is started: a file of tasks, or one of them, and parameters."""


def ask(task: str, given: dict[str, Any]) -> None:
    """Run a task, or the plain one, up to its first request, and print what that took."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelAPI, get_model, modelapi

    @modelapi(name="stops")
    class Stops(ModelAPI):
        async def generate(self, *_: Any, **__: Any) -> Any:
            spent = os.times()
            seconds = spent.user + spent.system + spent.children_user + spent.children_system
            print(json.dumps({"at": time.time(), "cpu": seconds, "load": os.getloadavg()[0]}), flush=True)
            os._exit(0)

    asked = task or Task(dataset=MemoryDataset([Sample("Hello")]))
    with tempfile.TemporaryDirectory() as logs:
        inspect_eval(asked, get_model("stops/now"), task_args=given, log_dir=logs, display="none", max_connections=1)


def measure(task: str, given: dict[str, Any], root: str) -> dict[str, float]:
    """Seconds, CPU seconds and load of a start from an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        started = time.time()
        ended = subprocess.run(
            [sys.executable, os.path.abspath(__file__), "ask", task, json.dumps(given)],
            env={**os.environ, "MUSIC_EVALS_CACHE": cache, "PYTHONPATH": root},
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
        return {**found, "wall": found["at"] - started}


def main(only: str = "", root: str = ".") -> None:
    plain = measure("", {}, os.path.abspath(root))
    print("| start | seconds | of CPU | load | ratio of CPU to the plain start |\n|---|---|---|---|---|", flush=True)
    for name, (task, given) in STARTS.items():
        if only in name or name == PLAIN:
            found = plain if name == PLAIN else measure(task, given, os.path.abspath(root))
            ratio = found["cpu"] / plain["cpu"]
            cells = (f"{found['wall']:.1f}", f"{found['cpu']:.1f}", f"{found['load']:.1f}", f"{ratio:.1f}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(sys.argv[2], json.loads(sys.argv[3]))
    else:
        from measuring import start

        start(main, __doc__)
