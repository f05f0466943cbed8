"""Shards as processes of this machine. One that is killed is started again and goes on where it was."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing import connection, get_context, parent_process
from typing import Any, Final

from music_evals.shards.running import Report, Shard, run_shard

DEATHS: Final = 3
"""So many times in a row a shard may be killed without having finished a sample."""


def run_processes(shards: Sequence[Shard], report: Report) -> list[str]:
    """Run shards side by side, each in a process.

    Args:
        shards: the shards.
        report: is called with the number of samples that were finished.

    Returns:
        What is to be said of those that did not end in success.
    """
    errors: list[str] = []
    running = [_Worker(shard) for shard in shards]
    try:
        while running:
            by_pipe = {worker.pipe: worker for worker in running}
            for pipe in connection.wait(list(by_pipe)):
                worker = by_pipe[pipe]
                try:
                    said = worker.pipe.recv()
                except EOFError:
                    running.remove(worker)
                    if again := worker.ended():
                        running.append(again)
                    elif worker.error:
                        errors.append(f"shard {worker.shard.number}: {worker.error}")
                    continue
                if isinstance(said, str):
                    worker.error = said
                else:
                    report(worker.count(said))
    finally:
        for worker in running:
            worker.process.terminate()
    return errors


class _Worker:
    """A process, and what it said."""

    def __init__(self, shard: Shard, told: int = 0, deaths: int = 0) -> None:
        self.shard, self.deaths = shard, deaths
        self.before = self.told = told
        self.finished = 0
        self.error = ""
        context: Any = get_context("spawn")
        self.pipe, its = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(shard, its), name=f"shard {shard.number}")
        self.process.start()
        its.close()

    def count(self, samples: int) -> int:
        """Count samples of this process; return how many of them were not told of before."""
        self.finished += samples
        new = max(0, self.finished - self.told)
        self.told += new
        return new

    def ended(self) -> "_Worker | None":
        """Return the process that takes the place of one that was killed; else what was wrong is its `error`."""
        self.process.join()
        code = self.process.exitcode
        if code < 0:
            deaths = 1 if self.told > self.before else self.deaths + 1
            if deaths < DEATHS:
                return _Worker(self.shard, self.told, deaths)
            self.error = f"killed by {signal.Signals(-code).name}, {DEATHS} times before a sample was finished"
        elif code and not self.error:
            self.error = f"its process ended with exit status {code}"
        return None


def _work(shard: Shard, pipe: connection.Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        run_shard(shard, pipe.send)
    except Exception as error:  # of any kind: the process that started this one shows it
        pipe.send(getattr(error, "message", None) or f"{error}" or type(error).__name__)
        sys.exit(1)


def _end_with_parent() -> None:
    """Leave nothing running that nobody waits for, however the starting process ended."""
    parent = parent_process()
    if parent:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)
