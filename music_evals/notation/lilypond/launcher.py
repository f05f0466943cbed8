"""What runs inside a confinement: it starts the one program, waits, and hands back what the program left.

`sandbox` starts this file as a script, in namespaces of its own, with an interpreter that sees no packages; so it
imports nothing but the standard library, and everything ahead of `enter_private_root`. Its arguments are a mode and two
file descriptors. From the first it reads a request, to the second it writes a report, both packed as by `pack`. Its
standard input is a pipe whose other end the caller holds: when that is closed, the caller is gone and everything ends.

The program starts with a second lock: no privilege, no way to get one, and a filter of system calls under which there
are no new processes, no sockets, and none of the calls by which programs have broken out of namespaces before.
"""

from __future__ import annotations

import ctypes
import errno
import fnmatch
import json
import os
import resource
import select
import signal
import stat
import struct
import sys
import time

TYPE_CHECKING = False  # the script starts for every text, and `typing` alone would be a fifth of its start
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, BinaryIO, Final

SCRATCH: Final = "/scratch"  # the one folder of a confined program that it can write to, and its working folder

THREADS: Final = 100  # how many threads a confined program may start

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC = 1, 2, 4, 8, 4096, 16384
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT = 38, 22, 24, 28, 47
_SECUREBITS = 0b11101111  # NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each locked, and KEEP_CAPS locked off
_LOOK_EVERY = 0.05  # seconds between two looks at the number of files and threads
_LOOKS = 20  # in which a program that is at work gets CPU time, as the launcher does
_AT_WORK = 0.01  # seconds of it

_MACHINE = os.uname().machine
# Numbers of system calls: x86_64, aarch64 (None where there is none), from Linux's tables.
_PIVOT_ROOT, _MOUNT_SETATTR, _CAPSET = {"x86_64": (155, 442, 126), "aarch64": (41, 442, 91)}.get(_MACHINE, (0, 0, 0))
_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE_THREAD: Final = 0x10000
_CLONE3: Final = 435  # the same everywhere, as all numbers from 424 on
_FORBIDDEN: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # Processes.
    **{"fork": (57, None), "vfork": (58, None), "execveat": (322, 281), "ptrace": (101, 117)},
    **{"process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440)},
    **{"pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "kcmp": (312, 272)},
    # Sockets.
    **{"socket": (41, 198), "socketpair": (53, 199)},
    # Name spaces, and the file system.
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41)},
    **{"chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430)},
    **{"fsmount": (432, 432), "fsconfig": (431, 431), "fspick": (433, 433), "mount_setattr": (442, 442)},
    **{"name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "quotactl": (179, 60)},
    **{"fanotify_init": (300, 262)},
    # The kernel.
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280)},
    **{"perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425)},
    **{"io_uring_enter": (426, 426), "io_uring_register": (427, 427), "kexec_load": (246, 104)},
    **{"kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273)},
    **{"delete_module": (176, 106)},
    # Memory that the limit on a process's address space does not count.
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186)},
    **{"semget": (64, 190), "mq_open": (240, 180)},
}

_libc = ctypes.CDLL(None, use_errno=True)


class _StartError(Exception):
    """What kept the program from starting."""


def pack(header: Mapping[str, Any], blobs: Iterable[bytes]) -> bytes:
    """Pack a JSON header and blobs, whose sizes the header tells."""
    text = json.dumps(header).encode()
    return b"".join([struct.pack("!Q", len(text)), text, *blobs])


def unpack_header(stream: BinaryIO) -> dict[str, Any]:
    """Read the header of what `pack` packed and leave the stream at the first blob."""
    (length,) = struct.unpack("!Q", stream.read(8))
    header: dict[str, Any] = json.loads(stream.read(length))
    return header


