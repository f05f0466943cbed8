"""The script that runs inside a confinement: it starts one program, waits, and returns the files
that it left.

`runner` starts this file as a script, in name spaces of its own, with an interpreter that sees no
packages. So it imports nothing but the standard library, and imports everything ahead of
`enter_private_root`. Its arguments are a mode and two file descriptors. It reads a request from the
first and writes a report to the second; `pack` packs both. Its standard input is a pipe whose other
end the caller holds. When that end closes, the caller is gone, and everything is ended.

The program is locked in a second time: it has no privileges, no way to get any, and a filter of
system calls, which the request contains. Under the filter there are no new processes, no sockets,
and none of the calls by which programs have broken out of name spaces. It has a name space of
processes of its own, below this script's, so that it can neither signal nor limit the script. Once
it has started, the report begins with `STARTED`.
"""

from __future__ import annotations

import ctypes
import fnmatch
import json
import os
import resource
import select
import signal
import stat
import struct
import sys

# the script starts for every text, and importing `typing` would take a fifth of that time
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, BinaryIO

    Request = Mapping[str, Any]

SCRATCH = "/scratch"  # the working folder of a confined program, the only one that it can write to
STARTED = b"+"
THREADS = 100  # most threads that a confined program may start

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC = 1, 2, 4, 8, 4096, 16384
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT = (
    38,
    22,
    24,
    28,
    47,
)
# NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each locked, and KEEP_CAPS locked off
_SECUREBITS = 0b11101111
_CHECK_EVERY = 0.05  # seconds between two checks of the number of files and threads

# Numbers of system calls, from Linux's tables.
_CALLS = {"x86_64": (155, 442, 126, 56), "aarch64": (41, 442, 91, 220)}
_PIVOT_ROOT, _MOUNT_SETATTR, _CAPSET, _CLONE = _CALLS.get(os.uname().machine, (0, 0, 0, 0))
_CLONE_NEWUSER, _CLONE_NEWPID = 0x10000000, 0x20000000

_libc = ctypes.CDLL(None, use_errno=True)


class _StartError(Exception):
    """The program could not be started."""


def pack(header: Mapping[str, Any], blobs: Iterable[bytes]) -> bytes:
    """Pack a JSON header, which states the sizes of the blobs, and the blobs."""
    text = json.dumps(header).encode()
    return b"".join([struct.pack("!Q", len(text)), text, *blobs])


def unpack_header(stream: BinaryIO) -> dict[str, Any]:
    """Read the header that `pack` wrote, and leave the stream at the first blob."""
    (length,) = struct.unpack("!Q", stream.read(8))
    header: dict[str, Any] = json.loads(stream.read(length))
    return header


def needs() -> list[str]:
    """List the files and folders that this interpreter needs to run this script, besides the
    system's libraries.
    """
    standard_library = os.path.dirname(os.path.realpath(os.__file__))
    mapped = {os.path.realpath(sys.executable), standard_library}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[5:]
            if path and path[0].startswith("/") and os.path.isfile(path[0]):
                mapped.add(path[0])
    return sorted(mapped)


def _check(result: int, what: str) -> None:
    if result != 0:
        raise _StartError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    names = (source.encode(), target.encode(), kind and kind.encode())
    result = _libc.mount(*names, ctypes.c_ulong(flags), options.encode())
    _check(result, f"mounting {target}")


def _make_read_only(path: str, recursively: bool) -> None:
    # The same bits as MOUNT_ATTR_*.
    attributes = struct.pack("=QQQQ", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, 0, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        path.encode(),
        ctypes.c_uint(_AT_RECURSIVE if recursively else 0),
        attributes,
        ctypes.c_size_t(len(attributes)),
    )
    _check(result, f"making {path} read-only (needs Linux 5.12)")


def _pivot_root(new: str, old: str) -> None:
    _check(
        _libc.syscall(ctypes.c_long(_PIVOT_ROOT), new.encode(), old.encode()),
        "changing the root folder",
    )


