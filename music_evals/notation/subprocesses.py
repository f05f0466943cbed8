"""Work on files from outside, in processes with limits of memory and CPU time.

Readers of scores can be led to use up both: a process takes one item after the other, and one that dies of an item is
replaced, so that the other items come to no harm. CPU time counts, so that nothing depends on what else the machine
does; a limit of wall-clock time is there for what sleeps.
"""

import gc
import os
import pickle
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
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from music_evals.notation.lilypond.slots import cores

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


_CHUNKS: Final = 4  # that each worker elsewhere gets of the items, so that those that take long do not come last


class Elsewhere(NamedTuple):
    """Who works in the place of this machine's cores, such as a cluster."""

    executor: Executor
    workers: int


ELSEWHERE: Final[ContextVar[Elsewhere | None]] = ContextVar("ELSEWHERE", default=None)
"""If set, `map_in_subprocess` and `compile_texts` hand their work to it. Arguments are pickled; files that they
name must be readable there."""


class LimitError(RuntimeError):
    """An item that took too much, or of which the process died; the message says how."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the work on an item may use up."""

    cpu: int = 300  # seconds
    memory: int = 4 << 30  # bytes of address space, beyond what the process has at its start (Linux only)
    wall: float = 3600.0  # seconds


def map_in_subprocess(
    work: Callable[[_Item], _Result], items: Sequence[_Item], allowance: Allowance = Allowance(), *, few: int = 0
) -> Iterator[_Result | LimitError]:
    """Work on items in as many processes as there are cores, and yield the results in order.

    The function, items and results have to be such as can be pickled, and the function's module is imported. An item
    that goes beyond the allowance, or of which the process dies, gives a LimitError; what the function raises is
    raised. A process takes seconds to start, so that no more items than `few` are worked on right here, without limits.
    `ELSEWHERE` puts the processes elsewhere.
    """
    if len(items) <= few:
        yield from map(work, items)
    elif elsewhere := ELSEWHERE.get():
        size = -(-len(items) // (elsewhere.workers * _CHUNKS))
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        for found in elsewhere.executor.map(_one_after_the_other, repeat(work), chunks, repeat(allowance)):
            yield from found
    else:
        yield from _in_processes(work, items, allowance, cores())


def _one_after_the_other(
    work: Callable[[_Item], _Result], items: Sequence[_Item], allowance: Allowance
) -> list[_Result | LimitError]:
    return list(_in_processes(work, items, allowance, 1))


def _in_processes(
    work: Callable[[_Item], _Result], items: Sequence[_Item], allowance: Allowance, processes: int
) -> Iterator[_Result | LimitError]:
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

    with ThreadPoolExecutor(processes) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            for child in children:
                child.end()


class _Child(Generic[_Item, _Result]):
    """A process that works on items.

    It is no process of `multiprocessing`, which would import the program's main module: Inspect takes seconds.
    """

    def __init__(self, work: Callable[[_Item], _Result], allowance: Allowance) -> None:
        self._allowance = allowance
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        self._first: tuple[Any, ...] = (work, allowance)

    def run(self, item: _Item) -> _Result:
        """The result of an item; after a LimitError the process is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        is_late = threading.Event()
        clock = threading.Timer(self._allowance.wall, self._stop, [is_late])
        clock.start()
        try:
            for one in (*self._first, item):
                pickle.dump(one, self._process.stdin)
            self._process.stdin.flush()
            self._first = ()
            found = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process.wait()
            found = LimitError(f"took more than {self._allowance.wall:g} s" if is_late.is_set() else self._cause())
        finally:
            clock.cancel()
        if isinstance(found, LimitError):
            self.end()
        if isinstance(found, Exception):
            raise found
        result: _Result = found[0]
        return result

    def _stop(self, said: threading.Event) -> None:
        said.set()
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        with suppress(OSError):  # what was not sent to a process that is gone
            self._process.communicate()

    def _cause(self) -> str:
        code = self._process.returncode
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"took more than {self._allowance.cpu} s of CPU time"
        return f"its process ended by signal {-code}" if code < 0 else f"its process ended with status {code}"


def serve() -> None:
    """Work on what comes from standard input, in the process: answered is a tuple with the result, or an exception.

    First come the function and the allowance. What the function prints goes to standard error.
    """
    with os.fdopen(os.dup(1), "wb") as answers, suppress(EOFError, KeyboardInterrupt):
        os.dup2(2, 1)
        gc.set_threshold(50_000)  # music21 makes millions of objects; a look at every 700 takes a tenth longer
        work, allowance = (pickle.load(sys.stdin.buffer) for _ in range(2))
        if sys.platform == "linux":
            import resource

            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + allowance.memory)
        while True:
            item = pickle.load(sys.stdin.buffer)
            pickle.dump(_answer(work, item, allowance), answers)
            answers.flush()


def _answer(work: Callable[[Any], Any], item: Any, allowance: Allowance) -> Any:
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + allowance.cpu)
    try:
        return (work(item),)
    except MemoryError:
        return LimitError(f"needs more than {allowance.memory / (1 << 30):.3g} GiB of memory")
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error


def _limit(what: int, value: int) -> None:
    """Set a limit that may be raised again, within what the machine allows."""
    import resource

    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
