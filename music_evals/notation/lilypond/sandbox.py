"""Running one program that nobody trusts: what it can see, change and use up is bounded.

LilyPond executes Scheme from its input and has no safe mode (removed in version 2.23.12), so a text that a model wrote
is a program that a model wrote. It runs without network, in name spaces of its own, in a file system that holds nothing
but the system's libraries, the program's own folder and an empty scratch folder in memory, without privileges, under a
filter of system calls that allows no new process and no socket. CPU time, memory, files and output are bounded. When
it ends, or the caller does, nothing of it is left, running or on disk. `launcher` is the part of this that runs inside.

What becomes of a program does not depend on what else the machine does: CPU time decides, no more programs run than
there are cores (`slots`), and what only the clock stopped runs again, alone.

Two ways to make the file system and the name spaces are known, and both are as tight: bubblewrap where it is installed,
and Linux's name spaces by util-linux's ``unshare``. Where neither works, `run_confined` refuses.
"""

import functools
import io
import json
import os
import platform
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from music_evals.notation.lilypond import launcher
from music_evals.notation.lilypond.slots import every_slot, slot

_SYSTEM_LIBRARIES: Final = tuple(f"{top}/lib{kind}" for top in ("", "/usr") for kind in ("", "32", "64", "x32"))
_GRACE: Final = 5.0  # seconds for a report that has begun, after the program's own time
_AFTERMATH: Final = 1.0  # seconds for all to end after the report
_LOOK_EVERY: Final = 0.2  # seconds between two looks at whether to stop
_CHUNK: Final = 1 << 16


class SandboxError(RuntimeError):
    """A program cannot be confined here, or cannot be started."""


class Confinement(StrEnum):
    """How a program is kept from everything else."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use up."""

    seconds: int = 15  # of CPU time; the clock stops only what does not end in `patience` times that
    patience: int = 10
    memory: int = 1 << 30  # bytes of address space
    file_bytes: int = 32 << 20  # of any one file that it writes
    scratch_bytes: int = 64 << 20  # of all its files together, which lie in memory too
    scratch_files: int = 1000  # files and folders
    output_bytes: int = 1 << 20  # standard output and standard error together


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended; what is not UTF-8 in its output is replaced."""

    status: int | None  # exit status, or a negative signal; None if it was stopped
    # It used up its CPU time; it did nothing for as long; it made too much (output, files, or threads); or the clock
    # ran out, or the caller stopped it, which says nothing of the program.
    stopped: Literal["time", "idle", "output", "clock"] | None
    stdout: str  # as far as the limit goes
    stderr: str
    files: Mapping[str, bytes] = field(default_factory=dict)  # those that were asked for, as they were last written


def available_confinement() -> Confinement:
    """Find the way in which programs are confined here, by really running one; SandboxError says why there is none."""
    reasons = []
    for confinement in Confinement:
        reason = why_unavailable(confinement)
        if reason is None:
            return confinement
        reasons.append(f"- {confinement}: {reason}")
    what = "No sandbox works here, and LilyPond executes what its input says."
    advice = (
        "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), or run on a "
        "machine or in a container that allows user name spaces."
    )
    raise SandboxError("\n".join([what, *reasons, *_forbidding_settings(), advice]))


@functools.cache
def why_unavailable(confinement: Confinement) -> str | None:
    """Try a confinement and say why it does not work here; None if it does."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return f"only on Linux on x86_64 or aarch64, not on {platform.system()} on {platform.machine()}"
    tool = {"bubblewrap": "bwrap", "namespaces": "unshare"}[confinement]
    if shutil.which(tool) is None:
        return f"{tool} is not installed"
    if (found := shutil.which("true")) is None:
        return "the program `true`, to try it with, is not installed"
    nothing = os.path.realpath(found)
    try:
        ended = run_confined([nothing], {}, readable=[Path(nothing)], confinement=confinement)
    except SandboxError as error:
        return str(error)
    return None if ended.status == 0 else f"`true` ended with {ended.status}: {ended.stderr.strip()}"


