"""The filter of system calls (seccomp) under which a confined program runs."""

import errno
import struct
from collections.abc import Mapping, Sequence

from music_evals.notation.toml_files import read_toml

_FORBIDDEN: Mapping[str, Sequence[int]] = read_toml(__package__, "system_calls.toml")["forbidden"]
# Column of the table, architecture (AUDIT_ARCH), and the numbers of clone and fcntl.
_MACHINES = {"x86_64": (0, 0xC000003E, 56, 72), "aarch64": (1, 0xC00000B7, 220, 25)}
_CLONE_THREAD = 0x10000
_CLONE3 = 435
# Commands of fcntl that other programs on the machine would notice: F_SETLK, F_SETLKW, F_OFD_SETLK,
# F_OFD_SETLKW, F_SETLEASE and F_NOTIFY.
_FCNTL_COMMANDS = (6, 7, 37, 38, 1024, 1026)


def seccomp_filter(machine: str) -> bytes:
    """Assemble the filter as an array of Linux's ``struct sock_filter``; KeyError if not for x86_64
    or aarch64.
    """
    column, architecture, clone, fcntl = _MACHINES[machine]
    allow, kill, refuse = 0x7FFF0000, 0x80000000, 0x00050000

    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    # In struct seccomp_data the number of the call is at 0, the architecture at 4, and the low word
    # of the first arguments at 16 and 24 (both machines are little-endian).
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the second table of the same calls on x86_64 (x32)
        (give, 0, 0, kill),
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, refuse | errno.ENOSYS),  # its flags are in memory; libc falls back on clone
    ]
    for numbers in _FORBIDDEN.values():
        if (number := numbers[column]) >= 0:
            program += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.EPERM)]
    program += [(equal, 0, 2 * len(_FCNTL_COMMANDS) + 2, fcntl), (load, 0, 0, 24)]
    for command in _FCNTL_COMMANDS:
        program += [(equal, 0, 1, command), (give, 0, 0, refuse | errno.EPERM)]
    program += [
        (load, 0, 0, 0),
        (equal, 0, 3, clone),
        (load, 0, 0, 16),
        # A thread of the same process, which GLib and so LilyPond needs.
        (
            any_bit,
            1,
            0,
            _CLONE_THREAD,
        ),
        (give, 0, 0, refuse | errno.EPERM),
        (give, 0, 0, allow),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
