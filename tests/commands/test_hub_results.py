"""Results for the Hub: from logs to the files of models' repositories."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
import yaml
from inspect_ai import eval as inspect_eval
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
from jsonschema import Draft202012Validator

from music_evals.evals import muse
from music_evals.reports.hub_results import repository_of
from tests.commands.cli import run
from tests.fake_hub import FakeHub

SPECIFICATION: Final = json.loads((Path(__file__).parents[1] / "evals" / "data" / "hub_specification.json").read_text())
MODEL: Final = "ORG/tiny"
FILE: Final = ".eval_results/ORG_muse.yaml"


@pytest.fixture
def logs(hub: FakeHub, built_datasets: Callable[[str], Path], tmp_path: Path) -> Path:
    """Logs of a model on a published dataset, some of which are no results; a baseline stands in for the model."""
    hub.publish(built_datasets("muse"), "--yes")
    commit = hub.branches["ORG/muse"]["main"]
    data = f"hf://datasets/ORG/muse@{commit}"
    options: dict[str, Any] = {"model": "baseline/chance", "log_dir": str(tmp_path / "logs"), "display": "none"}
    options["log_realtime"] = False
    inspect_eval([f"hf/ORG/muse@{commit}", "hf/ORG/muse/syncopation"], **options)  # the second of no commit
    own = [muse.syncopation(dataset=data, modality="audio"), muse.syncopation(dataset=data, strategy="cot")]
    inspect_eval(own, **options)
    inspect_eval(muse.chord_quality(dataset=data), limit=1, **options)
    for info in list_eval_logs(str(tmp_path / "logs")):
        log = read_eval_log(info)
        log.eval.model = f"vllm/{MODEL}"
        write_eval_log(log, info.name)
    return tmp_path / "logs"


def test_from_logs_to_files(hub: FakeHub, logs: Path, tmp_path: Path) -> None:
    out, commit = tmp_path / "results", hub.branches["ORG/muse"]["main"]
    code, output = run("report", logs, "--eval-results", out, "--source", "https://huggingface.co/spaces/ORG/logs/")
    assert code == 0, output
    for message in (
        "No results for the Hub, 4 of 7 runs:",
        "it names no commit of its data; run hf/ORG/NAME@COMMIT",
        "is that of no leaderboard",
        "it did not ask all questions",
    ):
        assert message in output
    files = {path.relative_to(out).as_posix(): yaml.safe_load(path.read_text()) for path in out.rglob("*.yaml")}
    assert set(files) == {f"{MODEL}/{FILE}"}
    for entries in files.values():
        Draft202012Validator(SPECIFICATION["eval_results"]).validate(entries)
    headers = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(logs))]
    by_task = {log.eval.task.rpartition("/")[2]: log for log in headers if commit in log.eval.task}
    for entry in files[f"{MODEL}/{FILE}"]:
        log = by_task.pop(entry["dataset"]["task_id"])
        assert log.results is not None
        assert entry["dataset"] == {"id": "ORG/muse", "task_id": entry["dataset"]["task_id"], "revision": commit}
        assert entry["value"] == pytest.approx(log.results.scores[0].metrics["accuracy"].value, abs=5e-5)
        assert entry["date"].startswith(log.eval.created[:10])
        assert entry["source"]["url"] == f"https://huggingface.co/spaces/ORG/logs/{quote(Path(log.location).name)}"
        for note in ("accuracy, from 0 to 1", "95% interval ", "best floor 0.", "asked and scored by Inspect alone"):
            assert note in entry["notes"]
    assert not by_task


def test_bad_input_is_named(tmp_path: Path) -> None:
    code, output = run("report", tmp_path, "--eval-results", tmp_path / "new", "--source", "logs")
    assert (code, "--source logs is no address" in output) == (1, True)


@pytest.mark.parametrize(
    ("model", "repository"),
    [("hf/ORG/m", "ORG/m"), ("vllm/../m", None), ("vllm/ORG/m/n", None), ("ollama/llama3", None), ("openai/a/b", None)],
)
def test_only_names_of_repositories_are_taken(model: str, repository: str | None) -> None:
    assert repository_of(model) == repository
