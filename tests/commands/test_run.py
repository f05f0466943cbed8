"""`music-evals run` and `grid` as a user runs them, with a kill on the way."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from typer.testing import CliRunner

from music_evals.commands.main import app

SMALL = ("--model", "baseline/reader", "-T", "modality=midi", "--limit", "2", "--display", "none", "--max-tasks", "1")


RUN = [sys.executable, "-c", "from music_evals.commands.main import app; app()"]


def headers(folder: Path) -> list[EvalLog]:
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


def test_a_killed_grid_is_taken_up_where_it_stopped(tmp_path: Path) -> None:
    logs, env = tmp_path / "logs", os.environ | {"COLUMNS": "150"}
    command = [*RUN, "grid", "muse_syncopation", "muse_chord_quality", *SMALL, "--log-dir", str(logs)]
    first = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    while len(list(logs.glob("*.eval"))) < 4 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    paths = [Path(log.location.removeprefix("file:")) for log in headers(logs) if log.status == "success"]
    done = {path: path.read_bytes() for path in paths}
    assert 0 < len(done) < 12, "the grid was to be killed half-way"

    second = subprocess.run(command, env=env, capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    assert all(path.read_bytes() == content for path, content in done.items())
    assert [log.status for log in headers(logs)].count("success") == 12
    # Each condition has a row, with a column for each of the two tasks.
    assert second.stdout.count("1.000") == second.stdout.count("0.34–1.00") == 12
    assert second.stdout.count("MIDI, Few-shot, CoT, data generated-seed1, not all trials") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "baseline/nobody"], "there is no model baseline/nobody"),
        (["--model", "nowhere/x"], "not recognized"),
        (["--model", "baseline/reader", "-T", "modality=ear"], "valid values are: midi, audio"),
        (["--model", "baseline/reader", "-M", "error_rate"], "name=value is needed"),
        (["--model", "baseline/reader", "-T", "dataset=nowhere"], "does not exist"),
        (["--model", "baseline/reader", "-T", "prompts=nowhere.toml"], "cannot be read as TOML"),
    ],
)
def test_bad_input_is_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["grid", "muse", "--log-dir", str(tmp_path), *arguments])
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_a_benchmark_and_a_task_run_by_name_from_any_folder(tmp_path: Path) -> None:
    asked = ["muse_chord_quality", "ziqi", "--model", "baseline/majority", "--limit", "2", "-T", "seed=3"]
    said = subprocess.run(
        [*RUN, "run", *asked, "--display", "none"], cwd=tmp_path, env=os.environ, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    logs = headers(tmp_path / "logs" / "muse_chord_quality+ziqi-baseline-majority")
    assert {log.eval.task_registry_name for log in logs} == {
        "music_evals/muse_chord_quality",
        "music_evals/ziqi_comprehension",
        "music_evals/ziqi_generation",
    }
    assert all((log.eval.metadata or {})["condition"] == {"seed": 3} for log in logs)


def test_names_that_are_none_are_told(tmp_path: Path) -> None:
    for arguments, message in (
        (["nothing"], "neither a benchmark nor a task; benchmarks: lilybench, msu, muse"),
        (["muse", "-T", "tempo=3"], "no task takes tempo"),
    ):
        result = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["run", *arguments, "--model", "baseline/chance"])
        assert result.exit_code == 2
        assert message in " ".join(result.output.split())
