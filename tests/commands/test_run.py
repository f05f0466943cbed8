"""`music-evals run` as a user runs them, with a kill on the way."""

import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch
from zipfile import ZipFile

import inspect_ai._util.zipfile  # noqa: F401 - teaches zipfile how logs are packed
import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from music_evals.commands.run import _places, show_scores
from music_evals.evals import muse
from music_evals.solvers.abilities import provider_problem
from tests.commands.cli import run
from tests.reports.logs import write_log

# As in tests/conftest.py: Inspect would list all installed packages for every task.
RUN = """
import importlib.metadata
from functools import cache
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)
from music_evals.commands.main import app
app()
"""


def headers(folder):
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


def test_a_killed_grid_is_taken_up_where_it_stopped(tmp_path):
    muse.syncopation()  # makes the default data
    logs = tmp_path / "logs"
    asked = ("--model", "baseline/reader", "-T", "modality=midi", "-T", "shots=few", "--limit", "2")
    command = [
        "run",
        "--grid",
        "muse_syncopation",
        "muse_chord_quality",
        *asked,
        "--log-dir",
        str(logs),
    ]
    command += ["--display", "none", "--max-tasks", "1"]
    first = subprocess.Popen([sys.executable, "-c", RUN, *command], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    while (
        len(list(logs.glob("*.eval"))) < 2 and first.poll() is None and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    paths = [
        Path(log.location.removeprefix("file:")) for log in headers(logs) if log.status == "success"
    ]
    done = {path: path.read_bytes() for path in paths}
    assert 0 < len(done) < 6, "the grid was to be killed half-way"

    code, output = run(*command, columns=150)
    assert code == 0, output
    assert all(path.read_bytes() == content for path, content in done.items())
    assert [log.status for log in headers(logs)] == ["success"] * 6, "nothing of the killed run"
    # Under each condition there is a row for each of the two tasks.
    assert output.count("(34–100)") == 6
    assert output.count("--limit 2") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "--grid", "muse", "--model", "baseline/nobody"],
            "there is no model baseline/nobody",
        ),
        (["run", "--grid", "muse", "--model", "nowhere/x"], "not recognized"),
        (
            ["run", "--grid", "muse", "--model", "baseline/reader", "-T", "modality=ear"],
            "valid values are: midi, audio",
        ),
        (
            ["run", "--grid", "muse", "--model", "baseline/reader", "-M", "folder"],
            "name=value is needed",
        ),
        (
            ["run", "--grid", "muse", "--model", "baseline/reader", "-T", "dataset=nowhere"],
            "does not exist",
        ),
        (
            ["run", "--grid", "muse", "--model", "baseline/reader", "-T", "prompts=nowhere.toml"],
            "cannot be read as a TOML file",
        ),
        (
            ["run", "nothing", "--model", "baseline/chance"],
            "nor a task; benchmarks: abc_eval, air_bench, ballroom",
        ),
        (
            ["run", "muse_syncopaton", "--model", "baseline/chance"],
            "(did you mean muse_syncopation?)",
        ),
        (
            ["run", "muse", "-T", "tempo=3", "--model", "baseline/chance"],
            "none of the tasks takes tempo",
        ),
        (["run", "muse", "--model", "none/none"], "no model is named"),
        (
            ["run", "muse", "--model", "vllm/m"],
            "models of vllm/ need vllm: pip install -e '.[vllm]'",
        ),
        (
            ["run", "muse", "--model", "baseline/chance", "--temprature", "0"],
            "No such option '--temprature'. (Did you",
        ),
        (
            ["run", "muse", "--model", "baseline/chance", "--epochs", "few"],
            "'few' is not a valid integer",
        ),
        (["run", "muse", "--model", "x/y", "--dry-run", "--price", "1"], "0.15/0.60 would be"),
        (["run", "muse", "--model", "x/y", "--dry-run", "--price=-1/2"], "0.15/0.60 would be"),
        (["run", "muse", "--model", "x/y", "--price", "1/2"], "a price is for --dry-run"),
        (
            ["run", "muse", "--model", "x/y", "--sample-id", "3", "--shards", "2"],
            "valid without it",
        ),
        (["run", "muse", "--model", "/no/such/folder"], "is no folder with a config.json"),
        (["run", "muse", "--model", "x/y", "--model", "x/y"], "x/y is given twice"),
        (["run", "muse", "--model", "x/y", "-T", "seed=1", "-T", "seed=2"], "seed is given twice"),
        (["run", "muse", "--model", "x/y", "--arms", "none,none"], "none is given twice"),
        (["run", "muse", "--model", "x/y", "--epochs", "0"], "--epochs 0 is not valid"),
        (["run", "muse", "--model", "x/y", "--model-role", "reader"], "reader is not valid"),
        (["run", "muse", "--model", "x/y", "--temperature", "nan"], "temperature: nan is not"),
        (["run", "muse", "--model", "x/y", "--model-role", "raeder=a/b"], "takes the role raeder"),
        (
            ["run", "muse", "--model", "x/y", "--published", "-T", "dataset=generated"],
            "leave one out",
        ),
        (["run", "ziqi-eval", "--model", "x/y"], "(did you mean ziqi?)"),
        (["run", "muse", "modality=midi", "--model", "x/y"], "a parameter needs -T before it"),
        (["run", "--model", "x/y"], "benchmarks or tasks are needed"),
        (["run", "muse"], "a model is needed"),
        (
            ["run", "musictheorybench", "--model", "baseline/chance", "-T", "dataset=a/b"],
            "write hf://datasets/a/b",
        ),
        (["compare", "a/b", "a/b", "."], "a/b is named twice"),
        (["power", "muse", "."], "could be used"),
        (["view", "/no/such/folder"], "is no folder with logs"),
        (["build", "muse", "--out", "/proc/music-evals"], "cannot be written to"),
    ],
)
def test_bad_input_is_named(arguments, message, tmp_path, monkeypatch):
    if arguments[0] == "run":
        arguments = [*arguments, "--log-dir", str(tmp_path)]
    monkeypatch.chdir(tmp_path)
    code, output = run(*arguments, columns=400)
    assert code in (1, 2)
    assert message in " ".join(output.split())


