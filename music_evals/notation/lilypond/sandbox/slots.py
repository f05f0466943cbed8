"""Limits how many confined programs run at a time: one per core, over all threads and processes of
a user.

A slot is a locked file, which holds the number of the process. The kernel drops the lock when that
process ends, however it ends.

Processes share evenly: the threads of one together try as often as those of another, and while
others wait, a thread that comes for its next slot waits too. After `_NOTICE_AFTER` a process says
for whom it waits. After `_GIVE_UP_AFTER` it goes on without a slot, since the others may be
suspended, and does not wait any more until it gets one.
"""

import fcntl
import logging
import os
import random
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_RETRY_EVERY = 0.01  # seconds between two tries of this process to get a slot, on average
_DOOR = "door"  # the file that those who wait have locked
_NOTICE_AFTER = 5.0  # seconds of waiting
_GIVE_UP_AFTER = 300.0  # seconds of waiting

_random = random.Random()  # not the one of the caller, which may have a seed
_waiting: list[int] = []  # the threads of this process that wait, by their files of the door
_has_noticed = threading.Event()
_has_given_up = threading.Event()


def cores() -> int:
    """Return how many processes can run at a time on this machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def slot(stop: threading.Event | None = None, *, alone: bool = False) -> Iterator[bool]:
    """Wait for a slot, or for all to be `alone`, and hold it; False if `stop` is set before."""
    with _opened(*map(str, range(cores()))) as slots:
        with _opened(_DOOR) as (door,):
            _waiting.append(door)
            try:
                has_slot = _wait(slots, door, stop or threading.Event(), alone)
            finally:
                _waiting.remove(door)
        yield has_slot


def _wait(slots: Sequence[int], door: int, stop: threading.Event, alone: bool) -> bool:
    """Try until slots are locked or not worth waiting for; False if `stop` is set before."""
    began = time.monotonic()
    enough = all if alone else any
    pause = not _lock(door)  # others wait
    while not stop.wait(pause * _random.uniform(0, 2 * _RETRY_EVERY * len(_waiting))):
        if enough(map(_lock, slots)):
            _has_given_up.clear()
            return True
        pause = True
        _lock(door, fcntl.LOCK_SH)
        waited = time.monotonic() - began
        if waited >= _NOTICE_AFTER:
            _notice(slots)
        if waited >= _GIVE_UP_AFTER or _has_given_up.is_set():
            _has_given_up.set()
            return True
    return False


def _notice(slots: Sequence[int]) -> None:
    """Say once which other processes have the slots."""
    processes = {int(os.pread(file, 20, 0) or 0) for file in slots}
    others = ", ".join(map(str, sorted(processes - {0, os.getpid()})))
    if others and not _has_noticed.is_set():
        _has_noticed.set()
        logging.getLogger(__name__).warning(
            f"waiting for LilyPond: {len(slots)} slots in {_folder()} are taken, by processes "
            f"{others} (up to {_GIVE_UP_AFTER:.0f} s; another TMPDIR has slots of its own)"
        )


@contextmanager
def _opened(*names: str) -> Iterator[list[int]]:
    files = [
        os.open(_folder() / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600) for name in names
    ]
    try:
        yield files
    finally:
        for file in files:
            # Closing does not release the lock if a process was forked meanwhile.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)


def _lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.pwrite(file, b"%-20d" % os.getpid(), 0)
    return True


@cache
def _folder() -> Path:
    """The folder of the locks: the user's own within the machine's temporary folder, else one of
    this process.
    """
    folder = Path(tempfile.gettempdir()) / f"music-evals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if is_ours and os.access(folder, os.W_OK):
        return folder
    return Path(tempfile.mkdtemp(prefix="music-evals-"))
