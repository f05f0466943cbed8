"""Limits how many confined programs run at a time: one per core, over all threads and processes of a user.

A slot is a locked file. The kernel drops the lock when the process that holds it ends, however it ends.
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

_RETRY_EVERY: Final = 0.02  # seconds between two tries to get a slot
_DOOR: Final = "door"  # the lock of a process that waits to be alone; nobody else gets a slot meanwhile


def cores() -> int:
    """Return how many processes can run at a time on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Wait for a free slot and hold it; the value is False if `stop` is set before."""
    stop = stop or threading.Event()
    with _opened(_DOOR) as (door,), _opened(*map(str, range(cores()))) as slots:
        has_slot = False
        while not has_slot and not stop.is_set():
            if _lock(door, fcntl.LOCK_SH):
                has_slot = any(map(_lock, slots))
                fcntl.flock(door, fcntl.LOCK_UN)
            if not has_slot:
                time.sleep(_RETRY_EVERY)
        yield has_slot


@contextmanager
def every_slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Wait for the end of all running programs and hold all slots; the value is False if `stop` is set before."""
    stop = stop or threading.Event()
    names = {path.name for path in _folder().iterdir()} | set(map(str, range(cores())))
    with _opened(_DOOR, *sorted(names - {_DOOR})) as files:
        for file in files:
            while not stop.is_set() and not _lock(file):
                time.sleep(_RETRY_EVERY)
        yield not stop.is_set()


@contextmanager
def _opened(*names: str) -> Iterator[list[int]]:
    files = [os.open(_folder() / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600) for name in names]
    try:
        yield files
    finally:
        for file in files:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing does not release the lock if a process was forked meanwhile
            os.close(file)


def _lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@cache
def _folder() -> Path:
    """The folder of the locks: the user's own within the machine's temporary folder, else one of this process."""
    folder = Path(tempfile.gettempdir()) / f"music-evals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    is_ours = folder.is_dir() and not folder.is_symlink() and folder.lstat().st_uid == os.getuid()
    return folder if is_ours and os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="music-evals-"))
