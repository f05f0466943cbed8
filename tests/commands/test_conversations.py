"""`music-evals build train --as conversations` as a user runs it."""

import json

import pytest
from inspect_ai.model import ContentText

from music_evals.evals.msu import textual, visual
from tests.commands.cli import run
from tests.msu_dataset import png, question, score, write_rows

COMMAND = ("build", "train", "--as", "conversations")


def write_source(out, **changes):
    scores = {
        split: [
            score(f"{split}-{n}", abc=f"X:1\nK:C\n{first}{'abcd' * n}|\n", **changes)
            for n in (1, 500)
        ]
        for split, first in (("train", "G"), ("validation", "F"), ("test", "E"))
    }
    questions = {
        split: [question(row["score_id"], 7) for row in rows] for split, rows in scores.items()
    }
    write_rows(out, scores, questions, source="published")
    return out


def test_data_are_counted_and_the_prompts_are_those_of_the_evaluation(tmp_path):
    source = write_source(tmp_path / "source")
    command = (*COMMAND, "msu", "--dataset", source, "--out", tmp_path / "out")
    code, output = run(*command, "--max-characters", 1500)
    assert code == 0, output
    assert "Left out of train: train-500 (too long)" in output
    assert "train: 1 conversations; 1 questions left out" in output

    assert run(*command, "--overwrite")[0] == 0
    lines = (tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    samples = list(textual(dataset=str(source), asking="single", split="train").dataset)
    assert len(lines) == 2
    for sample, line in zip(samples, lines, strict=True):
        assert not isinstance(sample.input, str)
        prompt = [{"role": message.role, "content": message.text} for message in sample.input]
        assert [message["role"] for message in prompt] == ["system", "user"]
        assert json.loads(line)["messages"] == [
            *prompt,
            {"role": "assistant", "content": sample.target},
        ]


@pytest.mark.parametrize("modality", ["pages", "both"])
def test_pages_are_files_that_llama_factory_finds(modality, tmp_path):
    """Its rule: as many "<image>" in the texts of a conversation as it has paths, which are
    relative to the folder.
    """
    source = write_source(
        tmp_path / "source", images=[{"bytes": png(shade), "path": None} for shade in (1, 2, 1)]
    )
    out = tmp_path / "out"
    code, output = run(*COMMAND, "msu", "--dataset", source, "--out", out, "--modality", modality)
    assert code == 0, output
    info = json.loads((out / "dataset_info.json").read_text(encoding="utf-8"))
    assert info["msu_train"]["columns"] == {"messages": "messages", "images": "images"}
    lines = (out / "train.jsonl").read_text(encoding="utf-8").splitlines()
    samples = list(
        visual(dataset=str(source), abc=modality == "both", asking="single", split="train").dataset
    )
    for sample, line in zip(samples, lines, strict=True):
        row = json.loads(line)
        _, user, answer = row["messages"]
        assert [(out / path).read_bytes() for path in row["images"]] == [png(1), png(2), png(1)]
        # A chat template joins the parts of the evaluation's prompt so.
        parts = sample.input[-1].content  # type: ignore[union-attr]
        assert user["content"] == "".join(
            part.text if isinstance(part, ContentText) else "<image>" for part in parts
        )
        assert user["content"].count("<image>") == 3
        assert ("K:C" in user["content"]) == (modality == "both")
        assert answer["content"] == sample.target
    assert len(list((out / "images").iterdir())) == 2


def test_scores_without_pages_are_left_out(tmp_path):
    command = (
        *COMMAND,
        "msu",
        "--dataset",
        write_source(tmp_path / "source"),
        "--out",
        tmp_path / "out",
    )
    code, output = run(*command, "--modality", "pages")
    assert code == 1
    assert "2 scores left out, no images" in " ".join(output.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["msu", "--modality", "midi"], "Invalid value"),
        (["muse"], "muse has no conversations; accepted: msu"),
        (["msu", "--as", "rows"], "how many rows are needed"),
        (["msu", "--as", "rows", "--modality", "both"], "it is for --as conversations"),
        (["msu", "--dataset", "nowhere"], "dataset 'nowhere' does not exist"),
        (["msu", "--dataset", "source", "--max-characters", "3"], "nothing is left of 'train'"),
        (["msu", "--dataset", "source", "--max-characters", "0"], "Invalid value"),
        (["msu", "--audio"], "it is for --as rows"),
        (["msu", "--dataset", "source", "--out", "source"], "is not empty"),
    ],
)
def test_bad_data_arguments_are_named(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_source(tmp_path / "source")
    code, output = run(*COMMAND, "--out", "out", *arguments)
    assert code != 0
    assert message in " ".join(output.split())
    assert not (tmp_path / "out").exists()
