"""Python's garbage collection, less often while tasks are made and run.

A collection looks at every object that is alive: all samples, and all modules of the libraries. In
a run it takes more time than the suite's own work, and finds next to nothing.
"""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai import Task

_OBJECTS = 100_000  # new objects after which the youngest are looked at; Python's default is 700
_alive = 0  # tasks
_before = gc.get_threshold()


@contextmanager
def collection_paused() -> Iterator[None]:
    """Collect nothing in a block that makes many objects that stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_rarely(task: Task) -> None:
    """Collect less often for as long as a task, or another one, is alive."""
    global _alive, _before
    if not _alive:
        _before = gc.get_threshold()
        gc.set_threshold(max(_before[0], _OBJECTS), *_before[1:])
    _alive += 1
    weakref.finalize(task, _give_back).atexit = False


def _give_back() -> None:
    """Set what was set before the first task, once no task is alive."""
    global _alive
    _alive -= 1
    if not _alive:
        gc.set_threshold(*_before)
