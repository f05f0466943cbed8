"""`music-evals run --config`, and the ``run.yaml`` that each run leaves."""

import errno
from pathlib import Path

import pytest
import yaml
from fsspec.implementations.local import LocalFileSystem
from inspect_ai.log import list_eval_logs, read_eval_log
from typer import BadParameter

from music_evals.commands import run_file
from tests import garbled  # noqa: F401 - registers a model
from tests.commands.cli import run


def headers(folder):
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


def written(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_a_run_is_repeated_from_its_file(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    asked = ["MUSE-chord-quality", "--model", "garbled/reader", "-T", "seed=3", "-T", "shots=few"]
    options = ["--limit", "2", "--temperature", "0.5", "--epochs", "2", "-M", "error_rate=0.5"]
    code, output = run("run", *asked, *options, "--log-dir", first, "--display", "none")
    assert code == 0, output
    values = written(first / "run.yaml")
    assert set(values.pop("versions")) == {"music-evals", "inspect-ai"}
    assert values == {
        "models": ["garbled/reader"],
        "tasks": ["muse_chord_quality"],
        "parameters": {"seed": 3, "shots": "few"},
        "generation": {"temperature": 0.5},
        "model_args": {"error_rate": 0.5},
        "options": {"epochs": 2},
        "limit": 2,
    }
    again = ["run", "--config", first / "run.yaml", "--display", "none"]
    code, output = run(*again, "--log-dir", second)
    assert code == 0, output
    assert (second / "run.yaml").read_bytes() == (first / "run.yaml").read_bytes()
    (before,), (after,) = headers(first), headers(second)
    assert (
        after.eval.task_args_passed == before.eval.task_args_passed == {"seed": 3, "shots": "few"}
    )
    assert after.eval.model_args == before.eval.model_args
    assert after.plan.config == before.plan.config
    assert after.eval.config.limit == before.eval.config.limit == 2
    assert after.eval.config.epochs == before.eval.config.epochs == 2

    # The command line wins, one parameter at a time; another run in the folder has its own file.
    more = ["-T", "seed=4", "--temperature", "0", "--log-dir-allow-dirty", "--limit", "1"]
    code, output = run(*again, *more, "--log-dir", second)
    assert code == 0, output
    changed = written(second / "run-2.yaml")
    assert changed["parameters"] == {"seed": 4, "shots": "few"}
    assert (changed["generation"], changed["limit"]) == ({"temperature": 0}, 1)


def test_no_file_has_a_key(tmp_path, monkeypatch):
    secret = "abcdefghijklmnopqrstuvwxyz"
    monkeypatch.setenv("OUR_API_KEY", secret)
    provider = {"api_key": "a", "note": secret, "nested": {"hf_token": "b", "max_tokens": 7}}
    options = {"tags": "http://me:word@host", "metadata": ["authorization: Basic x"], "epochs": 2}
    generation = {"extra_headers": {"X-Mine": "d"}, "max_tokens": 9}
    run_file.write_run_file(
        str(tmp_path), {"model_args": provider, "options": options, "generation": generation}
    )
    values = written(tmp_path / "run.yaml")
    del values["versions"]
    assert values == {
        "model_args": {"nested": {"max_tokens": 7}},
        "options": {"epochs": 2},
        "generation": {"max_tokens": 9},
    }


def test_several_models_have_a_folder_each(tmp_path):
    config, logs = tmp_path / "eval.yaml", tmp_path / "two"
    config.write_text(
        "models: [baseline/reader, baseline/majority]\ntasks: [ziqi_comprehension]\nlimit: 1\n",
        encoding="utf-8",
    )
    # The reader answers no such question; the other model is asked all the same.
    code, output = run("run", "--config", config, "--log-dir", logs, "--display", "none")
    assert code == 1, output
    assert "baseline/reader cannot answer" in output
    (log,) = headers(logs / "baseline-majority")
    assert (log.status, log.eval.model) == ("success", "baseline/majority")
    assert written(logs / "baseline-majority" / "run.yaml")["models"] == ["baseline/majority"]


def test_files_keep_to_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    example = Path(__file__).parents[2] / "examples" / "ci" / "eval.yaml"
    for values, is_valid in (
        (written(example), True),
        ({"models": ["a/b"], "tasks": ["muse"], "limit": 1, "options": {"epochs": 2}}, True),
        ({"temperature": 0}, False),
        ({"generation": {"temperature": "hot"}}, False),
    ):
        validator = jsonschema.Draft202012Validator(run_file.RunFile.model_json_schema())
        assert validator.is_valid(values) is is_valid


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "temperature: 0",
            "temperature: Extra inputs are not permitted; the keys are models, tasks",
        ),
        ("generation: {temprature: 0}", "Unknown GenerateConfig field(s): temprature"),
        (
            "generation: {temperature: hot}",
            "generation.temperature: Input should be a valid number",
        ),
        ("generation: {temperature: -1}", "temperature: -1.0 is not valid"),
        ("tasks: muse", "tasks: Input should be a valid list"),
        ("options: {max_conections: 1}", "eval_set has no argument max_conections"),
        ("limit: 0", "limit: Input should be greater than or equal to 1"),
        ("limit: 3\nlimit: 4", "a key is given twice"),
        ("- muse", "Input should be a valid dictionary"),
        ("a: [", "while parsing"),
    ],
)
def test_a_mistake_in_a_file_is_named_in_a_line(text, message, tmp_path):
    config = tmp_path / "eval.yaml"
    config.write_text(text, encoding="utf-8")
    code, output = run(
        "run", "muse", "--model", "baseline/chance", "--config", config, "--dry-run", columns=500
    )
    assert code == 2
    assert message in " ".join(output.split())
    assert "-1" in text or "eval.yaml: " in output


def test_a_small_file_cannot_take_much_memory_or_depth(tmp_path):
    config = tmp_path / "eval.yaml"
    lines = ["  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    texts = {
        "needs more than 256 MiB of memory": "\n".join(["metadata:", *lines]),
        "it is nested too deep": "metadata: " + "[" * 50_000,
    }
    for message, text in texts.items():
        config.write_text(text, encoding="utf-8")
        with pytest.raises(BadParameter, match=message):
            run_file.read_run_file(config)


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    def write_a_part(files, path, data):
        Path(path).write_bytes(data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(LocalFileSystem, "pipe_file", write_a_part)
        with pytest.raises(OSError, match=r"No space left on device: '.*/run.yaml'"):
            run_file.write_run_file(str(tmp_path), {"models": ["baseline/chance"]})
    assert not list(tmp_path.iterdir())
    run_file.write_run_file(str(tmp_path), {"models": ["baseline/chance"]})
    assert written(tmp_path / "run.yaml")["models"] == ["baseline/chance"]


def test_a_full_disk_is_named_with_its_folder(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("inspect_ai.eval_set", fail)
    words = ["muse_chord_quality", "--model", "baseline/chance", "--limit", "1"]
    code, output = run("run", *words, "--log-dir", tmp_path / "logs", columns=500)
    assert (code, f"the disk is full ({tmp_path / 'logs'}); free" in output) == (1, True), output
