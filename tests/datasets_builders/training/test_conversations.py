"""Training conversations: what is written, and that nothing of the test split is."""

import json
from unittest.mock import ANY

import pytest
from datasets import load_dataset

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.msu.same_work import music_of, name_of
from music_evals.datasets_builders.training.conversations import (
    TRAINING_DATA,
    write_conversations,
)
from tests.msu_dataset import question, score, write_rows

TUNES = {"train": "GABc|d2e2|", "validation": "CDEF|G2A2|", "test": "fedc|B2A2|"}


def tune(split, number, **changes):
    title = f"Piece {split} {number}"
    abc = f"X:1\nT:{title}\nM:4/4\nK:C\n[V:1] {TUNES[split]}{'z' * (number + 1)}4|] %3\n"
    return score(
        f"{split}-{number}", **{"title": title, "composer": "N. N.", "abc": abc, **changes}
    )


def question_on(score_id, number):
    return question(
        score_id,
        number,
        id=f"{score_id}/{number}",
        question="Schlüssel, 调?\u2028",
        answer="C major",
    )


def write_source(out, **extra):
    """Write a dataset with two scores per split and two questions per score; extra scores by
    split.
    """
    scores = {split: [tune(split, 0), tune(split, 1), *extra.get(split, [])] for split in TUNES}
    questions = {
        split: [question_on(row["score_id"], number) for row in rows for number in range(2)]
        for split, rows in scores.items()
    }
    questions["train"] += extra.get("questions", [])
    return write_rows(out, scores, questions, seed=1)


def prompt(score, question):
    text = f"{score['abc']}\n{question['question']}"
    return [{"role": "system", "content": "Read the score."}, {"role": "user", "content": text}]


def written(dataset, out, **options):
    return write_conversations(dataset, out, prompt, **options)


def messages_of(out):
    texts = [path.read_text(encoding="utf-8") for path in sorted(out.glob("*.jsonl"))]
    return [json.loads(line)["messages"] for text in texts for line in text.split("\n") if line]