def enter_private_root(read_only: Sequence[str]) -> None:
    """Leave the machine's file system for one with only an empty folder `SCRATCH` and the paths in
    `read_only`.
    """
    _mount("none", "/", None, _MS_REC | (1 << 18))  # private: mounts cannot be seen outside
    _mount("tmpfs", "/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=64k")
    os.mkdir("/tmp/new")
    os.mkdir("/tmp/old")
    _pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
    for path in read_only:
        source, target = "/old" + path, "/new" + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
            continue
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        elif not os.path.exists(target):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
        _mount(source, target, None, _MS_BIND | _MS_REC)
        _make_read_only(target, recursively=True)
    os.mkdir("/new" + SCRATCH)
    _make_read_only("/new", recursively=False)
    os.chdir("/new")
    # The old root is now mounted on the new one, and goes with all mounts below it.
    _pivot_root(".", ".")
    _check(_libc.umount2(b".", ctypes.c_int(_MNT_DETACH)), "leaving the old root folder")


def _prctl(option: int, *arguments: int) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return int(_libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded)))


def drop_privileges() -> None:
    """Give up all capabilities, also the ones that a program could get when it starts."""
    # A process without privileges may make none of these three calls, and has nothing to lose by
    # them.
    _prctl(_PR_SET_SECUREBITS, _SECUREBITS)
    for capability in range(64):
        _prctl(_PR_CAPBSET_DROP, capability)
    _prctl(_PR_CAP_AMBIENT, 4)  # clears all
    header, no_capabilities = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _check(_libc.syscall(ctypes.c_long(_CAPSET), header, no_capabilities), "giving up privileges")
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1), "forbidding new privileges")


def _become_program(request: Request) -> None:
    """Replace this process by the program."""
    os.setsid()
    empty_input, writing_end = os.pipe()
    os.dup2(empty_input, 0)
    os.close(writing_end)
    limits = {
        resource.RLIMIT_AS: request["memory"],
        resource.RLIMIT_DATA: request["memory"],  # whatever limit the caller has
        resource.RLIMIT_FSIZE: request["file_bytes"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 128,
    }
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    # A program can ignore the signal of the first limit, but not the signal of the second.
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 1))
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    filter_code = ctypes.create_string_buffer(bytes.fromhex(request["filter"]))
    # This is the C struct sock_fprog.
    program = struct.pack("@HP", len(filter_code) // 8, ctypes.addressof(filter_code))
    program_buffer = ctypes.create_string_buffer(program)
    _check(
        _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(program_buffer)),
        "installing the filter of system calls",
    )
    os.execve(request["command"][0], request["command"], request["environment"])


def _fork_below() -> int:
    """Fork, as `os.fork`, into name spaces of users and processes below this one's; plainly if that
    is forbidden.
    """
    flags = ctypes.c_ulong(_CLONE_NEWUSER | _CLONE_NEWPID | signal.SIGCHLD)
    child = (
        int(_libc.syscall(ctypes.c_long(_CLONE), flags, *[ctypes.c_ulong(0)] * 4)) if _CLONE else -1
    )
    return child if child >= 0 else os.fork()


def _start(request: Request) -> tuple[int, int]:
    """Start the program below a process that waits for it.

    Return the process id of the one that waits, and the pipe that it writes the program's wait
    status to; _StartError with the reason if the program does not start.
    """
    failure, notice = os.pipe()  # a successful start closes the pipe
    ended, ending = os.pipe()
    child = _fork_below()
    if child == 0:
        try:
            drop_privileges()
            if program := os.fork():
                os.close(notice)
                os.write(ending, struct.pack("=i", os.waitpid(program, 0)[1]))
                os._exit(0)
            os.dup2(notice, 3, inheritable=False)
            os.closerange(4, 1 << 20)
            _become_program(request)
        except BaseException as error:
            os.write(3, f"{type(error).__name__}: {error}"[:4000].encode())
        os._exit(127)
    os.close(notice)
    os.close(ending)
    with open(failure, "rb") as stream:
        reason = stream.read(4000).decode(errors="replace")
    if reason:
        os.waitpid(child, 0)
        raise _StartError(f"{request['command'][0]} does not start: {reason}")
    return child, ended


def _newest_process() -> int:
    """Return the number of a new process that ends at once: a name space numbers processes and
    threads in turn.
    """
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def _start_rival(seconds: int) -> int:
    """Start a process that computes until it has used so much CPU time; return a descriptor of it.

    In a session of its own, as the program is, it gets as much of a busy machine as the program.
    """
    rival = os.fork()
    if rival == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        while True:
            pass
    return os.pidfd_open(rival)


