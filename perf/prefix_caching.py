"""How often a vLLM server reads a score when twelve questions on it are asked one at a time: by its own counters.

The task is run twice on fresh prompts, with and without letting the first question of a score go ahead. The server
counts the tokens of prompts that it looked up in its prefix cache, and those that it found there; the difference is
what it read. One reading of each score, with its questions once each, is the least possible.

    VLLM_BASE_URL=http://127.0.0.1:8000/v1 python perf/prefix_caching.py --model vllm/NAME [--scores 8]

The server must be vLLM with prefix caching on, which is its default, and nobody else may be using it.
"""

import argparse
import os
import re
import secrets
import tempfile
import time

import httpx
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.solver import generate

from music_evals.evals.msu import textual
from music_evals.scorers.judge import judged

_COUNTER = re.compile(r"^vllm:prefix_cache_(queries|hits)_total(?:\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE)
JUDGES = ("judge_1", "judge_2", "judge_3")


def counters(metrics: str) -> dict[str, float]:
    """Read the server's counters."""
    found: dict[str, float] = {}
    for name, value in _COUNTER.findall(httpx.get(metrics).text):
        found[name] = found.get(name, 0.0) + float(value)
    assert set(found) == {"queries", "hits"}, f"{metrics} has no counters of prefix caching"
    return found


def fresh(task: Task, scores: int) -> Task:
    """Take the questions on some scores, with a mark ahead that no earlier run had in its prompts."""
    mark = secrets.token_hex(8)
    wanted = list(dict.fromkeys(sample.metadata["score_id"] for sample in task.dataset))[:scores]
    task.dataset = task.dataset.filter(lambda sample: sample.metadata["score_id"] in wanted)
    for sample in task.dataset:
        sample.input[0].content = f"[{mark}] {sample.input[0].content}"
    return task


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--dataset", default="generated")
    parser.add_argument("--scores", type=int, default=8)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    metrics = os.environ["VLLM_BASE_URL"].removesuffix("/").removesuffix("/v1") + "/metrics"
    for what in ("first question ahead", "all at once"):
        task = fresh(textual(dataset=options.dataset, asking="single", cache=False), options.scores)
        task.scorer = [judged(list(JUDGES))]
        if what == "all at once":
            task.solver = generate()
        before, started = counters(metrics), time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            (log,) = inspect_eval(
                task,
                model=options.model,
                model_roles=dict.fromkeys(JUDGES, options.model),
                log_dir=folder,
                display="none",
                log_realtime=False,
                max_connections=options.connections,
                max_tokens=16,
            )
        assert log.status == "success", log.error
        seconds = time.perf_counter() - started
        after = counters(metrics)
        asked, found = (after[name] - before[name] for name in ("queries", "hits"))
        print(
            f"{what}: {log.results.total_samples} questions on {options.scores} scores and "
            f"{len(JUDGES)} judges, {seconds:.1f} s; prompts of {asked:.0f} tokens, {found:.0f} of them from the cache "
            f"({100 * found / asked:.1f}%), {asked - found:.0f} read",
            flush=True,
        )


if __name__ == "__main__":
    main()
