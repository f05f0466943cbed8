"""Work on untrusted files, in processes with limits of memory and CPU time.

A process takes one item after the other. If it dies, a new process replaces it, and the other items
are not affected. CPU time is limited rather than wall-clock time, so that results do not depend on
the load of the machine. A second limit, of wall-clock time, ends processes that sleep.
"""

import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from music_evals.notation.lilypond.sandbox.slots import cores

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Work = Callable[[Any], Any]

_CHUNKS = 4  # chunks of items per worker elsewhere; small chunks balance the load


class Elsewhere(NamedTuple):
    """Workers that replace this machine's cores, such as those of a cluster."""

    executor: Executor
    workers: int


ELSEWHERE: ContextVar[Elsewhere | None] = ContextVar("ELSEWHERE", default=None)
"""If set, `map_in_subprocess` and `compile_texts` work there. Arguments are pickled, and files that
they name must be readable there.
"""


class LimitError(RuntimeError):
    """An item exceeded a limit or ended its process; the message says which."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for an item."""

    cpu: int = 300  # seconds
    # Bytes of address space beyond those of the process at its start (Linux only).
    memory: int = 4 << 30
    wall: float = 3600.0  # seconds


def map_in_subprocess(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    allowance: Allowance = Allowance(),
    *,
    few: int = 0,
) -> Iterator[_Result | LimitError]:
    """Apply a function to items in as many processes as there are cores, and yield the results in
    order.

    Function, items and results are pickled, and the module of the function is imported. `ELSEWHERE`
    moves the work.

    Args:
        work: the function.
        items: its arguments.
        allowance: limits for each item.
        few: so many items or fewer are done in this process, without limits, because a process
            takes seconds to start.

    Yields:
        The result, or a LimitError if the item exceeded the allowance or ended its process.
        Exceptions of the function are raised.
    """
    if len(items) <= few:
        yield from map(work, items)
    elif elsewhere := ELSEWHERE.get():
        size = -(-len(items) // (elsewhere.workers * _CHUNKS))
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        for results in elsewhere.executor.map(
            _in_one_process, repeat(work), chunks, repeat(allowance)
        ):
            yield from results
    else:
        yield from _in_processes(work, items, allowance, cores())


def _in_one_process(work: _Work, items: Sequence[Any], allowance: Allowance) -> list[Any]:
    return list(_in_processes(work, items, allowance, 1))


def _in_processes(
    work: _Work, items: Sequence[Any], allowance: Allowance, processes: int
) -> Iterator[Any]:
    thread = threading.local()
    children: list[_Child] = []

    def run(item: Any) -> Any:
        if getattr(thread, "child", None) is None:
            thread.child = _Child(work, allowance)
            children.append(thread.child)
        try:
            return thread.child.run(item)
        except LimitError as error:
            thread.child = None
            return error

    with ThreadPoolExecutor(processes) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            for child in children:
                child.end()


class _Child:
    """A process that works on items; unlike `multiprocessing` it does not import the main module,
    such as Inspect.
    """

    def __init__(self, work: _Work, allowance: Allowance) -> None:
        self._allowance = allowance
        self._pipe, theirs = Pipe()
        python_path = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({theirs.fileno()})"],
            stdin=subprocess.DEVNULL,
            stdout=2,  # output of the function goes to standard error
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": python_path},
        )
        theirs.close()
        self._pipe.send((work, allowance))

    def run(self, item: Any) -> Any:
        """Return the result of an item; a LimitError ends the process."""
        try:
            self._pipe.send(item)
            if self._pipe.poll(self._allowance.wall):
                answer = self._pipe.recv()
            else:
                answer = LimitError(f"took more than {self._allowance.wall:g} s")
        except (EOFError, OSError, pickle.UnpicklingError):
            code = self._process.wait()
            end = f"by signal {-code}" if code < 0 else f"with status {code}"
            answer = LimitError(f"its process ended {end}")
            if code == -signal.SIGXCPU:
                answer = LimitError(f"took more than {self._allowance.cpu} s of CPU time")
        if isinstance(answer, LimitError):
            self.end()
        if isinstance(answer, Exception):
            raise answer
        return answer[0]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()


def serve(descriptor: int) -> None:
    """Work in the child process on what comes through a pipe: the function with the allowance, then
    the items.

    An answer is a tuple with the result, or an exception.
    """
    # music21 creates millions of objects; the default of 700 takes a tenth longer.
    gc.set_threshold(50_000)
    with Connection(descriptor) as pipe, suppress(EOFError, KeyboardInterrupt):
        work, allowance = pipe.recv()
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + allowance.memory)
        while True:
            pipe.send(_answer(work, pipe.recv(), allowance))


def _answer(work: _Work, item: Any, allowance: Allowance) -> Any:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + allowance.cpu)
    try:
        return (work(item),)
    except MemoryError:
        return LimitError(f"needs more than {allowance.memory / (1 << 30):.3g} GiB of memory")
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error


def _limit(resource_number: int, value: int) -> None:
    """Set a soft limit, within the hard limit of the machine."""
    hard = resource.getrlimit(resource_number)[1]
    resource.setrlimit(
        resource_number, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard)
    )
