"""The sandbox, by shells that run in it (attacks are in `test_hostile`), and its filter of system
calls.
"""

import errno
import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from contextlib import suppress
from fcntl import F_GETFD, F_GETLK, F_NOTIFY, F_SETLEASE, F_SETLK, F_SETLKW
from functools import partial
from pathlib import Path

import pytest

from music_evals.notation.lilypond.sandbox import (
    Limits,
    SandboxError,
    available_confinement,
    launcher,
    runner,
)
from music_evals.notation.lilypond.sandbox.runner import Ended, run_confined, why_unavailable
from music_evals.notation.lilypond.sandbox.system_calls import seccomp_filter


def program(name):
    path = shutil.which(name)
    assert path is not None
    return Path(os.path.realpath(path))


def shell(script, confinement, **options):
    path = program("sh")
    return run_confined(
        [str(path), "-c", script],
        {"a.txt": b"one\n", "b.bin": b"\0\xff"},
        readable=[path],
        confinement=confinement,
        **options,  # type: ignore[arg-type]
    )


def test_how_programs_end(confinement):
    assert shell("exit 3", confinement).status == 3
    assert shell("kill -KILL $$", confinement).status == -signal.SIGKILL
    assert shell("kill -KILL 1; kill -KILL $PPID; echo alive", confinement).stdout == "alive\n"
    ended = shell(
        "echo out; echo wrong >&2; read line < a.txt; echo $line; read more; echo $?", confinement
    )
    assert ended == Ended(
        0, None, "out\none\n1\n", "wrong\n"
    )  # nothing is to be read from its input


@pytest.mark.parametrize("arguments", ["--nofile=0", "--cpu=0", "--as=1", "--fsize=0", "--core=0"])
@pytest.mark.parametrize("pid", [1, 2, 3])
def test_a_program_cannot_limit_what_keeps_it(confinement, arguments, pid):
    """Whatever it does ends as a program that ended, and never as an error of the sandbox."""
    limiter = program("prlimit")
    ended = run_confined(
        [str(limiter), f"--pid={pid}", arguments],
        {},
        readable=[limiter],
        confinement=confinement,
        limits=Limits(5),
    )
    assert ended.status is not None or ended.stopped in ("time", "slow", "broken"), ended


def test_signals_reach_nobody(confinement):
    script = (
        "for signal in 1 2 6 9 11 15 18 19 24 25; do for pid in 1 3 4 -1 $PPID; do kill -$signal "
        "$pid; done; done"
    )
    assert shell(f"trap '' 1 2 6 15 24 25; {script} 2> errors; echo alive", confinement).stdout in (
        "alive\n",
        "",
    )


def test_a_keeper_that_is_gone_is_a_failed_program(confinement, monkeypatch):
    started = launcher.STARTED + b"\0\0"
    monkeypatch.setattr(
        runner, "_gather", lambda streams, report, *_: streams[report].extend(started)
    )
    assert shell("true", confinement).stopped == "broken"


def test_messages_cannot_steer_a_terminal(confinement):
    ended = shell(r"printf 'a\033[31m\tb\r\n\302\233' >&2; printf '\033'", confinement)
    assert (ended.stdout, ended.stderr) == ("\x1b", "a\ufffd[31m\tb\ufffd\n\ufffd")


def test_files_come_back_in_order(confinement):
    script = (
        "for name in z y x; do echo $name > $name.out; done; echo more >> a.txt; echo no > other"
    )
    files = shell(script, confinement, collect=["*.out", "[ab].*"]).files
    assert files == {
        "b.bin": b"\0\xff",
        "z.out": b"z\n",
        "y.out": b"y\n",
        "x.out": b"x\n",
        "a.txt": b"one\nmore\n",
    }
    assert [name for name in files if name.endswith(".out")] == ["z.out", "y.out", "x.out"]


def test_stopping_early(confinement):
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    assert (
        shell("kill -STOP $$", confinement, limits=Limits(seconds=86_400), stop=stop).stopped
        == "clock"
    )


def running(mark):
    """List the processes of this machine that have a mark in their command line."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            commands.append(path.read_bytes().decode(errors="replace"))
    return [command for command in commands if mark in command]


def eventually(condition):
    """Wait for a condition, for minutes on a busy machine."""
    for _ in range(2000):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_nothing_runs_on(confinement):
    mark = uuid.uuid4().hex
    assert (
        shell(f"mark={mark}; while :; do :; done", confinement, limits=Limits(seconds=1)).stopped
        == "time"
    )
    assert eventually(lambda: not running(mark))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_nothing_is_left_when_the_caller_ends(confinement, number, tmp_path):
    mark = uuid.uuid4().hex
    caller = f"""
    from pathlib import Path
    from music_evals.notation.lilypond.sandbox.runner import Confinement, run_confined
    shell = {str(program("sh"))!r}
    script = "echo $mark > made; mark={mark}; while :; do :; done"
    print("starting", flush=True)
    run_confined([shell, "-c", script], {{}}, readable=[Path(shell)], confinement=Confinement({str(confinement)!r}))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(caller)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Under a shell's "&" the interrupt is ignored, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        assert eventually(
            lambda: [line for line in running(mark) if not line.startswith(sys.executable)]
        )
        process.send_signal(number)
        process.wait(100)
    assert eventually(lambda: not running(mark))
    assert {path.name for path in tmp_path.iterdir()} <= {
        f"music-evals-{os.getuid()}"
    }  # the locks of the slots