def test_a_checkpoint_is_a_model_of_hf(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "checkpoints" / "step-1"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    for name in ("./checkpoints/step-1", "checkpoints/step-1", str(folder)):
        ((model, logs),) = _places([name], ["muse"], None)
        assert model == f"hf/{folder}"
        assert logs.startswith("logs/muse-hf-")
    # A provider's name stays one.
    assert [*_places(["hf/a/b", "x/y"], ["muse"], "logs")] == [
        ("hf/a/b", "logs/hf-a-b"),
        ("x/y", "logs/x-y"),
    ]


@pytest.mark.parametrize("name", ["HF_TOKEN", "OPENAI_API_KEY", "OURS_API_KEY"])
def test_a_key_with_a_letter_that_no_key_has_is_named(name, monkeypatch):
    monkeypatch.setenv(name, "hf_é")
    models = {"HF_TOKEN": "hf/a/b", "OPENAI_API_KEY": "openai/x"}
    problem = provider_problem(models.get(name, "openai-api/ours/m"))
    assert problem.startswith(name)
    assert "é" not in problem


def test_the_size_of_caches_is_checked_before_any_work(monkeypatch):
    monkeypatch.setenv("MUSIC_EVALS_CACHE_GB", "lots")
    code, output = run("list")
    assert code == 1
    assert "MUSIC_EVALS_CACHE_GB='lots' is no number of gigabytes" in output


def test_a_benchmark_and_a_task_run_by_name_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [
        "muse_chord_quality",
        "ziqi",
        "--model",
        "baseline/majority",
        "--limit",
        "2",
        "-T",
        "seed=3",
    ]
    code, output = run("run", *asked, "--max-tokens", "99", "--display", "none", columns=80)
    assert code == 0, output
    rows = [line for line in output.splitlines() if line[:1] in "┏┃┡│└"]
    assert max(map(len, rows)) <= 80, output
    logs = headers(tmp_path / "logs" / "muse_chord_quality+ziqi-baseline-majority")
    # Inspect names the package only where it finds it installed, which an `egg-info` in the
    # checkout may hide.
    names = {(log.eval.task_registry_name or "").removeprefix("music_evals/") for log in logs}
    assert names == {"muse_chord_quality", "ziqi_comprehension", "ziqi_generation"}
    assert all((log.eval.metadata or {})["condition"] == {"seed": 3} for log in logs)
    assert {log.plan.config.max_tokens for log in logs} == {99}


def test_the_share_of_unread_replies_and_the_score_by_rules_are_shown(tmp_path):
    readings = [{"reading": "answered"}] * 9 + [{"reading": "unreadable"}]
    write_log(tmp_path / "text", "C" * 9 + "N", scores=readings)
    write_log(tmp_path / "form", "C" * 9 + "N", scores=readings, params={"answer": "likelihood"})
    write_log(tmp_path / "good", "CCCC")
    shown = {}
    for name in ("text", "form", "good"):
        with redirect_stdout(StringIO()) as out:
            show_scores(str(tmp_path / name), None)
        shown[name] = out.getvalue()
    assert "10% unread" in shown["text"]
    assert "--max-tokens" in shown["text"]
    assert "shots" in shown["form"]
    assert "--max-tokens" not in shown["form"]
    assert "0% unread" in shown["good"]
    assert "In some runs" not in shown["good"]


def test_a_log_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "2026-01-01_cut.eval").write_bytes(b"PK")
    asked = [
        "muse_chord_quality",
        "--model",
        "baseline/majority",
        "--limit",
        "1",
        "--display",
        "none",
    ]
    code, output = run("run", *asked, "--log-dir", tmp_path)
    assert (
        code,
        "cut.eval: it cannot be used: File is not a zip file" in " ".join(output.split()),
    ) == (1, True), output


