"""Shards as processes of this machine. A shard that is killed starts again and goes on where it
was.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing import connection, get_context, parent_process
from typing import Any

from music_evals.shards.running import Report, Shard, run_shard

DEATHS = 3
"""A shard is given up when it was killed so many times in a row without finishing a sample."""
_LIBRARIES = ["music_evals.evals.registry", "music_evals.shards.running", "datasets", "openai"]
"""What all shards need: one process imports it, and the shards are forks of that process."""


def run_processes(shards: Sequence[Shard], report: Report) -> list[str]:
    """Run shards side by side, a process per shard; an engine of `run_in_shards`."""
    errors = []
    running = [_Worker(shard) for shard in shards]
    try:
        while running:
            by_pipe = {worker.pipe: worker for worker in running}
            for pipe in connection.wait(list(by_pipe)):
                worker = by_pipe[pipe]
                try:
                    message = worker.pipe.recv()
                except EOFError:
                    running.remove(worker)
                    if successor := worker.successor():
                        running.append(successor)
                    elif worker.error:
                        errors.append(f"shard {worker.shard.number}: {worker.error}")
                    continue
                if isinstance(message, str):
                    worker.error = message
                else:
                    report(worker.count(message))
    finally:
        for worker in running:
            worker.process.terminate()
    return errors


class _Worker:
    """A process of a shard, and the messages that it sent."""

    def __init__(self, shard: Shard, counted: int = 0, deaths: int = 0) -> None:
        self.shard, self.deaths = shard, deaths
        self.counted_before = self.counted = counted
        self.finished = 0
        self.error = ""
        context: Any = get_context("forkserver")
        context.set_forkserver_preload(_LIBRARIES)
        self.pipe, its = context.Pipe(duplex=False)
        self.process = context.Process(
            target=_work, args=(shard, its, dict(os.environ)), name=f"shard {shard.number}"
        )
        self.process.start()
        its.close()

    def count(self, samples: int) -> int:
        """Count finished samples; return how many of them an earlier process had not counted."""
        self.finished += samples
        new = max(0, self.finished - self.counted)
        self.counted += new
        return new

    def successor(self) -> "_Worker | None":
        """Replace a process that was killed; otherwise set `error` if it ended in one."""
        self.process.join()
        code = self.process.exitcode
        if code < 0:
            deaths = 1 if self.counted > self.counted_before else self.deaths + 1
            if deaths < DEATHS:
                return _Worker(self.shard, self.counted, deaths)
            self.error = (
                f"killed by {signal.Signals(-code).name}, {DEATHS} times before a sample was "
                "finished"
            )
        elif code and not self.error:
            self.error = f"its process ended with exit status {code}"
        return None


def _work(shard: Shard, pipe: connection.Connection, environment: dict[str, str]) -> None:
    os.environ.update(environment)  # which the process that was forked has of its own start
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        run_shard(shard, pipe.send)
    except Exception as error:  # of any class; the parent process shows it
        pipe.send(getattr(error, "message", None) or f"{error}" or type(error).__name__)
        sys.exit(1)


def _end_with_parent() -> None:
    """End this process when the parent has ended for whatever reason."""
    parent = parent_process()
    if parent:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)
