"""Work on files from outside, in processes with limits of memory and CPU time.

Readers of scores can be led to use up both: a process takes one item after the other, and one that dies of an item is
replaced, so that the other items come to no harm. CPU time counts, so that nothing depends on what else the machine
does; a limit of wall-clock time is there for what sleeps.
"""

import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from music_evals.notation.lilypond.slots import cores

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_SPAWNED: Final = get_context("spawn")  # forks of a process with threads (Inspect's) can hang


class LimitError(RuntimeError):
    """An item that took too much, or of which the process died; the message says how."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the work on an item may use up."""

    cpu: int = 300  # seconds
    memory: int = 4 << 30  # bytes of address space, beyond what the process has at its start (Linux only)
    wall: float = 3600.0  # seconds


def each_apart(
    work: Callable[[_Item], _Result], items: Sequence[_Item], allowance: Allowance = Allowance(), *, few: int = 0
) -> Iterator[_Result | LimitError]:
    """Work on items in as many processes as there are cores, and yield the results in order.

    The function, items and results have to be such as can be pickled. An item that goes beyond the allowance, or of
    which the process dies, gives a LimitError; what the function raises is raised. A process takes seconds to start, so
    that no more items than `few` are worked on right here, without limits.
    """
    if len(items) <= few:
        yield from map(work, items)
        return
    own = threading.local()
    children: list[_Child[_Item, _Result]] = []

    def run(item: _Item) -> _Result | LimitError:
        if getattr(own, "child", None) is None:
            own.child = _Child(work, allowance)
            children.append(own.child)
        try:
            result: _Result = own.child.run(item)
        except LimitError as error:
            own.child = None
            return error
        return result

    with ThreadPoolExecutor(cores()) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            for child in children:
                child.end()


class _Child(Generic[_Item, _Result]):
    """A process that works on items."""

    def __init__(self, work: Callable[[_Item], _Result], allowance: Allowance) -> None:
        self._allowance = allowance
        self._connection, theirs = _SPAWNED.Pipe()
        self._process = _SPAWNED.Process(target=_serve, args=(work, theirs, allowance), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, item: _Item) -> _Result:
        """The result of an item; after a LimitError the process is gone."""
        try:
            self._connection.send(item)
            answered = self._connection.poll(self._allowance.wall)
            found = self._connection.recv() if answered else LimitError(f"took more than {self._allowance.wall:g} s")
        except (EOFError, ConnectionError):
            self._process.join()
            found = LimitError(self._cause())
        if isinstance(found, LimitError):
            self.end()
        if isinstance(found, Exception):
            raise found
        result: _Result = found[0]
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def _cause(self) -> str:
        code = self._process.exitcode or 0
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"took more than {self._allowance.cpu} s of CPU time"
        return f"its process ended by signal {-code}" if code < 0 else f"its process ended with status {code}"


def _serve(work: Callable[[Any], Any], connection: Connection, allowance: Allowance) -> None:
    """Work on what comes, in the process: sent back is a tuple with the result, or an exception."""
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + allowance.memory)
    while True:
        try:
            item = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        if sys.platform != "win32":
            import resource

            used = resource.getrusage(resource.RUSAGE_SELF)
            _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + allowance.cpu)
        try:
            answer: Any = (work(item),)
        except MemoryError:
            answer = LimitError(f"needs more than {allowance.memory / (1 << 30):.3g} GiB of memory")
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        connection.send(answer)


def _limit(what: int, value: int) -> None:
    """Set a limit that may be raised again, within what the machine allows."""
    import resource

    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
