"""Work on files that a stranger may have written, in processes with limits of memory and CPU time.

A process takes one item after the other. If it dies, a new process replaces it, and the other items
are not affected. CPU time is limited rather than wall-clock time, so that results do not depend on
the load of the machine. A second limit, of wall-clock time, ends processes that sleep. What a file
may use up grows with its size (`allowance_for`).

On Linux a process is a copy of this one, as long as this one has a single thread: that takes
milliseconds, where a new process takes seconds to import its libraries. Memory is limited on Linux
only. Systems without `resource`, such as Windows, have no limits: the work is done in this process.
"""

import gc
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar
from weakref import WeakSet

from music_evals.notation.lilypond.sandbox.slots import cores

with suppress(ImportError):
    import resource

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Work = Callable[[Any], Any]

_CHUNKS = 4  # chunks of items per worker elsewhere; small chunks balance the load
_CHILDREN_PIPES: WeakSet[Connection] = WeakSet()


class Elsewhere(NamedTuple):
    """Workers that replace this machine's cores, such as those of a cluster."""

    executor: Executor
    workers: int


ELSEWHERE: ContextVar[Elsewhere | None] = ContextVar("ELSEWHERE", default=None)
"""If set, `map_in_subprocess` and `compile_texts` work there. Arguments are pickled, and files that
they name must be readable there.
"""


class LimitError(ValueError):
    """An item exceeded a limit or ended its process; the message says which."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for an item."""

    cpu: int = 300  # seconds
    memory: int = 4 << 30  # bytes beyond those that the process has already (Linux only)
    wall: float = 3600.0  # seconds