def test_commands_start_without_what_takes_seconds_to_load():
    asked = (
        "import sys, music_evals.commands.main; print({'inspect_ai', 'pandas', 'numpy', 'music21'} "
        "& {*sys.modules})"
    )
    assert subprocess.check_output([sys.executable, "-c", asked], text=True) == "set()\n"


def test_a_run_under_several_conditions_shows_each_also_in_a_narrow_terminal(
    tmp_path,
):
    for stimulus, values in {"given": "CC", "none": "CI"}.items():
        write_log(tmp_path, values, params={"stimulus": stimulus})
    with redirect_stdout(StringIO()) as out, patch.dict("os.environ", COLUMNS="50"):
        show_scores(str(tmp_path), None)
    _, heading, *rows = out.getvalue().splitlines()
    assert heading.split()[:3] == ["Task", "Condition", "Score"]
    assert max(map(len, [heading, *rows[:2]])) <= 50
    assert "stimulus" in out.getvalue()


@pytest.mark.parametrize("name", ["run#2", "run%20b", "[/red]x", "new\nline", "inv\udcff"])
def test_folders_that_inspect_misreads_are_refused(name, tmp_path):
    code, output = run("run", "muse", "--model", "baseline/chance", "--log-dir", tmp_path / name)
    assert code == 2
    assert "--log-dir" in output
    assert "reads as something else" in output
    assert not list(tmp_path.iterdir())


def test_secrets_in_options_are_in_no_file(tmp_path):
    body = '{"token": "a-secret-of-mine"}'
    code, output = run(
        *("run", "muse_chord_quality", "--model", "baseline/chance", "--limit", 1),
        *("--extra-body", body, "--log-dir", tmp_path / "logs"),
    )
    assert code == 0, output
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    contents = [path.read_bytes() for path in files]
    for path in tmp_path.rglob("*.eval"):
        with ZipFile(path) as archive:
            contents += map(archive.read, archive.namelist())
    assert len(contents) > len(files)
    assert not any(b"a-secret-of-mine" in content for content in contents)
