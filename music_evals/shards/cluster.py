"""Shards on a Ray cluster, with their model servers; and the work of builders on a cluster (`spread`).

Ray places each shard on a node. If the node or the process is lost, Ray starts the shard elsewhere, and the shard goes
on from its log. All nodes need this package, and must reach the folder of the logs: a shared folder, or an address such
as ``s3://``.

With GPUs for each shard, Inspect starts a vLLM server in each shard. Servers that shards share are actors, which Ray
restarts if they are lost.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from music_evals.notation.subprocesses import ELSEWHERE, Elsewhere
from music_evals.shards.running import Report, Shard, run_shard

AGAIN: Final = 10
"""How often a shard is restarted after its node, process or server was lost."""

_POLL: Final = 0.5  # seconds between two reports
_TAIL: Final = 2000  # characters of a server's output that an error shows
_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG of Linux


class ServerLostError(RuntimeError):
    """The model server of a shard is lost."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Runs shards on Ray; an engine of `run_in_shards`."""

    address: str | None = None  # default: a running cluster, or else a new one on this machine
    gpus: float = 0  # per shard, for a vLLM server or a model in its process
    servers: int = 0  # vLLM servers that the shards share
    server_gpus: float = 1  # per such server

    def __call__(self, shards: Sequence[Shard], report: Report) -> list[str]:
        """Run shards, and return the errors of those that failed; RuntimeError if no model server starts."""
        if not shards:
            return []
        with _connected(self.address):
            return self._run(shards, report)

    def _run(self, shards: Sequence[Shard], report: Report) -> list[str]:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        tally: Any = ray.remote(num_cpus=0, scheduling_strategy=here)(_Tally).remote()
        start: Any = ray.remote(num_gpus=self.server_gpus, max_restarts=AGAIN, max_task_retries=AGAIN)(_Server).remote
        servers = [start(shards[0].model, dict(shards[0].model_args)) for _ in range(self.servers)]
        ray.get([server.url.remote() for server in servers])
        ask: Any = ray.remote(
            num_gpus=self.gpus,
            max_calls=1,  # a process per shard, because Inspect's settings are global
            max_retries=AGAIN,
            retry_exceptions=[ServerLostError],
            scheduling_strategy="SPREAD",
        )(_ask).remote
        running = {
            ask(shard, tally, servers[index % len(servers)] if servers else None): shard
            for index, shard in enumerate(shards)
        }
        errors: list[str] = []
        while running:
            ended, _ = ray.wait(list(running), timeout=_POLL)
            report(ray.get(tally.take.remote()))
            for task in ended:
                shard = running.pop(task)
                try:
                    ray.get(task)
                except ray.exceptions.RayError as error:
                    reason = getattr(error, "cause", None) or str(error).splitlines()[0]
                    errors.append(f"shard {shard.number}: {reason}")
        report(ray.get(tally.take.remote()))
        return errors


@contextmanager
def spread(address: str | None = None) -> Iterator[None]:
    """Move `map_in_subprocess` and `compile_texts` to the CPUs of a cluster while the context is open.

    `address` is that of the cluster, by default a running cluster, or else a new one on this machine.
    """
    with _connected(address):
        before = ELSEWHERE.set(Elsewhere(_Tasks(), max(1, int(ray.cluster_resources().get("CPU", 1)))))
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
        task: Any = ray.remote(max_retries=AGAIN, scheduling_strategy="SPREAD")(_call)
        future: Future[Any] = task.remote(function, args, options).future()
        return future


def _call(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*args, **options)


class _Tally:
    """Counts finished samples of all shards; a restarted shard counts its samples once."""

    def __init__(self) -> None:
        self.finished: Counter[int] = Counter()
        self.counted: Counter[int] = Counter()
        self.new = 0

    def begin(self, shard: int) -> None:
        self.finished[shard] = 0

    def add(self, shard: int, samples: int) -> None:
        self.finished[shard] += samples
        new = max(0, self.finished[shard] - self.counted[shard])
        self.counted[shard] += new
        self.new += new

    def take(self) -> int:
        new, self.new = self.new, 0
        return new


def _ask(shard: Shard, tally: Any, server: Any) -> None:
    """Run a shard in a worker of Ray."""
    ray.get(tally.begin.remote(shard.number))
    serving = ray.get(server.url.remote()) if server is not None else None
    try:
        run_shard(replace(shard, base_url=serving or shard.base_url), lambda n: tally.add.remote(shard.number, n))
    except Exception as error:
        if server is not None and ray.get(server.url.remote()) != serving:
            raise ServerLostError(f"the server at {serving} was lost") from error
        raise
    ray.get(tally.add.remote(shard.number, 0))  # waits until all counts have arrived


class _Server:
    """A vLLM server, alive as long as its actor."""

    def __init__(self, model: str, arguments: Mapping[str, Any]) -> None:
        program = shutil.which("vllm")
        if program is None:
            raise RuntimeError("there is no vllm on this node; pip install 'music-evals[vllm]' there")
        host = ray.util.get_node_ip_address()
        with socket.socket() as probe:
            probe.bind((host, 0))
            port = probe.getsockname()[1]
        name = model.partition("/")[2]
        flags = [f"--{key.replace('_', '-')}={value}" for key, value in arguments.items()]
        key = os.environ.get("VLLM_API_KEY", "inspectai")
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        self.process = subprocess.Popen(
            [program, "serve", name, "--host", host, "--port", str(port), *flags],
            env={**os.environ, "VLLM_API_KEY": key},
            stdout=self.output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL),
        )
        self.address = f"http://{host}:{port}/v1"
        while not _healthy(f"http://{host}:{port}/health"):
            if self.process.poll() is not None:
                self.output.seek(max(0, self.output.seek(0, os.SEEK_END) - _TAIL))
                output = self.output.read().decode(errors="replace").strip()
                raise RuntimeError(f"vllm serve {name} ended: {output}")
            time.sleep(1)

    def url(self) -> str:
        if self.process.poll() is not None:
            os._exit(1)  # Ray starts the actor again, and with it the server
        return self.address


def _healthy(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False
