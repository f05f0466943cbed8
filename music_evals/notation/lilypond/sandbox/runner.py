"""Runs one untrusted program with bounds on what it can see, change and use up.

LilyPond executes Scheme from its input and has no safe mode (removed in version 2.23.12). So a text
that a model wrote is a program that a model wrote. It runs without network, in name spaces of its
own, without privileges, under a filter of system calls that allows no new process and no socket.
Its file system holds only the system's libraries, the program's own folder and an empty scratch
folder in memory. CPU time, memory, files and output are bounded. When the program ends, or its
caller does, nothing of it is left running or on disk. `launcher` is the part that runs inside.

The result does not depend on other work of the machine. CPU time is what counts, and no more
programs run than there are cores (`slots`). A program that sleeps is told from one that the machine
keeps waiting: it takes longer than another one, started beside it, that computes. A program that
only the clock stopped runs again, alone.

There are two confinements, equally tight: bubblewrap where it is installed, and Linux's name spaces
by util-linux's ``unshare``. If neither works, `run_confined` refuses.
"""

import functools
import io
import json
import os
import platform
import re
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import product, starmap
from pathlib import Path
from typing import Any, BinaryIO, Literal

from music_evals.notation.lilypond.sandbox import launcher
from music_evals.notation.lilypond.sandbox.slots import slot
from music_evals.notation.lilypond.sandbox.system_calls import seccomp_filter

_SYSTEM_LIBRARIES = (
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
)
# The Python interpreter behind the virtual environment, without packages.
_PYTHON = (
    os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "-I",
    "-S",
    "-B",
)
_REPORT_TIME = 5.0  # seconds for the rest of a report that has begun, after the program's own time
_END_TIME = 1.0  # seconds for all processes to end after the report
_CHECK_EVERY = 0.2  # seconds between two checks whether to stop
_CHUNK = 1 << 16
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": launcher.SCRATCH,
    "TMPDIR": launcher.SCRATCH,
    "LC_ALL": "C.UTF-8",
    # Otherwise LilyPond collects garbage with a thread per core, and uses more CPU time on larger
    # machines.
    "GC_MARKERS": "1",
}
# Characters that steer a terminal, such as escape and changes of direction.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


Files = Mapping[str, bytes]
"""Names of files → their contents."""


class SandboxError(RuntimeError):
    """A program cannot be confined on this machine, or cannot be started."""


class Confinement(StrEnum):
    """How a program is kept apart from the rest of the machine."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use up."""

    # Of CPU time. A program that has not ended by then gets the time in which a rival, which
    # computes beside it, uses twice as much. The clock stops it after `patience` times as many.
    seconds: int = 15
    patience: int = 60
    memory: int = 1 << 30  # bytes of address space
    file_bytes: int = 32 << 20  # size of a single file that it writes
    scratch_bytes: int = 64 << 20  # size of all its files together, which are in memory too
    scratch_files: int = 1000  # number of files and folders
    output_bytes: int = 1 << 20  # standard output and standard error together


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended; bytes of its output that are not UTF-8 are replaced."""

    status: int | None  # exit status, or a negative signal; None if it was stopped
    # "time": it used up its CPU time. "slow": it took longer, and not because the machine is busy.
    # "output": it made too much output, too many files or too many threads. "broken": the sandbox
    # ended while it ran. "clock": the clock ran out or the caller stopped it, through no fault of
    # the program.
    stopped: Literal["time", "slow", "output", "broken", "clock"] | None
    stdout: str  # up to the limit
    stderr: str  # control characters but tabs and line feeds are replaced too
    files: Files = field(default_factory=dict)  # the files that match `collect`, oldest first


def available_confinement() -> Confinement:
    """Return the first confinement in which a program really runs here; SandboxError says why there
    is none.
    """
    reasons = []
    for confinement in Confinement:
        reason = why_unavailable(confinement)
        if reason is None:
            return confinement
        reasons.append(f"- {confinement}: {reason}")
    lines = [
        "No sandbox works here, and LilyPond executes what its input says.",
        *reasons,
        *_forbidding_settings(),
        "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install "
        "bubblewrap), or run on a machine or in a container that allows user name spaces.",
    ]
    raise SandboxError("\n".join(lines))


@functools.cache
def why_unavailable(confinement: Confinement) -> str | None:
    """Try a confinement and return why it does not work here; None if it works."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return (
            f"only on Linux on x86_64 or aarch64, not on {platform.system()} on "
            f"{platform.machine()}"
        )
    tool = {"bubblewrap": "bwrap", "namespaces": "unshare"}[confinement]
    if shutil.which(tool) is None:
        return f"{tool} is not installed"
    if (path := shutil.which("true")) is None:
        return "the program `true`, to try it with, is not installed"
    program = os.path.realpath(path)
    try:
        ended = run_confined([program], {}, readable=[Path(program)], confinement=confinement)
    except SandboxError as error:
        return str(error)
    return (
        None if ended.status == 0 else f"`true` ended with {ended.status}: {ended.stderr.strip()}"
    )


