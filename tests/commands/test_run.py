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


RUN = [sys.executable, "-c", "from music_evals.commands.main import app; app()", "run"]


def command(*arguments: str) -> list[str]:
    return [*RUN, "muse", "--grid", *arguments]


def headers(folder: Path) -> list[EvalLog]:
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


@pytest.fixture
def cache() -> dict[str, str]:
    return os.environ | {"COLUMNS": "100"}


def test_a_killed_grid_is_taken_up_where_it_stopped(tmp_path: Path, cache: dict[str, str]) -> None:
    logs = tmp_path / "logs"
    first = subprocess.Popen(command(*SMALL, "--log-dir", str(logs)), env=cache, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(logs.glob("*.eval"))) < 6 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    paths = [Path(log.location.removeprefix("file:")) for log in headers(logs) if log.status == "success"]
    done = {path: path.read_bytes() for path in paths}
    assert 4 <= len(done) < 18, "the grid was to be killed half-way"

    second = subprocess.run(command(*SMALL, "--log-dir", str(logs)), env=cache, capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    assert all(path.read_bytes() == content for path, content in done.items())
    assert [log.status for log in headers(logs)].count("success") == 18
    accuracies = [
        score.metrics["accuracy"].value
        for log in headers(logs)
        for score in (log.results.scores if log.results else [])
        if score.name == (log.eval.metadata or {})["main_metric"].partition("/")[0]
    ]
    assert accuracies == [1.0] * 18
    assert second.stdout.count("1.000 [0.34, 1.00]") == 18


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


def test_a_benchmark_and_a_task_run_by_name_from_any_folder(tmp_path: Path, cache: dict[str, str]) -> None:
    said = subprocess.run(
        [
            *RUN,
            "muse_chord_quality",
            "ziqi",
            "--model",
            "baseline/majority",
            "--limit",
            "2",
            "--display",
            "none",
            "-T",
            "seed=3",
        ],
        env=cache,
        cwd=tmp_path,
        capture_output=True,
        text=True,
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
