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
import tempfile
import time

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

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
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        logs = inspect_eval(
            tasks, model=options.model, log_dir=folder, display="none", log_realtime=options.log_realtime
        )
        seconds = time.perf_counter() - started
    assert all(log.status == "success" for log in logs), [log.error for log in logs]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "MiB": peak, "samples": sum(log.results.total_samples for log in logs)}))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", default="baseline/chance")
    parser.add_argument("--log-realtime", action="store_true")
    parser.add_argument("--once", nargs=2, metavar=("KIND", "SHOTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        run_once(*options.once, options)
        return
    for shots in ("zero", "five"):
        found: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
        for _ in range(options.repeats):
            for kind, runs in found.items():
                again = [sys.executable, *sys.argv, "--once", kind, shots]
                done = subprocess.run(again, check=True, capture_output=True, text=True)
                runs.append(json.loads(done.stdout.splitlines()[-1]))
        best = {kind: min(run["seconds"] for run in runs) for kind, runs in found.items()}
        peak = {kind: max(run["MiB"] for run in runs) for kind, runs in found.items()}
        print(
            f"{shots}-shot, {found['ours'][0]['samples']} samples: {best['ours']:.1f} s and {peak['ours']:.0f} MiB, "
            f"bare Inspect {best['bare']:.1f} s and {peak['bare']:.0f} MiB, "
            f"ratio {best['ours'] / best['bare']:.3f} (fastest of {options.repeats})",
            flush=True,
        )


if __name__ == "__main__":
    main()
