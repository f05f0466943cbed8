"""The folder of a run's logs: one run at a time writes to it and clears up after killed ones."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def claimed(logs: str) -> Iterator[None]:
    """Hold a folder of logs while a run writes to it; addresses such as s3:// are left alone.

    Raises:
        ValueError: another run is writing to the folder.
    """
    if "://" in logs:
        yield
        return
    folder = Path(logs).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = f"another run is writing to {logs}; wait for it, or give another --log-dir"
            raise ValueError(problem) from None
        _mend_times(folder)
        yield
        _remove_superseded(folder)
    finally:
        os.close(handle)
        with suppress(OSError):  # it stays unless it is empty
            folder.rmdir()


def _mend_times(folder: Path) -> None:
    """Date logs of the future now: of several logs of a task, Inspect keeps the newest file."""
    now = time.time()
    for path in folder.glob("*.eval"):
        if path.stat().st_mtime > now:
            os.utime(path, (now, now))


def _remove_superseded(folder: Path) -> None:
    """Remove the unfinished log of a killed run whose task is complete in another log.

    Inspect keeps such logs, as another process may still write them; the lock shows that none does.
    """
    import fsspec
    from inspect_ai.log import list_eval_logs, read_eval_log

    headers = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]
    complete = {log.eval.task_id for log in headers if log.status == "success"}
    for log in headers:
        if log.status == "started" and log.eval.task_id in complete:
            files, path = fsspec.core.url_to_fs(log.location)
            files.rm(path)
