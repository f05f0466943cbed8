"""`music-evals run --config`, and the ``run.yaml`` that each run leaves."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from music_evals.commands import run_file
from tests.commands.cli import run


def headers(folder: Path) -> list[EvalLog]:
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


def written(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return values


def test_a_run_is_repeated_from_its_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    asked = ["MUSE-chord-quality", "--model", "baseline/reader", "-T", "seed=3", "-T", "shots=few"]
    options = ["--limit", "2-4", "--temperature", "0.5", "--epochs", "2", "-M", "error_rate=0.5"]
    code, output = run("run", *asked, *options, "--log-dir", first, "--display", "none")
    assert code == 0, output
    assert (
        written(first / "run.yaml").items()
        >= {
            "models": ["baseline/reader"],
            "tasks": ["muse_chord_quality"],
            "parameters": {"seed": 3, "shots": "few"},
            "generation": {"temperature": 0.5},
            "model_args": {"error_rate": 0.5},
            "options": {"epochs": 2},
            "limit": "2-4",
        }.items()
    )
    again = ["run", "--config", first / "run.yaml", "--display", "none"]
    code, output = run(*again, "--log-dir", second)
    assert code == 0, output
    assert written(second / "run.yaml") == written(first / "run.yaml")
    (before,), (after,) = headers(first), headers(second)
    assert (
        after.eval.task_args_passed == before.eval.task_args_passed == {"seed": 3, "shots": "few"}
    )
    assert after.eval.model_args == before.eval.model_args
    assert after.plan.config == before.plan.config
    assert after.eval.config.limit == before.eval.config.limit == (1, 4)
    assert after.eval.config.epochs == 2

    # The command line wins, one parameter at a time; another run in the folder has its own file.
    more = ["-T", "seed=4", "--temperature", "0", "--log-dir-allow-dirty", "--limit", "1"]
    code, output = run(*again, *more, "--log-dir", second)
    assert code == 0, output
    changed = written(second / "run-2.yaml")
    assert changed["parameters"] == {"seed": 4, "shots": "few"}
    assert (changed["generation"], changed["limit"]) == ({"temperature": 0}, 1)


def test_several_models_have_a_folder_each_and_no_file_has_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "abcdefghijklmnopqrstuvwxyz"
    monkeypatch.setenv("OUR_API_KEY", secret)
    config = tmp_path / "eval.yaml"
    config.write_text(
        "models: [baseline/chance, baseline/majority]\ntasks: [muse_chord_quality]\nlimit: 1\n"
        f"model_args: {{api_key: a, note: {secret}}}\n"
        "options: {tags: 'http://me:word@host', metadata: ['authorization: Basic x']}\n",
        encoding="utf-8",
    )
    values = run_file.read_run_file(config)
    with run_file.noted(str(tmp_path / "logs"), values):
        pass
    text = (tmp_path / "logs" / "run.yaml").read_text(encoding="utf-8")
    assert secret not in text
    assert "Basic" not in text
    assert "me:word" not in text
    left_out = "model_args.api_key, model_args.note, options.metadata"
    assert f"# Left out, as they may be secret: {left_out}\n" in text
    assert "tags: http://host" in text

    config.write_text(
        "models: [baseline/chance, baseline/majority]\ntasks: [muse_chord_quality]\nlimit: 1\n",
        encoding="utf-8",
    )
    logs = tmp_path / "two"
    code, output = run("run", "--config", config, "--log-dir", logs, "--display", "none")
    assert code == 0, output
    for model in ("chance", "majority"):
        (log,) = headers(logs / f"baseline-{model}")
        assert log.eval.model == f"baseline/{model}"
        assert written(logs / f"baseline-{model}" / "run.yaml")["models"] == [f"baseline/{model}"]


def test_the_schema_in_the_package_is_that_of_the_file() -> None:
    path = Path(run_file.__file__).with_name(run_file.SCHEMA)
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema == run_file.schema(), "write run_file.schema() to commands/run.schema.json"


def test_files_keep_to_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    example = Path(__file__).parents[2] / "examples" / "ci" / "eval.yaml"
    for values, is_valid in (
        (written(example), True),
        ({"models": ["a/b"], "tasks": ["muse"], "limit": "1-2", "options": {"epochs": 2}}, True),
        ({"temperature": 0}, False),
        ({"generation": {"temperature": "hot"}}, False),
    ):
        validator = jsonschema.Draft202012Validator(run_file.schema())
        assert validator.is_valid(values) is is_valid


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temprature: 0", "temprature: there is no such key"),
        ("temperature: 0", "belongs into generation"),
        (
            "generation: {temprature: 0}",
            "generation.temprature: there is no such key (did you mean",
        ),
        (
            "generation: {temperature: hot}",
            "generation.temperature: Input should be a valid number",
        ),
        ("tasks: muse", "tasks: Input should be a valid list, not 'muse'"),
        ("options: {max_conections: 1}", "options.max_conections: `inspect eval-set` has no such"),
        ("options: {max_connections: many}", "'many' is not a valid integer"),
        ("limit: 3\nlimit: 4", "limit is given twice"),
        ("1: 2", "1: "),
        ("- muse", "holds no keys; accepted are models, tasks"),
        ("a: [", "cannot be read as YAML"),
        ("limit: 5-2", "'5-2' is not valid; 100 would be, or 101-200"),
    ],
)
def test_a_mistake_in_a_file_is_named_in_a_line(text: str, message: str, tmp_path: Path) -> None:
    config = tmp_path / "eval.yaml"
    config.write_text(text, encoding="utf-8")
    code, output = run(
        "run", "muse", "--model", "baseline/chance", "--config", config, "--dry-run", columns=500
    )
    assert code == 2
    assert message in " ".join(output.split())
    assert "limit: 5-2" in text or "eval.yaml" in output
