"""Training conversations: what is written, and that nothing of the test split is."""

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.training.conversations import (
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
