"""ABC-Eval's data: the authors' rows with their flaws, strict rows that a second reader confirms,
licences.
"""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from music_evals.baselines.lilybench import read_abc
from music_evals.commands.main import app
from music_evals.datasets_builders.abc_eval import dataset
from music_evals.datasets_builders.abc_eval.dataset import write_published
from music_evals.datasets_builders.abc_eval.published import (
    options_of,
    paper_rows,
    read_tables,
    tunes,
)
from music_evals.datasets_builders.dataset_io import Conversion, DatasetError, read_provenance
from music_evals.datasets_builders.dataset_io.licences import check_publishable
from music_evals.datasets_builders.lilybench.rows import TASKS
from tests.abc_eval_dataset import TUNES, write_files


def rows(folder, task, protocol):
    return pq.read_table(folder / task / f"{protocol}-00000-of-00001.parquet").to_pylist()


def test_rows_are_as_published(tmp_path):
    tables, missing = read_tables(write_files(tmp_path / "files" / "csv").parent)
    assert missing == {}
    made = {task: paper_rows(task, tables[task]) for task in TASKS}
    assert [row["answer"] for row in made["bar_sequencing"]] == ["1032", "01234"]  # read as text
    assert made["bar_sequencing"][1]["options"] == ['d\\\n"G"e', "P:B\nf", "g", "a", "b"]
    assert made["bar_sequencing"][0]["score"].startswith("M:3/4\nL:1/4\nK:C\nC/D/E/F/G/E/|")
    # The column error names other bars; 10 is one bar, and 0 the header.
    assert [row["answer"] for row in made["error_detection"]] == ["2 5 7", "6 10", "0"]
    assert [row["kind"] for row in (*made["metadata_qa"], *made["metadata_prediction"])] == [
        "key",
        "key",
    ]
    assert "K:C" in made["metadata_prediction"][0]["score"]  # the answer stays in the header
    assert made["music_captioning"][0]["options"] == ["Tune A", "Gipsy's Air", "Tune C", "Tune D"]
    assert {made[task][0]["answer"] for task in ("next_bar_prediction", "genre_recognition")} == {
        "1"
    }
    assert len(list(tunes(tables))) == len(TUNES)  # a tune in several files once
    with pytest.raises(DatasetError, match=r"accepted is \['…', '…'\]"):
        options_of("a, b")


def test_missing_files_are_named(tmp_path):
    source = write_files(tmp_path / "csv", leave_out="Bar_Sequencing")
    with pytest.raises(
        DatasetError,
        match=r"lacks Bar_Sequencing.csv; .* --allow-partial takes those that are there",
    ):
        write_published(Conversion(source, tmp_path / "out"))
    (source / "Metadata_QA.csv").write_text("title,score\nA,B\n", encoding="utf-8")
    with pytest.raises(
        DatasetError, match=r"Metadata_QA.csv has a row that lacks one of the columns title, score"
    ):
        read_tables(source)


@pytest.mark.usefixtures("lilypond_runs")
def test_the_command_builds_both_splits_and_licences_forbid_publishing(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "_SIZES", (9, 6))
    source, out = write_files(tmp_path / "csv", leave_out="Genre_Recognition"), tmp_path / "out"
    arguments = ["build", "abc_eval", "--source", str(source), "--allow-partial", "--out", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    for row in rows(out, "bar_count", "strict"):
        assert row["answer"] == "11" == str(read_abc(row["score"]).length)
        assert row["licence"] == "MIT"
    kinds = Counter(row["kind"] for row in rows(out, "error_detection", "strict"))
    assert len(kinds) == 6  # five kinds of errors, and clean scores
    assert not (out / "emotion_recognition" / "strict-00000-of-00001.parquet").exists()
    assert {row["licence"] for row in rows(out, "composer_recognition", "paper")} == {"not stated"}
    made = read_provenance(out)
    assert made.missing == {"genre_recognition": ("Genre_Recognition.csv",)}
    assert made.anomalies["rows under GPL-3.0"] == 6
    with pytest.raises(
        DatasetError, match="may not be published: its rows are under five licences"
    ):
        check_publishable(out, made)
    assert json.loads((out / "provenance.json").read_text())["source"] == "abc_eval"
