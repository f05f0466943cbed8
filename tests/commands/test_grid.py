"""`music-evals grid muse` as a user runs it, with a kill on the way."""

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
from music_evals.reports.muse import CELLS, Cell, Result, read_results, table1

SMALL = ("--model", "baseline/reader", "--modality", "midi", "--limit", "2", "--display", "none", "--max-tasks", "1")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from music_evals.commands.main import app; app()", "grid", "muse", *arguments]


def headers(folder: Path) -> list[EvalLog]:
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return os.environ | {"MUSIC_EVALS_CACHE": str(tmp_path_factory.getbasetemp() / "cache"), "COLUMNS": "100"}


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
    results = read_results(headers(logs))
    assert set(results) == {cell for cell in CELLS if cell.modality == "midi"}
    assert {result.accuracy for result in results.values()} == {1.0}
    assert second.stdout.count("100.00 34–100") == 18


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "baseline/nobody"], "there is no model baseline/nobody"),
        (["--model", "nowhere/x"], "not recognized"),
        (["--model", "baseline/reader", "--modality", "ear"], "valid values are: audio, midi"),
        (["--model", "baseline/reader", "-M", "error_rate"], "name=value is needed"),
        (["--model", "baseline/reader", "--structured-output"], "the model's provider is 'baseline'"),
        (["--model", "baseline/reader", "--dataset", "nowhere"], "does not exist"),
        (["--model", "baseline/reader", "--prompts", "nowhere.toml"], "cannot be read as TOML"),
    ],
)
def test_bad_input_is_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["grid", "muse", "--log-dir", str(tmp_path), *arguments])
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_the_table_has_the_shape_of_the_papers() -> None:
    result = Result(accuracy=0.65, low=0.43, high=0.82, answered=0.9, samples=20, data="recordings")
    table = table1({Cell("syncopation", "audio", "few", "cot"): result}, "some/model")
    assert [column.header for column in table.columns] == [
        "Mod.", "Shot", "Cond.", "Syncopation", "Transposition", "Chord quality",
    ]  # fmt: skip
    assert table.row_count == 13
    cells = list(table.columns[3].cells)
    assert cells[4] == "65.00* 43–82"
    assert cells[-1] == "20.00"
    assert [list(column.cells)[-1] for column in table.columns[4:]] == ["50.00", "25.00"]