def test_one_conversation_a_question_in_both_formats(tmp_path):
    out = tmp_path / "new" / "out"
    written(write_source(tmp_path / "source"), out)
    assert list(out.parent.iterdir()) == [out], "nothing is left beside"
    for split in ("train", "validation"):
        lines = (out / f"{split}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
        assert len(lines) == 4
        first = json.loads(lines[0])
        assert first["id"] == f"{split}-0/0"
        assert "Schlüssel, 调" in lines[0]
        system, answer = (
            {"role": "system", "content": "Read the score."},
            {"role": "assistant", "content": "C major"},
        )
        assert first["messages"] == [system, {"role": "user", "content": ANY}, answer]
        assert first["messages"][1]["content"].startswith(f"X:1\nT:Piece {split} 0")
        # TRL goes by the name and the layout of this column, as `datasets` reads it.
        rows = load_dataset(
            "json",
            data_files=str(out / f"{split}.jsonl"),
            split="train",
            cache_dir=tmp_path / "cache",
        )
        assert rows[0]["messages"] == first["messages"]
    assert not (out / "test.jsonl").exists()
    assert "test-" not in "".join(path.read_text(encoding="utf-8") for path in out.glob("*.jsonl"))
    # From https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md, "OpenAI Format".
    tags = {
        "role_tag": "role",
        "content_tag": "content",
        "user_tag": "user",
        "assistant_tag": "assistant",
    }
    layout = {
        "formatting": "sharegpt",
        "columns": {"messages": "messages"},
        "tags": {**tags, "system_tag": "system"},
    }
    info = {
        f"msu_{split}": {"file_name": f"{split}.jsonl", **layout}
        for split in ("train", "validation")
    }
    assert json.loads((out / "dataset_info.json").read_text(encoding="utf-8")) == info
    record = json.loads((out / TRAINING_DATA.marker).read_text(encoding="utf-8"))
    assert record["conversations"] == {"train": 4, "validation": 4}
    assert record["source"]["dataset_label"] == "generated-seed1"


# --- leaks ---


MUSIC = "X:7\nT:Other\nC:Other\nM:C\nK:C\n%%score 1\nV:1\nfedc |\\\nB2A2 | % 2\nzz4 |]\nw: la\n"


@pytest.mark.parametrize(
    ("split", "leak", "message"),
    [
        ("train", {"score_id": "test-1"}, "by their ids: test-1 (test-1 in test)"),
        (
            "train",
            {"title": " PIÈCE test: 1!", "composer": "n.n"},
            "by their titles and composers: copy (test-1 in test)",
        ),
        ("train", {"abc": MUSIC}, "by their music: copy (test-1 in test)"),
        ("validation", {"abc": MUSIC}, "by their music: copy (test-1 in test)"),
    ],
)
def test_a_planted_leak_is_refused(split, leak, message, tmp_path):
    other = {"score_id": "copy", "title": "Another piece", "abc": "X:1\nK:C\nGGGG|\n"}
    dataset = write_source(tmp_path / "source", **{split: [tune(split, 2, **{**other, **leak})]})
    with pytest.raises(DatasetError) as caught:
        written(dataset, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert f"'{split}' of {dataset} has scores of the test split, {message}" in str(caught.value)


def test_scores_without_title_or_music_are_no_leak(tmp_path):
    nameless = {"title": "", "composer": "N. N.", "abc": None}
    dataset = write_source(
        tmp_path / "source",
        train=[tune("train", 2, **nameless)],
        test=[tune("test", 2, **nameless), tune("test", 3, **{**nameless, "abc": "X:1\nK:C\n"})],
    )
    record = written(dataset, tmp_path / "out")
    assert record["scores_left_out"]["train"] == {"train-2": "no abc"}
    assert record["questions_left_out"]["train"] == 2


def test_questions_on_the_test_split_and_datasets_without_one_are_refused(tmp_path):
    leaky = write_source(tmp_path / "leak", questions=[question_on("test-0", 9)])
    partial = write_rows(
        tmp_path / "source", {split: [tune(split, 0)] for split in ("train", "validation")}, {}
    )
    refusals = {
        leaky: r"question test-0/9 in 'train' .* is no score of that split",
        partial: "has no split 'test'",
    }
    for dataset, message in refusals.items():
        with pytest.raises(DatasetError, match=message):
            written(dataset, tmp_path / "out")


def test_names_and_music_that_differ_are_told_apart():
    names = [
        ("Etude No. 1", "F. Chopin"),
        ("Etude No. 11", "F. Chopin"),
        ("奏鸣曲", ""),
        ("奏鸣曲", "B"),
    ]
    assert len({name_of(*name) for name in names} | {""}) == 5
    assert music_of("X:1\nK:G\nGABc|d4|]\n") != music_of("X:1\nK:G\nGABc|d4:|\n")
    assert music_of("K:C\nA:|B::C|[CEG]2[V:2][K:G]\n") == "A:|B::C|[CEG]2"


def test_long_conversations_are_left_out_counted_and_named(tmp_path):
    long = tune("train", 2, abc="X:1\nK:C\n" + "GABc|" * 100)
    dataset = write_source(tmp_path / "source", train=[long])
    out = tmp_path / "out"
    record = written(dataset, out, max_characters=300)
    assert record["scores_left_out"] == {"train": {"train-2": "too long"}, "validation": {}}
    assert record["questions_left_out"] == {"train": 2}
    assert record["conversations"] == {"train": 4, "validation": 4}
    conversations = messages_of(out)
    longest = max(
        sum(len(message["content"]) for message in messages) for messages in conversations
    )
    written(dataset, out, max_characters=longest, overwrite=True)
    assert messages_of(out) == conversations, "the limit itself is accepted"
    with pytest.raises(
        DatasetError, match=r"nothing is left of 'train' .*: 3 scores left out, too long"
    ):
        written(dataset, tmp_path / "none", max_characters=10)
