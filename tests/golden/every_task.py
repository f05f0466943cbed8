"""Run a few questions of every task with every baseline, and write what comes of it as JSON.

Run as ``python every_task.py OUT`` with the checkout to be tried in PYTHONPATH: see `compare.sh`.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from inspect_ai import eval as inspect_eval

from music_evals import benchmarks
from music_evals.evals.registry import MODULES

MODELS = ["baseline/chance", "baseline/majority", "baseline/reader"]


def outcome(log):
    """Prompts as checksums, targets, replies, scores and metrics; or what the task says if it
    cannot run.
    """
    if log.status != "success":
        return [log.status, log.error.message.splitlines()[0]]
    samples = [
        [
            sample.id,
            [
                hashlib.sha256(str(message.content).encode()).hexdigest()
                for message in sample.messages
            ],
            sample.target,
            sample.output.completion,
            {name: str(score.value) for name, score in sample.scores.items()},
        ]
        for sample in log.samples
    ]
    figures = {
        f"{score.name} {name}": f"{metric.value:.10g}"
        for score in log.results.scores
        for name, metric in score.metrics.items()
    }
    return [samples, figures]


def run(task):
    with tempfile.TemporaryDirectory() as folder:
        try:
            logs = inspect_eval(task(), model=MODELS, limit=4, log_dir=folder, display="none")
        except Exception as error:  # what needs data of others says so
            return [type(error).__name__, str(error).splitlines()[0]]
    return {log.eval.model: outcome(log) for log in logs}


def main(out):
    found = {
        name: run(getattr(MODULES[benchmark], name))
        for benchmark in benchmarks.names()
        for name in benchmarks.load(benchmark).tasks
    }
    Path(out).write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
