"""ABC-Eval's data: the authors' rows with their flaws, strict rows that a second reader confirms,
licences.
"""

import pyarrow.parquet as pq
import pytest

from music_evals.datasets_builders.abc_eval.dataset import write_published
from music_evals.datasets_builders.abc_eval.published import (
    options_of,
    paper_rows,
    read_tables,
    tunes,
)
from music_evals.datasets_builders.dataset_io import Conversion, DatasetError
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