def seccomp_filter(machine: str) -> bytes:
    """Assemble the filter of system calls of x86_64 or aarch64, as an array of Linux's ``struct sock_filter``."""
    column = ("x86_64", "aarch64").index(machine) if machine in _AUDIT_ARCH else None
    if column is None:
        raise KeyError(machine)
    allow, kill = 0x7FFF0000, 0x80000000

    def refuse(error: int) -> int:
        return 0x00050000 | error

    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    # In struct seccomp_data the call's number is at 0, the architecture at 4, the low word of the first argument at 16
    # (both machines are little-endian).
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, _AUDIT_ARCH[machine]),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # x86_64's second table of the same calls (x32)
        (give, 0, 0, kill),
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, refuse(errno.ENOSYS)),  # its flags lie in memory; libc falls back on clone
    ]
    for numbers in _FORBIDDEN.values():
        number = numbers[column]
        if number is not None:
            program += [(equal, 0, 1, number), (give, 0, 0, refuse(errno.EPERM))]
    program += [
        (equal, 0, 3, _CLONE[machine]),
        (load, 0, 0, 16),
        (any_bit, 1, 0, _CLONE_THREAD),  # a thread of the same process: GLib, and with it LilyPond, needs one
        (give, 0, 0, refuse(errno.EPERM)),
        (give, 0, 0, allow),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def needs() -> list[str]:
    """List the files and folders outside the system's libraries that this interpreter needs to run this script."""
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
    arguments = (source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), options.encode())
    _check(_libc.mount(*arguments), f"mounting {target}")


def _make_read_only(path: str, recursively: bool) -> None:
    attributes = struct.pack("=QQQQ", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, 0, 0, 0)  # the same bits as MOUNT_ATTR_*
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
    _check(_libc.syscall(ctypes.c_long(_PIVOT_ROOT), new.encode(), old.encode()), "changing the root folder")


def enter_private_root(read_only: Sequence[str], scratch_bytes: int, scratch_files: int) -> None:
    """Leave the machine's file system for one that holds the scratch folder and what is named, at the same paths."""
    _mount("none", "/", None, _MS_REC | (1 << 18))  # private: no mount is seen outside
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
    options = f"mode=700,size={scratch_bytes},nr_inodes={scratch_files + 1}"
    _mount("tmpfs", "/new" + SCRATCH, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)
    _make_read_only("/new", recursively=False)
    os.chdir("/new")
    _pivot_root(".", ".")  # the old root now lies upon the new one, and goes with all below it
    _check(_libc.umount2(b".", ctypes.c_int(_MNT_DETACH)), "leaving the old root folder")
    os.chdir(SCRATCH)


def drop_privileges() -> None:
    """Give up all capabilities, also those that a program could get when it is started."""

    def prctl(option: int, *arguments: int) -> int:
        padded = (*arguments, 0, 0, 0, 0)[:4]
        return int(_libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded)))

    # Both calls are refused to a process that has no privileges, and has nothing to lose by them either.
    prctl(_PR_SET_SECUREBITS, _SECUREBITS)
    for capability in range(64):
        prctl(_PR_CAPBSET_DROP, capability)
    prctl(_PR_CAP_AMBIENT, 4)  # clear all
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _check(_libc.syscall(ctypes.c_long(_CAPSET), header, none), "giving up privileges")
    _check(prctl(_PR_SET_NO_NEW_PRIVS, 1), "forbidding new privileges")


def _install_filter() -> None:
    code = ctypes.create_string_buffer(seccomp_filter(_MACHINE))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program((len(code) - 1) // 8, ctypes.addressof(code))
    result = _libc.prctl(
        ctypes.c_int(_PR_SET_SECCOMP), ctypes.c_ulong(2), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0)
    )
    _check(result, "installing the filter of system calls")


def _become_program(request: Mapping[str, Any]) -> None:
    """Turn this process into the program."""
    os.setsid()
    empty, held = os.pipe()
    os.dup2(empty, 0)
    os.close(held)
    limits = {
        resource.RLIMIT_AS: request["memory"],
        resource.RLIMIT_FSIZE: request["file_bytes"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 128,
    }
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    # A program may ignore the signal of the first limit, and not that of the second.
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 1))
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _install_filter()
    os.execve(request["command"][0], request["command"], request["environment"])