def run_confined(
    command: Sequence[str],
    files: Mapping[str, bytes],
    *,
    collect: Sequence[str] = (),
    readable: Sequence[Path] = (),
    limits: Limits | None = None,
    confinement: Confinement | None = None,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a program in a sandbox and wait for its end; several threads may do so at the same time.

    It works in a scratch folder that at first holds the given files, has no input, no network and no right to write
    anywhere else, and cannot start other programs. SandboxError if there is no way to confine it, or it does not start.

    Args:
        command: the program, an absolute path, and its arguments.
        files: plain names and contents of the files that it finds.
        collect: patterns, such as ``*.midi``, of the files right in the scratch folder that are handed back; no link is
            followed.
        readable: files and folders that it may read beside the system's libraries: absolute, with no symbolic link.
        limits: what it may use up; default `Limits()`.
        confinement: default is what `available_confinement` finds.
        stop: when this is set, the program is ended, as if the clock had run out.
    """
    limits = limits or Limits()
    confinement = confinement or available_confinement()
    if strange := [name for name in files if name in ("", ".", "..") or "/" in name or "\0" in name]:
        raise SandboxError(f"{strange[0]!r} is no plain file name")
    if sum(map(len, files.values())) > limits.scratch_bytes or len(files) > limits.scratch_files:
        raise SandboxError(f"the files for {command[0]} are more than {limits.scratch_bytes} bytes")
    scratch = launcher.SCRATCH
    request = {
        "command": list(command),
        # More threads to collect garbage would use up more CPU time on a machine of more cores.
        "environment": {
            "PATH": "/usr/bin:/bin",
            "HOME": scratch,
            "TMPDIR": scratch,
            "LC_ALL": "C.UTF-8",
            "GC_MARKERS": "1",
        },
        "files": [(name, len(content)) for name, content in files.items()],
        "collect": list(collect),
        "read_only": _read_only(readable),
        **asdict(limits),
    }
    with tempfile.TemporaryFile() as asked:
        asked.write(launcher.pack(request, files.values()))
        asked.flush()
        outer = [*_outer_command(confinement, request), confinement.value, str(asked.fileno())]
        for wait in (slot, every_slot):
            with wait(stop) as is_our_turn:
                if not is_our_turn:
                    return Ended(None, "clock", "", "")
                os.lseek(asked.fileno(), 0, os.SEEK_SET)
                ended = _serve(outer, asked.fileno(), limits, stop)
            # A program that was killed, as for want of the machine's memory, has another chance as well.
            if ended.stopped not in ("clock", "idle") and ended.status != -signal.SIGKILL:
                break
        return ended


def _serve(outer: Sequence[str], request_fd: int, limits: Limits, stop: threading.Event | None) -> Ended:
    """Run the launcher, gather what comes back within the limits, and leave nothing running."""
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
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            streams = {process.stdout: bytearray(), process.stderr: bytearray(), report_stream: bytearray()}
            try:
                stopped = _gather(streams, report_stream, deadline, limits, stop)
            finally:
                # The group lives at least as long as its first process, which is not waited for until after this.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    stdout, stderr = (streams[stream].decode(errors="replace") for stream in (process.stdout, process.stderr))
    if stopped is not None:
        return Ended(None, stopped, stdout, stderr)
    content = io.BytesIO(streams[report_stream])
    if not content.getbuffer():
        raise SandboxError(f"{outer[0]} ended without a report: {stderr.strip() or 'no message'}")
    report = launcher.unpack_header(content)
    if "error" in report:
        raise SandboxError(report["error"])
    used_up = report["status"] == -signal.SIGKILL and report["cpu"] >= limits.seconds
    why: Any = report["stopped"] or ("time" if used_up or report["status"] == -signal.SIGXCPU else None)
    if why:
        return Ended(None, why, stdout, stderr)
    files = {name: content.read(size) for name, size in report["files"]}
    return Ended(report["status"], None, stdout, stderr, files)


def _gather(
    streams: Mapping[Any, bytearray], report: BinaryIO, deadline: float, limits: Limits, stop: threading.Event | None
) -> Literal["clock", "output"] | None:
    """Read all streams to their ends, and say why a report was not waited for."""
    output = [gathered for stream, gathered in streams.items() if stream is not report]
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        complete, reported_by = False, deadline + _GRACE
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 or (stop is not None and stop.is_set()):
                return None if complete else "clock"
            for key, _ in selector.select(min(left, _LOOK_EVERY)):
                chunk = os.read(key.fd, _CHUNK)
                streams[key.fileobj] += chunk
                if chunk:
                    continue
                selector.unregister(key.fileobj)
                if key.fileobj is report:
                    # What is left to come lies in the pipes, and their end comes with the end of all processes.
                    complete, deadline = True, time.monotonic() + _AFTERMATH
            if streams[report] and not complete:
                deadline = max(deadline, reported_by)
            if sum(map(len, output)) > limits.output_bytes:
                return "output"
    return None


def _outer_command(confinement: Confinement, request: Mapping[str, Any]) -> list[str]:
    """Make the command line that starts the launcher in a confinement, but for the launcher's arguments."""
    script = os.path.realpath(launcher.__file__)
    python = [_interpreter(), "-I", "-S", "-B"]
    if confinement is Confinement.NAMESPACES:
        apart = ("--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup")
        return [_tool("unshare"), *apart, "--fork", "--kill-child=KILL", "--", *python, script]
    command = [_tool("bwrap"), "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1"]
    command += ["--cap-drop", "ALL", "--clearenv"]
    for path in [*_system_libraries(), *_needs_of_launcher()]:
        command += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    for folder in _packages_of_interpreter():
        command += ["--tmpfs", folder, "--remount-ro", folder]
    for path in request["read_only"][len(_system_libraries()) :]:
        command += ["--ro-bind", path, path]
    command += ["--ro-bind", script, "/launcher.py"]
    command += ["--size", str(request["scratch_bytes"]), "--tmpfs", launcher.SCRATCH, "--remount-ro", "/"]
    return [*command, "--chdir", launcher.SCRATCH, "--", *python, "/launcher.py"]


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise SandboxError(f"{name} is not installed")
    return path


def _interpreter() -> str:
    """Return this Python without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _read_only(readable: Sequence[Path]) -> list[str]:
    for path in readable:
        if not path.is_absolute() or os.path.realpath(path) != str(path):
            raise SandboxError(f"{path} is not absolute, or has a symbolic link in it")
        if not path.exists():
            raise SandboxError(f"{path} does not exist")
    return [*_system_libraries(), *(str(path) for path in readable)]


@functools.cache
def _system_libraries() -> tuple[str, ...]:
    return tuple(path for path in _SYSTEM_LIBRARIES if os.path.lexists(path))


@functools.cache
def _needs_of_launcher() -> tuple[str, ...]:
    """Find the files that the launcher's interpreter needs where nothing but the system's libraries is at hand."""
    command = [_interpreter(), "-I", "-S", "-B", os.path.realpath(launcher.__file__), "needs"]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=30, text=True, cwd="/")
    paths = json.loads(answer.stdout)
    folders = [path for path in paths if os.path.isdir(path)] + [os.path.realpath(path) for path in _system_libraries()]
    return tuple(path for path in paths if not path.startswith(tuple(f"{folder}/" for folder in folders)))


@functools.cache
def _packages_of_interpreter() -> tuple[str, ...]:
    """Find the folders of installed packages within what the launcher needs, which it does not need."""
    folders = (os.path.join(path, name) for path in _needs_of_launcher() for name in ("site-packages", "dist-packages"))
    return tuple(folder for folder in folders if os.path.isdir(folder))


def _forbidding_settings() -> list[str]:
    """Say which of the system's settings forbid user name spaces."""
    settings = {
        "kernel/unprivileged_userns_clone": "0",
        "kernel/apparmor_restrict_unprivileged_userns": "1",
        "user/max_user_namespaces": "0",
    }
    found = []
    for name, forbidding in settings.items():
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == forbidding:
            found.append(f"- the setting {name.replace('/', '.')}={forbidding} forbids user name spaces (see sysctl)")
    return found
