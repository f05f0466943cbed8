"""How often a vLLM server reads a score when twelve questions on it are asked one at a time: by its own counters.

The task is run on prompts that the server has never seen, once with rules as judge and once with three judge models.
The server counts the tokens of prompts that it looked up in its prefix cache, and those that it found there; the
difference is what it read. Without a cache it would read each score twelve times.

    VLLM_BASE_URL=http://127.0.0.1:8000/v1 python perf/prefix_caching.py vllm/NAME [--scores 8]

The server must be vLLM with prefix caching on, which is its default, and nobody else may be using it.
"""

import os
import re
import secrets
from itertools import takewhile

import httpx
from inspect_ai import Task
from measuring import run, start

from music_evals.evals.msu import textual
from music_evals.scorers.judge import judged

_COUNTER = re.compile(r"^vllm:prefix_cache_(queries|hits)_total(?:\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE)


def counters(metrics: str) -> dict[str, float]:
    """Read the server's counters."""
    found: dict[str, float] = {}
    for name, value in _COUNTER.findall(httpx.get(metrics).text):
        found[name] = found.get(name, 0.0) + float(value)
    assert set(found) == {"queries", "hits"}, f"{metrics} has no counters of prefix caching"
    return found


def least(task: Task, server: str) -> int:
    """Count the tokens of the prompts when what those of a score share is counted once."""
    by_score: dict[str, list[list[int]]] = {}
    for sample in task.dataset:
        messages = [{"role": one.role, "content": one.text} for one in sample.input]
        answer = httpx.post(f"{server}/tokenize", json={"messages": messages})
        by_score.setdefault(sample.metadata["score_id"], []).append(answer.raise_for_status().json()["tokens"])
    total = 0
    for prompts in by_score.values():
        shared = sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, zip(*prompts, strict=False)))
        total += shared + sum(len(prompt) - shared for prompt in prompts)
    return total


def fresh(task: Task, scores: int) -> Task:
    """Take the questions on some scores, with a mark ahead that no earlier run had in its prompts."""
    mark = secrets.token_hex(8)
    wanted = list(dict.fromkeys(sample.metadata["score_id"] for sample in task.dataset))[:scores]
    task.dataset = task.dataset.filter(lambda sample: sample.metadata["score_id"] in wanted)
    for sample in task.dataset:
        sample.input[0].content = f"[{mark}] {sample.input[0].content}"
    return task


def measure(model: str, dataset: str, scores: int, connections: int, judges: tuple[str, ...]) -> None:
    server = os.environ["VLLM_BASE_URL"].removesuffix("/").removesuffix("/v1")
    task = fresh(textual(dataset=dataset, asking="single", cache=False), scores)
    task.scorer = [judged(list(judges) or "rules")]
    before = counters(f"{server}/metrics")
    roles = dict.fromkeys(judges, model)
    seconds, (log,) = run(task, model, model_roles=roles, max_connections=connections, max_tokens=16)
    after = counters(f"{server}/metrics")
    asked, found = (after[name] - before[name] for name in ("queries", "hits"))
    print(
        f"{log.results.total_samples if log.results else 0} questions on {scores} scores, {len(judges)} judge models, "
        f"{seconds:.1f} s: prompts of {asked:.0f} tokens, {found:.0f} of them from the cache "
        f"({100 * found / asked:.1f}%), {asked - found:.0f} read",
        flush=True,
    )
    if not judges:
        print(f"the least that can be read, each score once and every question once: {least(task, server)} tokens")


def main(model: str, dataset: str = "generated", scores: int = 8, connections: int = 32) -> None:
    for judges in ((), ("judge_1", "judge_2", "judge_3")):
        measure(model, dataset, scores, connections, judges)


if __name__ == "__main__":
    start(main, __doc__)
