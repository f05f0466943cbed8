"""Training conversations: what is written, and that nothing of the test split ever is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from datasets import load_dataset

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.msu.dataset import BENCHMARK, QuestionRow, ScoreRow
from music_evals.datasets_builders.msu.same_work import music_of, name_of
from music_evals.finetuning.data import TRAINING_DATA, Message, Plan, read_conversations, read_plan, write_plan
from tests.msu_dataset import question, score, write_rows

TUNES = {"train": "GABc|d2e2|", "validation": "CDEF|G2A2|", "test": "fedc|B2A2|"}


def tune(split: str, number: int, **changes: Any) -> ScoreRow:
    title = f"Piece {split} {number}"
    abc = f"X:1\nT:{title}\nM:4/4\nK:C\n[V:1] {TUNES[split]}{'z' * (number + 1)}4|] %3\n"
    return score(f"{split}-{number}", **{"title": title, "composer": "N. N.", "abc": abc, **changes})


def asked(score_id: str, number: int) -> QuestionRow:
    return question(score_id, number, id=f"{score_id}/{number}", question="Schlüssel, 调?", answer="C major")


def write_source(out: Path, **extra: list[Any]) -> str:
    """Write a dataset of two scores a split, each with two questions; extra scores by split."""
    scores = {split: [tune(split, 0), tune(split, 1), *extra.get(split, [])] for split in TUNES}
    questions = {split: [asked(row["score_id"], n) for row in rows for n in range(2)] for split, rows in scores.items()}
    questions["train"] += extra.get("questions", [])
    return write_rows(out, scores, questions, seed=1)


def prompt(score: Mapping[str, Any], question: Mapping[str, Any]) -> list[Message]:
    return [
        Message(role="system", content="Read the score."),
        Message(role="user", content=f"{score['abc']}\n{question['question']}"),
    ]


def plan_of(dataset: str, **options: Any) -> Plan:
    return read_plan(dataset, benchmark=BENCHMARK, **{"make_prompt": prompt, **options})


def test_one_conversation_a_question_in_both_formats(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    write_plan(plan_of(write_source(tmp_path / "source")), out)
    assert list(out.parent.iterdir()) == [out], "nothing is left beside"
    for split in ("train", "validation"):
        lines = (out / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 4
        first = json.loads(lines[0])
        assert first["id"] == f"{split}-0/0"
        assert "Schlüssel, 调" in lines[0]
        asked, answer = Message(role="user", content=ANY), Message(role="assistant", content="C major")
        assert first["messages"] == [Message(role="system", content="Read the score."), asked, answer]
        assert first["messages"][1]["content"].startswith(f"X:1\nT:Piece {split} 0")
        # TRL goes by the name and the layout of this column, as `datasets` reads it.
        rows = load_dataset("json", data_files=str(out / f"{split}.jsonl"), split="train", cache_dir=tmp_path / "cache")
        assert rows[0]["messages"] == first["messages"]
    assert not (out / "test.jsonl").exists()
    assert "test-" not in "".join(path.read_text(encoding="utf-8") for path in out.glob("*.jsonl"))
    # As https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md has it, under "OpenAI Format".
    info = json.loads((out / "dataset_info.json").read_text(encoding="utf-8"))
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    layout = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": {**tags, "system_tag": "system"}}
    assert info == {f"msu_{split}": {"file_name": f"{split}.jsonl", **layout} for split in ("train", "validation")}

    record = json.loads((out / TRAINING_DATA.marker).read_text(encoding="utf-8"))
    assert record["conversations"] == {"train": 4, "validation": 4}
    assert record["source"]["dataset_label"] == "generated-seed1"


def test_what_is_written_is_read_back_and_changes_are_noticed(tmp_path: Path) -> None:
    plan = plan_of(write_source(tmp_path / "source"))
    write_plan(plan, tmp_path / "out")
    assert read_conversations(tmp_path / "out") == plan.conversations
    with (tmp_path / "out" / "train.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"messages": []}\n')
    with pytest.raises(DatasetError, match="is not the file that"):
        read_conversations(tmp_path / "out")
    with pytest.raises(DatasetError, match="no training data of ours"):
        read_conversations(tmp_path / "source")


# --- leaks ---


@pytest.mark.parametrize("split", ["train", "validation"])
@pytest.mark.parametrize(
    ("leak", "message"),
    [
        ({"score_id": "test-1"}, "by their ids: test-1 (test-1 in test)"),
        ({"title": " PIÈCE test: 1!", "composer": "n.n"}, "by their titles and composers: copy (test-1 in test)"),
        (
            {"abc": "X:7\nT:Other\nC:Other\nM:C\nK:C\n%%score 1\nV:1\nfedc |\\\nB2A2 | % 2\nzz4 |]\nw: la\n"},
            "by their music: copy (test-1 in test)",
        ),
    ],
    ids=["id", "title and composer", "music"],
)
def test_a_planted_leak_is_refused(split: str, leak: dict[str, Any], message: str, tmp_path: Path) -> None:
    other = {"score_id": "copy", "title": "Another piece", "abc": "X:1\nK:C\nGGGG|\n"}
    dataset = write_source(tmp_path / "source", **{split: [tune(split, 2, **{**other, **leak})]})
    with pytest.raises(DatasetError) as caught:
        plan_of(dataset)
    assert f"'{split}' of {dataset} has scores of the test split, {message}" in str(caught.value)


def test_scores_without_title_or_music_are_no_leak(tmp_path: Path) -> None:
    nameless: dict[str, Any] = {"title": "", "composer": "N. N.", "abc": None}
    dataset = write_source(
        tmp_path / "source",
        train=[tune("train", 2, **nameless)],
        test=[tune("test", 2, **nameless), tune("test", 3, **{**nameless, "abc": "X:1\nK:C\n"})],
    )
    plan = plan_of(dataset)
    assert plan.left_out["train"] == {"train-2": "no ABC"}
    assert plan.questions_left_out["train"] == 2


def test_questions_on_the_test_split_and_datasets_without_one_are_refused(tmp_path: Path) -> None:
    dataset = write_source(tmp_path / "leak", questions=[asked("test-0", 9)])
    with pytest.raises(DatasetError, match=r"question test-0/9 in 'train' .* is no score of that split"):
        plan_of(dataset)
    dataset = write_rows(tmp_path / "source", {"train": [tune("train", 0)], "validation": [tune("validation", 0)]}, {})
    with pytest.raises(DatasetError, match="has no split 'test'"):
        plan_of(dataset)


def test_names_and_music_that_differ_are_told_apart() -> None:
    names = [("Etude No. 1", "F. Chopin"), ("Etude No. 11", "F. Chopin"), ("奏鸣曲", ""), ("奏鸣曲", "B")]
    assert len({name_of(*name) for name in names} | {""}) == 5
    assert music_of("X:1\nK:G\nGABc|d4|]\n") != music_of("X:1\nK:G\nGABc|d4:|\n")
    assert music_of("K:C\nA:|B::C|[CEG]2[V:2][K:G]\n") == "A:|B::C|[CEG]2"


# --- what is left out, and what is refused ---


def test_what_is_too_long_is_left_out_counted_and_named(tmp_path: Path) -> None:
    long = tune("train", 2, abc="X:1\nK:C\n" + "GABc|" * 100)
    dataset = write_source(tmp_path / "source", train=[long])
    plan = plan_of(dataset, max_characters=300)
    assert plan.left_out == {"train": {"train-2": "too long"}, "validation": {}}
    assert plan.questions_left_out == {"train": 2}
    assert len(plan.conversations["train"]) == 4
    kept = [one for conversations in plan.conversations.values() for one in conversations]
    longest = max(len("".join(message["content"] for message in one["messages"])) for one in kept)
    assert plan_of(dataset, max_characters=longest).conversations == plan.conversations, "the limit itself is kept"
    with pytest.raises(DatasetError, match=r"nothing is left of 'train' .*: 3 scores left out, too long"):
        plan_of(dataset, max_characters=10)


@pytest.mark.parametrize(
    "roles", [[], ["system"], ["assistant"], ["user", "user"], ["user", "assistant"], ["user", "system"]]
)
def test_a_prompt_that_trainers_would_skip_is_refused(roles: list[str], tmp_path: Path) -> None:
    made = [Message(role=role, content="") for role in roles]
    with pytest.raises(DatasetError, match="the prompt of question train-0/0 has the roles"):
        plan_of(write_source(tmp_path / "source"), make_prompt=lambda score, question: made)
    made[:] = [Message(role=role, content="") for role in ("system", "user", "assistant", "user")]
    plan = plan_of(str(tmp_path / "source"), make_prompt=lambda score, question: made)
    assert len(plan.conversations["train"][0]["messages"]) == 5
