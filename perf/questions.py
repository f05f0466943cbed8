"""What a whole run of ZIQI-Eval costs beyond a bare Inspect task of the same size: a ratio of times, and peak memory.

Each run is a process of its own, so that its peak memory is its own. The bare tasks ask the same model the same
prompts with the same flags and are scored by Inspect's own `pattern`. Runs of both kinds alternate.

    python perf/questions.py data/ziqi [--repeats 3] [--model baseline/chance] [--log-realtime]

The dataset is a folder that `music-evals build ziqi` wrote.
"""

import json
import resource
import subprocess
import sys
from typing import Annotated

import typer
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate
from measuring import run, show, start

from music_evals.evals.ziqi import comprehension, generation


def bare(task: Task) -> Task:
    """Make a task of the same prompts with nothing of the suite."""
    samples = [Sample(id=one.id, input=one.input, target=one.target) for one in task.dataset]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=pattern("([ABCD])"), config=task.config)


def run_once(kind: str, shots: str, dataset: str, model: str, log_realtime: bool) -> None:
    """Run both tasks in this process, and print seconds and peak memory."""
    tasks = [make(dataset=dataset, shots=shots) for make in (comprehension, generation)]
    if kind == "bare":
        tasks = [bare(task) for task in tasks]
    seconds, logs = run(tasks, model, log_realtime=log_realtime)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    samples = sum(log.results.total_samples for log in logs if log.results)
    print(json.dumps({"seconds": seconds, "MiB": peak, "samples": samples}))


def compare(shots: str, repeats: int) -> None:
    found: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
    for _ in range(repeats):
        for kind, runs in found.items():
            again = [sys.executable, *sys.argv, "--once", f"{kind} {shots}"]
            done = subprocess.run(again, check=True, capture_output=True, text=True)
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    ours, bare = (min(one["seconds"] for one in runs) for runs in found.values())
    show(f"{shots}-shot, {found['ours'][0]['samples']} samples", ours, "bare Inspect", bare, faster=False)
    peaks = (f"{kind} {max(one['MiB'] for one in runs):.0f} MiB" for kind, runs in found.items())
    print("peak memory: " + ", ".join(peaks), flush=True)


def main(
    dataset: str,
    repeats: int = 3,
    model: str = "baseline/chance",
    log_realtime: bool = False,
    once: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    if once:
        run_once(*once.split(), dataset, model, log_realtime)
    else:
        compare("zero", repeats)
        compare("five", repeats)


if __name__ == "__main__":
    start(main, __doc__)
