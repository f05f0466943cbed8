"""MusicTheoryBench: the published columns, the composed bank, and its tasks end to end."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders import musictheorybench
from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    build_dataset,
    load_split,
    read_provenance,
)
from music_evals.datasets_builders.musictheorybench import BENCHMARK, build
from music_evals.datasets_builders.questions.theory import compose
from music_evals.evals.musictheorybench import knowledge, reasoning
from tests.harness import metrics, run


def published(folder, **changes):
    """A copy with the columns of the Hub's: 5 rows in dev, two subjects in test."""
    for split, subjects in (
        ("dev", ["knowledge"] * 5),
        ("test", ["knowledge"] * 8 + ["reasoning"] * 4),
    ):
        rows = [
            {
                "id": number,
                "instruction": "",
                "stem": f"Question {number} of {split}?",
                "options": {letter: f"{letter}{number}" for letter in "ABCD"},
                "subject": subject,
                "answer": "ABCD"[number % 4],
                "split": split,
                "abc_score": "X:1\nK:C\nCDEF|" if subject == "reasoning" else None,
                "analysis": None,
                **(changes if split == "test" and number == 3 else {}),
            }
            for number, subject in enumerate(subjects)
        ]
        (folder / "data").mkdir(parents=True, exist_ok=True)
        pq.write_table(
            pa.Table.from_pylist(rows), folder / "data" / f"{split}-00000-of-00001.parquet"
        )
    return folder


def test_the_published_questions_become_two_configs_with_one_dev(tmp_path):
    made = build_dataset(BENCHMARK, tmp_path / "out", str(published(tmp_path / "source")))
    assert made.counts == {"knowledge": {"dev": 5, "test": 8}, "reasoning": {"dev": 5, "test": 4}}
    rows = load_split(str(tmp_path / "out"), "reasoning", "test", benchmark=BENCHMARK).to_list()
    assert [row["id"] for row in rows] == ["test-008", "test-009", "test-010", "test-011"]
    assert rows[1] == {
        "id": "test-009",
        "question": "Question 9 of test?",
        "abc": "X:1\nK:C\nCDEF|",
        "options": ["A9", "B9", "C9", "D9"],
        "answer": "B",
        "kind": None,
    }
    task = reasoning(dataset=str(tmp_path / "out"), shots="five")
    prompt = task.dataset[0].input[0].text  # type: ignore[union-attr]
    assert [f"Question {number} of dev?" in prompt for number in range(5)] == [True] * 5
    assert task.name == "musictheorybench_reasoning_published"


@pytest.mark.parametrize(
    ("column", "changes"),
    [
        ("answer", {"answer": "E"}),
        ("question", {"stem": ""}),
        ("options, 3", {"options": {"A": "a", "B": "b", "C": "c", "D": None}}),
    ],
)
def test_a_malformed_row_is_named_and_nothing_is_written(tmp_path, column, changes):
    with pytest.raises(DatasetError, match=f"knowledge/test, row test-003, {column}: "):
        build_dataset(BENCHMARK, tmp_path / "out", str(published(tmp_path / "source", **changes)))
    (tmp_path / "none").mkdir()
    with pytest.raises(DatasetError, match=r"holds no dev-\*\.parquet and test-\*\.parquet"):
        build_dataset(BENCHMARK, tmp_path / "out", str(tmp_path / "none"))
    assert not (tmp_path / "out").exists()


def test_files_that_are_no_copy_and_small_files_of_gigabytes_are_named(tmp_path):
    source = published(tmp_path / "source")
    (path,) = source.glob("data/test-*.parquet")
    rows = pq.read_table(path)
    pq.write_table(rows.drop_columns(["stem"]), path)
    with pytest.raises(DatasetError, match=r"test-.*parquet has no 'stem'"):
        build_dataset(BENCHMARK, tmp_path / "out", str(source))
    text = pa.array(["x" * 1_000_000]).dictionary_encode()
    bomb = pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), text.dictionary)
    pq.write_table(pa.table({"stem": bomb}), path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(DatasetError, match=r"cannot be read: needs more than \d+ MiB of memory"):
        build_dataset(BENCHMARK, tmp_path / "out", str(source))


def test_composed_questions_are_balanced_reproducible_and_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(
        compose, "refuse_guessable_theory", lambda: None
    )  # tests of the composer look at that
    monkeypatch.setattr(musictheorybench, "COMPOSED", {"knowledge": 24, "reasoning": 12})
    said = CliRunner().invoke(
        app, ["build", "musictheorybench", "--out", str(tmp_path / "one"), "--seed", "5"]
    )
    assert said.exit_code == 0, said.output
    assert "reasoning: 5 rows in dev, 12 rows in test" in said.output
    assert build(tmp_path / "two", seed=5).files == read_provenance(tmp_path / "one").files
    for name in ("knowledge", "reasoning"):
        rows = load_split(str(tmp_path / "one"), name, "test", benchmark=BENCHMARK).to_list()
        assert len({row["question"] for row in rows}) == len(rows)
        assert (
            max(sum(row["answer"] == letter for row in rows) for letter in "ABCD")
            <= len(rows) / 4 + 3
        )
    (log,) = run(
        knowledge(dataset=str(tmp_path / "one")), tmp_path / "logs", "baseline/chance", limit=5
    )
    assert metrics(log)["final_answer"]["answered"] == 1
    assert (log.eval.metadata or {})["floors"][""]["chance"] == {"value": 0.25}
