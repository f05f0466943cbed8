"""How many confined programs run at a time: one a core, over all threads and processes of a user on this machine.

A slot is a locked file. The kernel drops the lock with the process that holds it, however that ends.
"""

import fcntl
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

_LOOK_EVERY: Final = 0.02  # seconds between two tries to get a slot
_DOOR: Final = "door"  # held by whoever wants to be alone, so that nobody else gets a slot meanwhile


def cores() -> int:
    """Return how many processes can run at a time here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Hold a slot, as soon as one is free; False if `stop` is set before."""
    with _opened(_DOOR) as door, _opened(*map(str, range(cores()))) as slots:
        held = None
        while held is None and not _is_set(stop):
            if _lock(door[0], fcntl.LOCK_SH):
                held = next((one for one in slots if _lock(one)), None)
                fcntl.flock(door[0], fcntl.LOCK_UN)
            if held is None:
                time.sleep(_LOOK_EVERY)
        yield held is not None


@contextmanager
def every_slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Hold all slots, once those that run have ended; False if `stop` is set before."""
    names = {path.name for path in _folder().iterdir()} | set(map(str, range(cores())))
    with _opened(_DOOR, *sorted(names - {_DOOR})) as files:
        for file in files:
            while not _is_set(stop) and not _lock(file):
                time.sleep(_LOOK_EVERY)
        yield not _is_set(stop)


@contextmanager
def _opened(*names: str) -> Iterator[list[int]]:
    """Open files of locks; whatever is locked of them is free at the end."""
    files = [os.open(_folder() / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600) for name in names]
    try:
        yield files
    finally:
        for file in files:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing would not do where a process was forked meanwhile
            os.close(file)


def _lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


@cache
def _folder() -> Path:
    """The folder of the locks: the user's own in the machine's folder for temporary files, else this process's."""
    folder = Path(tempfile.gettempdir()) / f"music-evals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_ours = folder.is_dir() and not folder.is_symlink() and found.st_uid == os.getuid() and os.access(folder, os.W_OK)
    return folder if is_ours else Path(tempfile.mkdtemp(prefix="music-evals-"))
