"""Slots: one program per core, over threads and processes; one program alone; and a second run
after the clock.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from music_evals.notation.lilypond.compiler import compile_text
from music_evals.notation.lilypond.sandbox import Limits, runner, slots
from music_evals.notation.lilypond.sandbox.runner import Ended
from music_evals.notation.lilypond.sandbox.slots import slot


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Locks of this test's own, for two cores."""
    monkeypatch.setattr(slots, "_folder", lambda: tmp_path)
    monkeypatch.setattr(slots, "cores", lambda: 2)
    return tmp_path


HOLDER = """
import sys
from pathlib import Path
from music_evals.notation.lilypond.sandbox import slots
slots._folder, slots.cores = lambda: Path(sys.argv[1]), lambda: 2
with slots.slot() as has_slot:
    print(has_slot, flush=True)
    sys.stdin.read()
"""


def test_slots_are_shared_with_other_processes_and_come_back_when_they_are_killed(
    folder,
):
    command = [sys.executable, "-c", HOLDER, str(folder)]
    others = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    try:
        assert [other.stdout and other.stdout.readline() for other in others] == [b"True\n"] * 2
        stop, got = threading.Event(), threading.Event()
        stop.set()
        with slot(stop) as has_slot:
            assert not has_slot

        def wait():
            with slot() as has_slot:
                assert has_slot
                got.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not got.wait(0.3)
        others[0].kill()
        waiting.join()
        assert got.is_set()
    finally:
        for other in others:
            other.kill()
            other.communicate()


BUSY = """
import sys, threading, time
from pathlib import Path
from music_evals.notation.lilypond.sandbox import slots
slots._folder, slots.cores = lambda: Path(sys.argv[1]), lambda: 2
def work():
    while True:
        with slots.slot():
            print("x", end="", flush=True)
            time.sleep(0.05)
for _ in range(8):
    threading.Thread(target=work).start()
"""


def test_a_run_that_just_started_gets_its_share_beside_a_busy_one(folder):
    other = subprocess.Popen([sys.executable, "-c", BUSY, str(folder)], stdout=subprocess.PIPE)
    try:
        assert other.stdout
        other.stdout.read(4)
        for _ in range(20):
            with slot() as has_slot:
                assert has_slot
                threading.Event().wait(0.05)
        other.kill()
        # Its threads are eight times as many, and two of their turns may end between two of ours.
        assert len(other.stdout.read()) < 100
    finally:
        other.kill()
        other.communicate()


@pytest.mark.parametrize("alone", [False, True])
def test_holders_are_named_and_not_waited_for_without_end(folder, monkeypatch, caplog, alone):
    """A suspended process keeps its slot."""
    monkeypatch.setattr(slots, "_NOTICE_AFTER", 0)
    monkeypatch.setattr(slots, "_has_noticed", threading.Event())
    monkeypatch.setattr(slots, "_has_given_up", threading.Event())
    command = [sys.executable, "-c", HOLDER, str(folder)]
    others = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    stop = threading.Event()
    try:
        for other in others:
            assert other.stdout
            other.stdout.readline()
            other.send_signal(signal.SIGSTOP)
        waiting = threading.Thread(target=lambda: slot(stop, alone=alone).__enter__())
        waiting.start()
        while not caplog.records:
            stop.wait(0.01)
        assert waiting.is_alive()
        with monkeypatch.context() as patch:
            patch.setattr(slots, "_GIVE_UP_AFTER", 0)
            waiting.join()
        with slot(alone=alone) as has_slot:
            assert has_slot, "nobody waits as long once more"
    finally:
        stop.set()
        for other in others:
            other.kill()
            other.communicate()
    with slot() as has_slot:
        assert has_slot
    assert not slots._has_given_up.is_set()
    (message,) = [record.message for record in caplog.records]
    assert str(folder) in message
    assert "TMPDIR" in message
    assert all(str(other.pid) in message for other in others)


def test_no_more_than_there_are_cores_and_one_alone(folder):
    lock, running, most, alone = threading.Lock(), 0, 0, []

    def work(number):
        nonlocal running, most
        is_alone = number % 10 == 5
        with slot(alone=is_alone) as has_slot:
            assert has_slot
            with lock:
                running += 1
                most = max(most, running)
            threading.Event().wait(0.01)
            with lock:
                if is_alone:
                    alone.append(running)
                running -= 1

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(work, range(60)))
    assert most == 2
    assert alone == [1] * 6


def test_a_program_that_the_clock_stopped_runs_again_and_is_not_measured(
    monkeypatch,
):
    ends = [
        Ended(None, "clock", "", ""),
        Ended(None, "clock", "", ""),
        Ended(-9, None, "", ""),
        Ended(0, None, "", ""),
    ]
    served = iter(ends)
    monkeypatch.setattr(runner, "_serve", lambda *_: next(served))
    stopped = compile_text("{ c4 }", limits=Limits(seconds=2))
    assert (stopped.problem, stopped.is_measured) == (
        "did not end in 120 s, of which LilyPond got too few",
        False,
    )
    again = compile_text("{ c4 }")
    assert (again.status, again.is_measured) == (0, True)
    assert next(served, None) is None


def test_a_folder_of_somebody_else_is_not_used(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"music-evals-{os.getuid()}").symlink_to(elsewhere)
    code = """
        from music_evals.notation.lilypond.sandbox.slots import slot
        with slot() as has_slot:
            print(has_slot)
    """
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True
    )
    assert done.stdout == "True\n", done.stderr
    assert not list(elsewhere.iterdir())
