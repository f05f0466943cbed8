"""Shards on a Ray cluster, and the work of builders on a cluster (`spread`).

Ray places each shard on a node. If the node or the process is lost, Ray starts the shard elsewhere,
and the shard goes on from its log. All nodes need this package, and must reach the folder of the
logs: a shared folder, or an address such as ``s3://``. With GPUs for each shard, Inspect starts a
vLLM server in each shard.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ray

from music_evals.notation.subprocesses import ELSEWHERE, Elsewhere
from music_evals.shards.running import Report, Shard, run_shard

AGAIN = 10
"""How often a shard is restarted after its node or process was lost."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Runs shards on Ray; an engine of `run_in_shards`."""

    address: str | None = None  # default: a running cluster, or else a new one on this machine
    gpus: float = 0  # per shard, for a vLLM server or a model in its process

    def __call__(self, shards: Sequence[Shard], report: Report) -> list[str]:
        """Run shards, and return the errors of those that failed; report the samples of each that
        ended.
        """
        if not shards:
            return []
        # A process per shard, because Inspect's settings are global.
        options = {
            "num_gpus": self.gpus,
            "max_calls": 1,
            "max_retries": AGAIN,
            "scheduling_strategy": "SPREAD",
        }
        errors = []
        with _connected(self.address):
            ask = ray.remote(**options)(_ask)
            running = {ask.remote(shard): shard for shard in shards}
            while running:
                (ended,), _ = ray.wait(list(running))
                shard = running.pop(ended)
                try:
                    report(ray.get(ended))
                except ray.exceptions.RayError as error:
                    reason = getattr(error, "cause", None) or str(error).splitlines()[0]
                    errors.append(f"shard {shard.number}: {reason}")
        return errors


def _ask(shard: Shard) -> int:
    """Run a shard in a worker of Ray, and return its number of samples."""
    finished: list[int] = []
    run_shard(shard, finished.append)
    return sum(finished)


@contextmanager
def spread(address: str | None = None) -> Iterator[None]:
    """Move `map_in_subprocess` and `compile_texts` to the CPUs of a cluster while the context is
    open.

    `address` is that of the cluster, by default a running cluster, or else a new one on this
    machine.
    """
    with _connected(address):
        before = ELSEWHERE.set(
            Elsewhere(_Tasks(), max(1, int(ray.cluster_resources().get("CPU", 1))))
        )
        try:
            yield
        finally:
            ELSEWHERE.reset(before)


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    is_new = not ray.is_initialized()
    if is_new:
        ray.init(address=address, log_to_driver=False, logging_level="warning")
    try:
        yield
    finally:
        if is_new:
            ray.shutdown()


class _Tasks(Executor):
    """Runs each call as a Ray task with one CPU."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> "Future[Any]":
        # Ray takes functions only, and this may be a method.
        task: Any = ray.remote(max_retries=AGAIN, scheduling_strategy="SPREAD")(
            lambda: function(*args, **options)
        )
        future: Future[Any] = task.remote().future()
        return future