def allowance_for(size: int, bytes_per_byte: int = 1000) -> Allowance:
    """Return what reading a file of so many bytes may use up: 30 s and 256 MiB, and more with each
    byte, up to the limits of `Allowance`.

    >>> allowance_for(11_000)
    Allowance(cpu=41, memory=279435456, wall=3600.0)
    """
    most = Allowance()
    memory = min((256 << 20) + bytes_per_byte * size, most.memory)
    return Allowance(min(30 + size // 1000, most.cpu), memory)


def allowance_of(path: Path) -> Allowance:
    """Return `allowance_for` the size of a file."""
    return allowance_for(path.stat().st_size if path.is_file() else 0)


def read_in_subprocess(read: Callable[[Path], _Result], path: Path) -> _Result:
    """Read one file within `allowance_of` it; LimitError if that takes more, or what `read`
    raises.
    """
    (result,) = map_in_subprocess(read, [path], allowance_of)
    if isinstance(result, LimitError):
        raise result
    return result


def _unlimited(_: Any) -> Allowance:
    return Allowance()


def map_in_subprocess(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    allowance: Callable[[_Item], Allowance] = _unlimited,
    *,
    per_process: int = 1,
) -> Iterator[_Result | LimitError]:
    """Apply a function to items in as many processes as there are cores, and yield the results in
    order.

    Function, items and results are pickled, and the module of the function is imported. `ELSEWHERE`
    moves the work.

    Args:
        work: the function.
        items: its arguments.
        allowance: the limits for an item; `Allowance` without any.
        per_process: items for which another process is worth while.

    Yields:
        The result, or a LimitError if the item exceeded the allowance or ended its process.
        Exceptions of the function are raised.
    """
    if "resource" not in globals():
        yield from map(work, items)
    elif elsewhere := ELSEWHERE.get():
        size = -(-len(items) // (elsewhere.workers * _CHUNKS))
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        for results in elsewhere.executor.map(
            _in_one_process, repeat(work), chunks, repeat(allowance)
        ):
            yield from results
    else:
        processes = min(cores(), -(-len(items) // per_process))
        yield from _in_processes(work, items, allowance, processes)


def _in_one_process(
    work: _Work, items: Sequence[Any], allowance: Callable[[Any], Allowance]
) -> list[Any]:
    return list(_in_processes(work, items, allowance, 1))


def _in_processes(
    work: _Work, items: Sequence[Any], allowance: Callable[[Any], Allowance], processes: int
) -> Iterator[Any]:
    tasks = iter(enumerate(items))
    results: dict[int, Any] = {}
    busy: dict[int, _Child] = {}
    idle: list[_Child] = []
    try:
        for number in range(len(items)):
            while number not in results:
                while len(busy) < processes and (task := next(tasks, None)):
                    child = idle.pop() if idle else _Child(work)
                    busy[task[0]] = child
                    child.start(task[1], allowance(task[1]))
                wait([child.pipe for child in busy.values()], 1)
                for ended in [place for place in busy if busy[place].has_ended()]:
                    child = busy.pop(ended)
                    results[ended] = child.result()
                    if not isinstance(results[ended], LimitError):
                        idle.append(child)
            yield results.pop(number)
    finally:
        for child in [*busy.values(), *idle]:
            child.end()


class _Child:
    """A process that works on items, one after the other."""

    def __init__(self, work: _Work) -> None:
        self.pipe, theirs = Pipe()
        _CHILDREN_PIPES.add(self.pipe)
        # A copy of a process with threads may wait for ever for what another thread held.
        if sys.platform == "linux" and threading.active_count() == 1:
            self._process = os.fork()
            if not self._process:
                _serve_as_copy(work, theirs)
        else:
            self._process = _start_python(theirs.fileno())
            self.pipe.send(work)
        theirs.close()

    def start(self, item: Any, allowance: Allowance) -> None:
        """Start to work on an item."""
        self._allowance = allowance
        self._deadline = time.monotonic() + allowance.wall
        with suppress(OSError):  # a process that is gone has no result
            self.pipe.send((item, allowance))

    def has_ended(self) -> bool:
        """Whether there is a result, also as the process is gone or late."""
        return self.pipe.poll() or time.monotonic() > self._deadline

    def result(self) -> Any:
        """Return the result of the item, or a LimitError, which ends the process."""
        answer = LimitError(f"took more than {self._allowance.wall:g} s")
        if self.pipe.poll():
            try:
                answer = pickle.loads(self.pipe.recv_bytes())
            except (EOFError, OSError, pickle.UnpicklingError):
                answer = self._fault()
        if isinstance(answer, LimitError):
            self.end()
            return answer
        if isinstance(answer, Exception):
            raise answer
        return answer[0]

    def _fault(self) -> LimitError:
        """Say how the process ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._process = 0
        if code == -signal.SIGXCPU:
            return LimitError(f"took more than {self._allowance.cpu} s of CPU time")
        return LimitError(
            f"ended its process {f'by signal {-code}' if code < 0 else f'with status {code}'}"
        )

    def end(self) -> None:
        """End the process."""
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
            self._process = 0
        self.pipe.close()


def _serve_as_copy(work: _Work, pipe: Connection) -> NoReturn:
    """Work in a copy of a process; it ends without what its parent would do at its end."""
    try:
        # Otherwise a process would not notice that its parent is gone.
        for parents in _CHILDREN_PIPES:
            parents.close()
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        gc.freeze()
        _serve(work, pipe)
    finally:
        os._exit(0)


def _start_python(descriptor: int) -> int:
    """Start a process that works on what comes through a pipe; unlike `multiprocessing` it does not
    import the main module, such as Inspect.
    """
    os.set_inheritable(descriptor, True)
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", f"from {__name__} import serve; serve({descriptor})"],
        {**os.environ, "PYTHONPATH": path},
        # Output of the function goes to standard error.
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, 2, 1),
        ],
    )


def serve(descriptor: int) -> None:
    """Work in a new process on what comes through a pipe: the function, then items with their
    allowances.

    An answer is a pickled tuple with the result, or an exception.
    """
    with Connection(descriptor) as pipe, suppress(EOFError):
        _serve(pipe.recv(), pipe)


def _serve(work: _Work, pipe: Connection) -> None:
    # music21 creates millions of objects; the default of 700 takes a tenth longer.
    gc.set_threshold(50_000)
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            pipe.send_bytes(_answer(work, *pipe.recv()))


def _answer(work: _Work, item: Any, allowance: Allowance) -> bytes:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + allowance.cpu)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
        _limit(resource.RLIMIT_DATA, pages * resource.getpagesize() + allowance.memory)
    try:
        return pickle.dumps((work(item),))
    except MemoryError:
        return pickle.dumps(LimitError(f"needs more than {allowance.memory >> 20:,} MiB of memory"))
    except Exception as error:
        error.add_note(traceback.format_exc())
        return pickle.dumps(error)


def _limit(resource_number: int, value: int) -> None:
    """Set a soft limit, within the hard limit of the machine."""
    hard = resource.getrlimit(resource_number)[1]
    resource.setrlimit(
        resource_number, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard)
    )
