"""Limits how many confined programs run at a time: one per core, over all threads and processes of a user.

A slot is a locked file, which holds the number of the process. The kernel drops the lock when that process ends,
however it ends.

Processes share: a free slot goes to the waiting process that has the fewest, and of several to the one that waits for
longest. Each process that waits has a ticket, a file that it touches at every try; the threads of a process wait in
line for the ticket. A process that waits for others says so. It goes on without a slot if a process that holds one was
suspended meanwhile, or if it waited for longer than any program may run.
"""

import fcntl
import logging
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Final

_RETRY_EVERY: Final = 0.02  # seconds between two tries to get a slot
_DOOR: Final = "door"  # the lock of a process that looks for a slot, or waits to be alone
_TICKET_TIME: Final = 5.0  # seconds after which a ticket that nobody touches counts no more
_NOTICE_AFTER: Final = 5.0  # seconds of waiting for other processes
_SUSPENDED_AFTER: Final = 30.0  # seconds of waiting for a process that is suspended
_STALE_AFTER: Final = 3600.0  # seconds of waiting for any process

_given_up: Final[set[int]] = set()  # suspended processes that this one does not wait for any more
_warned: Final[set[str]] = set()
_line: Final = threading.Lock()  # held by the thread that has the ticket of this process


def cores() -> int:
    """Return how many processes can run at a time on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Wait for a free slot and hold it; the value is False if `stop` is set before."""
    stop = stop or threading.Event()
    with _opened(_DOOR, *map(str, range(cores()))) as (door, *slots):
        with _ticket(stop) as ticket:
            has_slot = _wait(lambda: _take_one(door, slots, ticket), [door, *slots], stop)
        yield has_slot


@contextmanager
def every_slot(stop: threading.Event | None = None) -> Iterator[bool]:
    """Wait for the end of all running programs and hold all slots; the value is False if `stop` is set before."""
    stop = stop or threading.Event()
    names = {path.name for path in _folder().iterdir() if path.name.isdecimal()} | set(map(str, range(cores())))
    with _opened(_DOOR, *sorted(names)) as files:
        yield all(_wait(partial(_lock, file), [file], stop) for file in files)


def _wait(take: Callable[[], bool], files: Sequence[int], stop: threading.Event) -> bool:
    """Try until a lock is taken, or its holders are not worth waiting for; False if `stop` is set before."""
    began = time.monotonic()
    while not stop.is_set():
        if take():
            return True
        waited = time.monotonic() - began
        holders = {process: _state(process) for process in map(_holder, files)}
        others = {process: state for process, state in holders.items() if state and process != os.getpid()}
        suspended = {process for process, state in others.items() if state in "Tt"}
        if others and waited >= _NOTICE_AFTER:
            _warn_once("waits for", others)
        is_suspended = suspended and (waited >= _SUSPENDED_AFTER or suspended & _given_up)
        if is_suspended or waited >= _STALE_AFTER:
            _given_up.update(suspended)
            _warn_once("waits no longer for", others)
            return True
        time.sleep(_RETRY_EVERY)
    return False


def _warn_once(what: str, processes: Mapping[int, str]) -> None:
    """Say once what LilyPond does because of other processes, where, and how to change it."""
    if what not in _warned:
        _warned.add(what)
        names = ", ".join(f"{process} (state {state})" for process, state in processes.items())
        where = f"one text per core runs at a time, by locks in {_folder()}"
        advice = "another TMPDIR has locks of its own"
        logging.getLogger(__name__).warning(f"LilyPond {what} process {names}: {where}; {advice}")


def _take_one(door: int, slots: Sequence[int], ticket: Path) -> bool:
    """Take a free slot if it is this process's turn."""
    with suppress(OSError):
        ticket.touch()
    if not _lock(door):
        return False
    free = [file for file in slots if _lock(file)]
    holders = Counter(_holder(file) for file in slots if file not in free)
    is_our_turn = _place_in_line(ticket, holders) < len(free)
    for file in free[1:] if is_our_turn else free:
        _unlock(file)
    _unlock(door)
    return is_our_turn


def _place_in_line(ticket: Path, holders: Counter[int]) -> int:
    """How many of the processes that wait come before the one with this ticket."""
    line = []
    for path in _folder().glob("ticket-*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _TICKET_TIME:
                path.unlink()
            else:
                line.append((holders[int(path.name.rpartition("-")[2])], path.name))
    return sum(entry < (holders[os.getpid()], ticket.name) for entry in line)


@contextmanager
def _ticket(stop: threading.Event) -> Iterator[Path]:
    """Wait in line for the ticket of this process and hold it; if `stop` is set before, the ticket is worth nothing."""
    path = _folder() / f"ticket-{time.time_ns():020d}-{os.getpid()}"
    while not (is_first := _line.acquire(timeout=_RETRY_EVERY)) and not stop.is_set():
        pass
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if is_first:
            _line.release()


@contextmanager
def _opened(*names: str) -> Iterator[list[int]]:
    files = [os.open(_folder() / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600) for name in names]
    try:
        yield files
    finally:
        for file in files:
            _unlock(file)  # closing does not release the lock if a process was forked meanwhile
            os.close(file)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.pwrite(file, b"%-20d" % os.getpid(), 0)
    return True


def _unlock(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_UN)


def _holder(file: int) -> int:
    """The process that had a lock last; 0 if there was none."""
    return int(os.pread(file, 20, 0) or 0)


def _state(process: int) -> str:
    """The letter of a process's state, as ``ps`` shows it; nothing if there is no such process."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
    return ""


@cache
def _folder() -> Path:
    """The folder of the locks: the user's own within the machine's temporary folder, else one of this process."""
    folder = Path(tempfile.gettempdir()) / f"music-evals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    is_ours = folder.is_dir() and not folder.is_symlink() and folder.lstat().st_uid == os.getuid()
    return folder if is_ours and os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="music-evals-"))
