"""What a whole run of ZIQI-Eval costs beyond a bare Inspect task of the same size: a ratio of times, and peak memory.

Each run is a process of its own, so that its peak memory is its own. The bare tasks ask the same model the same
prompts with the same flags and are scored by Inspect's own `pattern`. Runs of both kinds alternate.

    python perf/questions.py --dataset data/ziqi [--repeats 3] [--model baseline/chance] [--log-realtime]

The dataset is a folder that `music-evals build ziqi` wrote.
"""

import argparse
import json
import resource
import subprocess
import sys

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate
from measuring import arguments, run

from music_evals.evals.ziqi import comprehension, generation


def bare(task: Task) -> Task:
    """Make a task of the same prompts with nothing of the suite."""
    samples = [Sample(id=one.id, input=one.input, target=one.target) for one in task.dataset]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=pattern("([ABCD])"), config=task.config)


def run_once(kind: str, shots: str, options: argparse.Namespace) -> None:
    """Run both tasks in this process, and print seconds and peak memory."""
    tasks = [make(dataset=options.dataset, shots=shots) for make in (comprehension, generation)]
    if kind == "bare":
        tasks = [bare(task) for task in tasks]
    seconds, logs = run(tasks, options.model, log_realtime=options.log_realtime)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    samples = sum(log.results.total_samples for log in logs if log.results)
    print(json.dumps({"seconds": seconds, "MiB": peak, "samples": samples}))


def compare(shots: str, repeats: int) -> None:
    found: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
    for _ in range(repeats):
        for kind, runs in found.items():
            again = [sys.executable, *sys.argv, "--once", kind, shots]
            done = subprocess.run(again, check=True, capture_output=True, text=True)
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    best = {kind: min(one["seconds"] for one in runs) for kind, runs in found.items()}
    peak = {kind: max(one["MiB"] for one in runs) for kind, runs in found.items()}
    print(
        f"{shots}-shot, {found['ours'][0]['samples']} samples: {best['ours']:.1f} s and {peak['ours']:.0f} MiB, "
        f"bare Inspect {best['bare']:.1f} s and {peak['bare']:.0f} MiB, "
        f"ratio {best['ours'] / best['bare']:.3f} (fastest of {repeats})",
        flush=True,
    )


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", default="baseline/chance")
    parser.add_argument("--log-realtime", action="store_true")
    parser.add_argument("--once", nargs=2, metavar=("KIND", "SHOTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        run_once(*options.once, options)
    else:
        compare("zero", options.repeats)
        compare("five", options.repeats)