def test_what_cannot_be_run(confinement, tmp_path):
    with pytest.raises(SandboxError, match="no/such/program does not start: FileNotFoundError"):
        run_confined(["/no/such/program"], {}, confinement=confinement)
    for name in ("", "..", "a/b", "/etc/passwd", "a\0b"):
        with pytest.raises(SandboxError, match="is no plain file name"):
            run_confined(["/bin/true"], {name: b""}, confinement=confinement)
    with pytest.raises(SandboxError, match="more than 10 bytes"):
        run_confined(
            ["/bin/true"],
            {"a": bytes(11)},
            limits=Limits(scratch_bytes=10),
            confinement=confinement,
        )
    (tmp_path / "link").symlink_to("/usr")
    for path in ("usr", f"{tmp_path}/link", "/no/such"):
        with pytest.raises(SandboxError, match="does not exist, or is not its real path"):
            run_confined(["/bin/true"], {}, readable=[Path(path)], confinement=confinement)


def test_refusal_without_any_sandbox_or_where_name_spaces_are_forbidden(monkeypatch, tmp_path):
    true, which = program("true"), shutil.which
    monkeypatch.setattr(runner, "why_unavailable", why_unavailable.__wrapped__)
    with monkeypatch.context() as patch:
        patch.setattr(
            runner.shutil,
            "which",
            lambda name: None if name in ("bwrap", "unshare") else which(name),
        )
        with pytest.raises(SandboxError, match="apt install bubblewrap") as refusal:
            run_confined([str(true)], {}, readable=[true])
    assert all(f"{name} is not installed" in str(refusal.value) for name in ("bwrap", "unshare"))
    for name in ("bwrap", "unshare"):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\necho '{name}: Operation not permitted' >&2\nexit 1\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(SandboxError, match="bubblewrap: ") as refusal:
        available_confinement()
    assert all(
        f"{name}: Operation not permitted" in str(refusal.value) for name in ("bwrap", "unshare")
    )


def decide(machine, architecture, number, *arguments):
    """Run the filter as the kernel's classic BPF machine does, on a call's number and first
    arguments.
    """
    padded = (*arguments, *[0] * 6)[:6]
    data = struct.pack("=iI7Q", number, architecture, 0, *padded)
    program = list(struct.iter_unpack("=HBBI", seccomp_filter(machine)))
    place = value = 0
    while True:
        code, true, false, constant = program[place]
        place += 1
        if code == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x06:  # BPF_RET | BPF_K
            return int(constant)
        else:
            # BPF_JMP | BPF_K with BPF_JEQ, BPF_JGE and BPF_JSET
            tests = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}
            place += true if tests[code] else false


ALLOW, KILL, REFUSE, NO_SUCH_CALL = (
    0x7FFF0000,
    0x80000000,
    0x00050000 | errno.EPERM,
    0x00050000 | errno.ENOSYS,
)
THREAD, CLONE_VM, NEW_USER, SIGCHLD = 0x10000, 0x100, 0x10000000, 17  # flags of clone


# Numbers of socket, ptrace, clone, read and kill from asm/unistd_64.h and asm-generic/unistd.h;
# AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h.
@pytest.mark.parametrize(
    ("machine", "architecture", "calls"),
    [
        ("x86_64", 0xC000003E, (41, 101, 56, 0, 62)),
        ("aarch64", 0xC00000B7, (198, 117, 220, 63, 129)),
    ],
)
def test_filter(machine, architecture, calls):
    socket, ptrace, clone, read, kill = calls
    assert {decide(machine, architecture, call) for call in (socket, ptrace, clone)} == {REFUSE}
    assert {decide(machine, architecture, call) for call in (read, kill)} == {ALLOW}
    assert {decide(machine, architecture, clone, flags) for flags in (SIGCHLD, NEW_USER)} == {
        REFUSE
    }
    assert decide(machine, architecture, clone, THREAD | CLONE_VM) == ALLOW
    assert decide(machine, architecture, 435) == NO_SUCH_CALL  # clone3
    fcntl, watch = (72, 294) if machine == "x86_64" else (25, 26)
    assert {
        decide(machine, architecture, fcntl, 3, command)
        for command in (F_SETLEASE, F_NOTIFY, F_SETLK, F_SETLKW)
    } == {REFUSE}
    assert {
        decide(machine, architecture, fcntl, F_SETLEASE, command) for command in (F_GETFD, F_GETLK)
    } == {ALLOW}
    assert decide(machine, architecture, watch) == REFUSE
    assert decide(machine, 0x40000003, read) == KILL  # AUDIT_ARCH_I386
    if machine == "x86_64":
        assert decide(machine, architecture, 0x40000000 | read) == KILL  # x32
        assert {decide(machine, architecture, number) for number in (57, 58)} == {
            REFUSE
        }  # fork, vfork
    with pytest.raises(KeyError):
        seccomp_filter("riscv64")