def _start(request: Mapping[str, Any]) -> int:
    """Start the program and return its process id, or fail with the reason why it did not start."""
    failure, notice = os.pipe()  # closed by a successful start
    child = os.fork()
    if child == 0:
        try:
            os.dup2(notice, 3, inheritable=False)
            os.closerange(4, 1 << 20)
            _become_program(request)
        except BaseException as error:
            os.write(3, f"{type(error).__name__}: {error}"[:4000].encode())
        os._exit(127)
    os.close(notice)
    with open(failure, "rb") as stream:
        reason = stream.read(4000).decode(errors="replace")
    if reason:
        os.waitpid(child, 0)
        raise _StartError(f"{request['command'][0]} does not start: {reason}")
    return child


def _newest_process() -> int:
    """Start a process that does nothing, for its number: processes and threads of a name space are numbered in turn."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def _wait(child: int, folder: int, request: Mapping[str, Any]) -> tuple[int, float, str]:
    """Wait for the end of the program; return its status, its CPU time in seconds, and why it was ended, if it was.

    That is ``output``, where it made too many files or threads, or ``idle``, where it waits for what never comes.
    """
    why, idle, used_before = "", 0.0, 0.0
    clock = (~child << 3) | 2  # of the CPU time of a process, as Linux numbers it
    if hasattr(os, "pidfd_open"):
        ended = os.pidfd_open(child)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(0, select.POLLIN)
        looks = 0
        while not why and not (events := poll.poll(_LOOK_EVERY * 1000)):
            looks += 1
            counts = os.fstatvfs(folder)
            too_many = counts.f_files - counts.f_ffree > request["scratch_files"]
            if too_many or not 0 <= _newest_process() - child - looks <= THREADS:
                why = "output"
            if looks % _LOOKS == 0:
                used = time.clock_gettime(clock)
                idle += _LOOKS * _LOOK_EVERY if used - used_before < _AT_WORK else 0
                used_before = used
                why = why or ("idle" if idle >= request["seconds"] else "")
        if why or ended not in dict(events):
            os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        pass  # nothing else runs
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, why


def _collect(folder: int, patterns: Sequence[str], most: int) -> tuple[list[tuple[str, bytes]], bool]:
    """Read the regular files that the program left, oldest first, and no links; none and True if over `most` bytes."""
    found: list[tuple[int, int, str, bytes]] = []
    left = most
    os.fchmod(folder, 0o700)  # the program may have locked it
    for name in os.listdir(folder):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            continue
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError:
            continue  # a link, or a file that its owner cannot read
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            os.close(file)
            continue
        with open(file, "rb") as stream:
            if facts.st_size > left:
                return [], True
            content = stream.read(facts.st_size)
            left -= len(content)
            # The clock of a file system stands still for milliseconds; one in memory numbers its files as they come.
            found.append((facts.st_mtime_ns, facts.st_ino, name, content))
    return [(name, content) for _, _, name, content in sorted(found)], False


def main(mode: str, request_fd: int, report_fd: int) -> None:
    """Serve one request; in mode ``namespaces`` make the file system private first, which bubblewrap has done."""
    os.set_inheritable(request_fd, False)
    os.set_inheritable(report_fd, False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(request_fd, "rb") as stream, open(report_fd, "wb") as out:
        request = unpack_header(stream)
        try:
            if mode == "namespaces":
                enter_private_root(request["read_only"], request["scratch_bytes"], request["scratch_files"])
            if os.getpid() != 1:
                raise _StartError("not the first process of a name space of processes")
            drop_privileges()
            folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
            for name, size in request["files"]:
                with open(name, "wb") as file:
                    file.write(stream.read(size))
            status, cpu, why = _wait(_start(request), folder, request)
        except (_StartError, OSError) as error:
            out.write(pack({"error": str(error)}, ()))
            return
        files, too_much = _collect(folder, request["collect"], request["scratch_bytes"])
        sizes = [(name, len(content)) for name, content in files]
        report = {"status": status, "cpu": cpu, "stopped": why or ("output" if too_much else ""), "files": sizes}
        out.write(pack(report, (content for _, content in files)))


if __name__ == "__main__":
    if sys.argv[1:] == ["needs"]:
        print(json.dumps(needs()))
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
