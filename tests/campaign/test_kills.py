"""Commands that are killed at any moment: the same command then does its work, and nothing is half-written."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.campaign.conftest import Counting

PROGRAM = [sys.executable, "-c", "from music_evals.commands.main import app; app()"]
RUNS = {
    "run": ("run", "muse_syncopation", "--model", "baseline/reader", "-T", "modality=midi"),
    "judge": ("run", "msu_textual", "--model", "baseline/reader", "-T", "judges=baseline/chance", "-T", "cache=false"),
}


def killed(command: Sequence[str], seconds: float = math.inf, seen: Callable[[], object] = lambda: False) -> None:
    """Start a command and kill it, with all that it started, after so many seconds, or as soon as something is seen."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env=os.environ
    )
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end and not seen():
        time.sleep(0.005)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def ended(command: Sequence[str]) -> float:
    """Run a command to its end, and say how many seconds it took."""
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return time.monotonic() - begun


@pytest.mark.parametrize("name", RUNS)
def test_runs(name: str, tmp_path: Path, counting: Counting, full: bool) -> None:
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
                found = [read_eval_log(info) for info in list_eval_logs(str(logs))]
                complete = [log for log in found if log.status == "success"]
                assert [len(log.samples or []) for log in complete] == [12] * len(complete)
                assert complete


def test_reports(logs: Path, tmp_path: Path, counting: Counting, full: bool) -> None:
    command = [*PROGRAM, "report", str(logs), "--out"]
    out = tmp_path / "whole" / "report"
    killed([*command, str(out)], seen=lambda: list(out.parent.glob(".report.*")))
    left = {path.name for path in out.iterdir()} if out.exists() else None
    takes = ended([*command, str(out), "--overwrite"])
    whole, random = {path.name for path in out.iterdir()}, Random(4)
    with counting("kills of a report") as tally:
        with tally.case("while it writes"):
            assert left in (None, whole)
            assert [path.name for path in out.parent.iterdir()] == ["report"]
        for number in range(7 if full else 0):
            out = tmp_path / f"folder-{number}" / "report"
            with tally.case(number):
                killed([*command, str(out)], takes * random.uniform(0.5, 1.0))
                assert not out.exists() or {path.name for path in out.iterdir()} == whole
                ended([*command, str(out), "--overwrite"])
                assert {path.name for path in out.iterdir()} == whole
                assert [path.name for path in out.parent.iterdir()] == ["report"]