def run_confined(
    command: Sequence[str],
    files: Files,
    *,
    collect: Sequence[str] = (),
    readable: Sequence[Path] = (),
    limits: Limits = Limits(),
    confinement: Confinement | None = None,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a program in a sandbox and wait for its end; several threads may do so at the same time.

    The program works in a scratch folder with the given files. It has no input, no network and no
    right to write anywhere else, and cannot start other programs.

    Args:
        command: the program, an absolute path, and its arguments.
        files: plain name → content of the files in the scratch folder.
        collect: patterns, such as ``*.midi``, of the files to return from the scratch folder; no
            link is followed.
        readable: real paths of files and folders that it may read besides the system's libraries.
        limits: what it may use up.
        confinement: default is `available_confinement`.
        stop: setting this event ends the program, as if the clock had run out.

    Raises:
        SandboxError: the program cannot be confined, does not start, or an argument is not as
            above.
    """
    confinement = confinement or available_confinement()
    stop = stop or threading.Event()
    _check_arguments(command, files, readable, limits)
    request = {
        "command": list(command),
        "environment": _ENVIRONMENT,
        "files": [(name, len(content)) for name, content in files.items()],
        "collect": list(collect),
        "filter": seccomp_filter(platform.machine()).hex(),
        "read_only": [*_system_libraries(), *map(str, readable)],
        **asdict(limits),
    }
    with tempfile.TemporaryFile() as request_file:
        request_file.write(launcher.pack(request, files.values()))
        request_file.flush()
        number = request_file.fileno()
        outer = [*_outer_command(confinement, readable), confinement.value, str(number)]
        for alone in (False, True):
            with slot(stop, alone=alone) as is_our_turn:
                if not is_our_turn:
                    return Ended(None, "clock", "", "")
                os.lseek(number, 0, os.SEEK_SET)
                ended = _serve(outer, number, limits, stop)
            # A program that was killed, for example because the machine was out of memory, gets a
            # second chance too.
            if ended.stopped != "clock" and ended.status != -signal.SIGKILL:
                break
        return ended


def _check_arguments(
    command: Sequence[str], files: Files, readable: Sequence[Path], limits: Limits
) -> None:
    for name in files:
        if not re.fullmatch(r"(?!\.{1,2}\Z)[^/\0]+", name):
            raise SandboxError(f"{name!r} is no plain file name")
    if sum(map(len, files.values())) > limits.scratch_bytes or len(files) > limits.scratch_files:
        raise SandboxError(f"the files for {command[0]} are more than {limits.scratch_bytes} bytes")
    for path in readable:
        if not path.exists() or os.path.realpath(path) != str(path):
            raise SandboxError(f"{path} does not exist, or is not its real path")


def _serve(outer: Sequence[str], request_fd: int, limits: Limits, stop: threading.Event) -> Ended:
    """Run the launcher, read its output and report within the limits, and leave nothing running."""
    report_end, report_write = os.pipe()
    deadline = time.monotonic() + limits.patience * limits.seconds
    with open(report_end, "rb", buffering=0) as report_stream:
        try:
            process = subprocess.Popen(
                [*outer, str(report_write)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(request_fd, report_write),
                start_new_session=True,
            )
        finally:
            os.close(report_write)
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            streams = {
                process.stdout: bytearray(),
                process.stderr: bytearray(),
                report_stream: bytearray(),
            }
            try:
                stopped = _gather(streams, report_stream, deadline, limits, stop)
            finally:
                # The process group exists at least until its first process is waited for, which
                # happens after this.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    stdout, stderr = (
        streams[stream].decode(errors="replace") for stream in (process.stdout, process.stderr)
    )
    stderr = _CONTROL.sub("\ufffd", stderr)
    if stopped is not None:
        return Ended(None, stopped, stdout, stderr)
    return _read_report(bytes(streams[report_stream]), stdout, stderr, limits)


def _read_report(report_bytes: bytes, stdout: str, stderr: str, limits: Limits) -> Ended:
    """How the program ended, as the launcher says."""
    has_started = report_bytes.startswith(launcher.STARTED)
    content = io.BytesIO(report_bytes.removeprefix(launcher.STARTED))
    try:
        report = launcher.unpack_header(content)
    except (struct.error, ValueError):
        report = {"error": f"the sandbox ended without a report: {stderr.strip() or 'no message'}"}
    if "error" in report:
        if has_started:
            return Ended(None, "broken", stdout, stderr)
        raise SandboxError(report["error"])
    is_killed = report["status"] == -signal.SIGKILL and report["cpu"] >= limits.seconds
    reason = report["stopped"]
    if not reason and (is_killed or report["status"] == -signal.SIGXCPU):
        reason = "time"
    if reason:
        return Ended(None, reason, stdout, stderr)
    files = {name: content.read(size) for name, size in report["files"]}
    return Ended(report["status"], None, stdout, stderr, files)


def _gather(
    streams: Mapping[Any, bytearray],
    report: BinaryIO,
    deadline: float,
    limits: Limits,
    stop: threading.Event,
) -> Literal["clock", "output"] | None:
    """Read all streams to their ends; return why the report was not waited for, or None if it is
    complete.
    """
    report_deadline = deadline + _REPORT_TIME
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        while waiting := selector.get_map():
            time_left = deadline - time.monotonic()
            is_complete = report not in waiting
            if time_left <= 0 or stop.is_set():
                return None if is_complete else "clock"
            _read_available(selector, streams, time_left)
            if sum(map(len, streams.values())) - len(streams[report]) > limits.output_bytes:
                return "output"
            if is_complete:
                continue
            if report not in waiting:
                # The rest is in the pipes already, and the pipes end when all processes have ended.
                deadline = time.monotonic() + _END_TIME
            elif len(streams[report]) > len(launcher.STARTED):
                deadline = max(deadline, report_deadline)
    return None


def _read_available(
    selector: selectors.BaseSelector, streams: Mapping[Any, bytearray], time_left: float
) -> None:
    """Read what has come; forget streams that have ended."""
    for key, _ in selector.select(min(time_left, _CHECK_EVERY)):
        chunk = os.read(key.fd, _CHUNK)
        streams[key.fileobj] += chunk
        if not chunk:
            selector.unregister(key.fileobj)


def _outer_command(confinement: Confinement, readable: Sequence[Path]) -> list[str]:
    """The command line that starts the launcher in a confinement, without the launcher's
    arguments.
    """
    script = os.path.realpath(launcher.__file__)
    if confinement is Confinement.NAMESPACES:
        command = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc"]
        command += ["--uts", "--cgroup", "--fork", "--kill-child=KILL", "--"]
        return [*command, *_PYTHON, script]
    command = ["bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1"]
    # The launcher mounts the scratch folder, which bubblewrap would make executable.
    command += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--clearenv"]
    for path in [*_system_libraries(), *_needs_of_launcher()]:
        command += (
            ["--symlink", os.readlink(path), path]
            if os.path.islink(path)
            else ["--ro-bind", path, path]
        )
    for folder in _packages_of_interpreter():
        command += ["--tmpfs", folder, "--remount-ro", folder]
    for path in map(str, readable):
        command += ["--ro-bind", path, path]
    command += ["--ro-bind", script, "/launcher.py"]
    command += ["--dir", launcher.SCRATCH, "--remount-ro", "/"]
    return [*command, "--", *_PYTHON, "/launcher.py"]


@functools.cache
def _system_libraries() -> tuple[str, ...]:
    return tuple(filter(os.path.lexists, _SYSTEM_LIBRARIES))


@functools.cache
def _needs_of_launcher() -> tuple[str, ...]:
    """The files that the launcher's interpreter needs besides the system's libraries."""
    command = [*_PYTHON, os.path.realpath(launcher.__file__), "needs"]
    answer = subprocess.run(
        command, capture_output=True, check=True, timeout=30, text=True, cwd="/"
    )
    paths = json.loads(answer.stdout)
    folders = [*filter(os.path.isdir, paths), *map(os.path.realpath, _system_libraries())]
    inside = tuple(f"{folder}/" for folder in folders)
    return tuple(path for path in paths if not path.startswith(inside))


@functools.cache
def _packages_of_interpreter() -> tuple[str, ...]:
    """The folders of installed packages within the launcher's files, which it does not need."""
    names = product(_needs_of_launcher(), ("site-packages", "dist-packages"))
    return tuple(filter(os.path.isdir, starmap(os.path.join, names)))


def _forbidding_settings() -> list[str]:
    """The system's settings that forbid user name spaces, as lines of a message."""
    settings = {
        "kernel/unprivileged_userns_clone": "0",
        "kernel/apparmor_restrict_unprivileged_userns": "1",
        "user/max_user_namespaces": "0",
    }
    return [
        f"- the setting {name.replace('/', '.')}={forbidding} forbids user name spaces (see sysctl)"
        for name, forbidding in settings.items()
        if (path := Path("/proc/sys") / name).exists() and path.read_text().strip() == forbidding
    ]
