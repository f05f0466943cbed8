"""Runs that are killed at any moment: the same command then does its work."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from random import Random

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

PROGRAM = [sys.executable, "-c", "from music_evals.commands.main import app; app()"]
RUNS = {
    "run": ("run", "muse_syncopation", "--model", "baseline/reader", "-T", "modality=midi"),
    "judge": (
        "run",
        "msu_textual",
        "--model",
        "baseline/reader",
        "-T",
        "judges=baseline/chance",
        "-T",
        "cache=false",
    ),
}


def killed(command, seconds):
    """Start a command and kill it, with all that it started, after so many seconds."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def ended(command):
    """Run a command to its end, and say how many seconds it took."""
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return time.monotonic() - begun


@pytest.mark.parametrize("name", RUNS)
def test_runs(name, tmp_path, counting, full):
    if not full:
        pytest.skip("with CAMPAIGN=full; tests/commands/test_run.py kills a grid")
    command = [*PROGRAM, *RUNS[name], "--limit", "12", "--display", "none", "--log-dir"]
    takes = ended([*command, str(tmp_path / "whole")])
    random = Random(3)
    with counting(f"kills of a {name}") as tally:
        for number in range(8):
            logs = tmp_path / str(number)
            with tally.case(number):
                killed([*command, str(logs)], takes * random.uniform(0.3, 1.0))
                ended([*command, str(logs)])
                run_logs = [read_eval_log(info) for info in list_eval_logs(str(logs))]
                complete = [log for log in run_logs if log.status == "success"]
                assert [len(log.samples or []) for log in complete] == [12] * len(complete)
                assert complete
