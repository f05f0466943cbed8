"""`music-evals finetune-data` and `music-evals finetune` as a user runs them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from music_evals.commands.finetune import finetune
from music_evals.commands.finetune_data import finetune_data
from music_evals.evals.msu import textual
from music_evals.finetuning import lora
from music_evals.finetuning.data import Conversation, Message, Plan, write_plan
from tests.msu_dataset import question, score, write_rows

app = typer.Typer()
app.command("finetune-data")(finetune_data)
app.command("finetune")(finetune)


def run(*arguments: object) -> Result:
    result = CliRunner(env={"COLUMNS": "300", "TERMINAL_WIDTH": "300"}).invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def write_source(out: Path) -> Path:
    scores = {
        split: [score(f"{split}-{n}", abc=f"X:1\nK:C\n{first}{'abcd' * n}|\n") for n in (1, 500)]
        for split, first in (("train", "G"), ("validation", "F"), ("test", "E"))
    }
    questions = {split: [question(row["score_id"], 7) for row in rows] for split, rows in scores.items()}
    write_rows(out, scores, questions, source="published")
    return out


def test_data_is_written_and_counted(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = write_source(tmp_path / "source")
    result = run("finetune-data", "msu", "--dataset", source, "--out", out, "--max-characters", 1500)
    assert result.exit_code == 0, result.output
    assert "Left out of train: train-500 (too long)" in result.output
    rows = [line.split("│") for line in result.output.splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in rows[0][1:5]] == ["train", "1", "1", "1"]
    first = json.loads((out / "train.jsonl").read_text(encoding="utf-8"))
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant"]


def test_prompts_are_those_of_the_evaluation(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    assert run("finetune-data", "msu", "--dataset", source, "--out", tmp_path / "out").exit_code == 0
    lines = (tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    samples = list(textual(dataset=str(source), asking="single", split="train").dataset)
    assert len(lines) == 2
    for sample, line in zip(samples, lines, strict=True):
        assert not isinstance(sample.input, str)
        asked = [{"role": message.role, "content": message.text} for message in sample.input]
        assert json.loads(line)["messages"] == [*asked, {"role": "assistant", "content": sample.target}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["muse"], "muse has no training data; accepted: msu"),
        (["msu", "--dataset", "nowhere"], "dataset 'nowhere' does not exist"),
        (["msu", "--dataset", "source", "--max-characters", "3"], "nothing is left of 'train'"),
        (["msu", "--dataset", "source", "--max-characters", "0"], "Invalid value"),
        (["msu", "--dataset", "source", "--prompts", "nowhere.toml"], "prompts=nowhere.toml"),
        (["msu", "--dataset", "source", "--out", "source"], "is not empty"),
    ],
)
def test_bad_data_arguments_are_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_source(tmp_path / "source")
    result = run("finetune-data", "--out", "out", *arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


# --- training ---


def write_config(folder: Path, **changes: Any) -> Path:
    conversation = Conversation(id="q", messages=[Message(role=role, content="?") for role in ("user", "assistant")])
    split = {"train": [conversation], "validation": [conversation]}
    write_plan(Plan(split, {"train": {}, "validation": {}}, {}, {}, None), folder / "data")
    entries = {"model": "no/model", "data": str(folder / "data"), "out": str(folder / "out"), **changes}
    path = folder / "config.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in entries.items()), encoding="utf-8")
    return path


def test_a_bad_config_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("model = ")
    for config, message in (
        (write_config(tmp_path, leraning_rate=1e-4), "unknown key 'leraning_rate'; accepted: model, data, out"),
        (tmp_path / "nowhere.toml", "nowhere.toml cannot be read as a TOML file"),
        (tmp_path / "bad.toml", "bad.toml cannot be read as a TOML file"),
    ):
        result = run("finetune", "--config", config)
        assert result.exit_code == 1
        assert message in result.output
    assert not (tmp_path / "out").exists()


def test_missing_libraries_are_named_with_how_to_install_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None if name in lora.LIBRARIES else name)
    result = run("finetune", "--config", write_config(tmp_path))
    assert result.exit_code == 1
    assert "training needs torch, transformers, peft, trl, accelerate, not installed here" in result.output
    assert "pip install 'music-evals[finetune]'" in result.output


def test_data_and_target_are_checked_before_the_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lora, "check_libraries", lambda: None)
    config = write_config(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    result = run("finetune", "--config", config, "--overwrite")
    assert result.exit_code == 1
    assert "is not empty" in result.output
    (tmp_path / "data" / "train.jsonl").write_text("{}")
    result = run("finetune", "--config", config)
    assert "train.jsonl is not the file that finetune.json names" in result.output