def _watch(child: int, folder: int, request: Request) -> str:
    """Watch the process that waits for the program until it ends or the caller is gone.

    Return why it has to be ended, or nothing.

    The reason is ``output`` if it made too many files or threads. It is ``slow`` if it has not
    ended in its time, nor in the time that a rival then needed to use twice as much CPU time.
    """
    if not hasattr(os, "pidfd_open"):
        return ""
    reason, checks, rival = "", 0, -1
    process = os.pidfd_open(child)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(0, select.POLLIN)
    while not reason and not (events := dict(poll.poll(_CHECK_EVERY * 1000))):
        checks += 1
        threads = _newest_process() - child - checks - (rival >= 0)
        counts = os.fstatvfs(folder)
        files = counts.f_files - counts.f_ffree
        if files > request["scratch_files"] or not 0 <= threads <= THREADS:
            reason = "output"
        elif rival < 0 and checks * _CHECK_EVERY >= request["seconds"]:
            # It needs twice as much, and a program that ignores its limit is killed a second later.
            rival = _start_rival(2 * request["seconds"] + 1)
            poll.register(rival, select.POLLIN)
    if process in events:
        return ""
    os.kill(child, signal.SIGKILL)
    return reason or ("slow" if rival in events else "")


def _wait(child: int, ended: int, folder: int, request: Request) -> tuple[int, float, str]:
    """Wait for the end of the program; return its status, its CPU time in seconds, and why it was
    ended, if it was.
    """
    reason = _watch(child, folder, request)
    _, status, usage = os.wait4(child, 0)
    with open(ended, "rb") as stream:
        # Without a word, the process that waited was killed with the program.
        status = struct.unpack("=i", stream.read(4).ljust(4, b"\0"))[0] or status
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        pass  # no other process is left
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, reason


def _collect(
    folder: int, patterns: Sequence[str], most: int
) -> tuple[list[tuple[str, bytes]], bool]:
    """Read the regular files that the program left, oldest first, and no links; none and True if
    over `most` bytes.
    """
    files: list[tuple[int, int, str, bytes]] = []
    room = most
    os.fchmod(folder, 0o700)  # the program may have locked it
    for name in os.listdir(folder):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            continue
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError:
            continue  # a link, or a file that its owner cannot read
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            continue
        with open(file, "rb") as stream:
            if status.st_size > room:
                return [], True
            content = stream.read(status.st_size)
            room -= len(content)
            # Times of files are the same for milliseconds; a file system in memory numbers its
            # files in order.
            files.append((status.st_mtime_ns, status.st_ino, name, content))
    return [(name, content) for _, _, name, content in sorted(files)], False


def main(mode: str, request_fd: int, report_fd: int) -> None:
    """Serve one request; in mode ``namespaces`` make the file system private first, as bubblewrap
    does itself.
    """
    os.set_inheritable(request_fd, False)
    os.set_inheritable(report_fd, False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(request_fd, "rb") as stream, open(report_fd, "wb") as out:
        request = unpack_header(stream)
        try:
            if mode == "namespaces":
                enter_private_root(request["read_only"])
            options = f"mode=700,size={request['scratch_bytes']},nr_inodes="
            options += str(request["scratch_files"] + 1)
            _mount("tmpfs", SCRATCH, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)
            os.chdir(SCRATCH)
            if os.getpid() != 1:
                raise _StartError("not the first process of a name space of processes")
            drop_privileges()
            folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
            for name, size in request["files"]:
                with open(name, "wb") as file:
                    file.write(stream.read(size))
            started = _start(request)
            out.write(STARTED)
            out.flush()
            status, cpu, reason = _wait(*started, folder, request)
        except (_StartError, OSError) as error:
            out.write(pack({"error": str(error)}, ()))
            return
        files, too_much = _collect(folder, request["collect"], request["scratch_bytes"])
        sizes = [(name, len(content)) for name, content in files]
        report = {
            "status": status,
            "cpu": cpu,
            "stopped": reason or ("output" if too_much else ""),
            "files": sizes,
        }
        out.write(pack(report, (content for _, content in files)))


if __name__ == "__main__":
    if sys.argv[1:] == ["needs"]:
        print(json.dumps(needs()))
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
