"""LilyBench's tables of understanding: the golden record's logs beside the paper's figures."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from music_evals.benchmarks import load
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, FIELDS, TASKS
from music_evals.reports.tables import Figure, Table
from tests.reports.made import rows, runs, tables

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"
MACRO, WEIGHTED = load("lilybench").table["report"][0]["tables"][0]["averages"]
MUTOPIA: list[Any] = MACRO["tasks"]
READER = "baseline/reader (paper protocol, standalone, data mutopia)"


@pytest.fixture(scope="module")
def logs() -> list[EvalLog]:
    """All tasks by the reader and by the paper's protocol, on four rows each."""
    found = [read_eval_log(str(path), header_only=True) for path in sorted(GOLDEN.glob("*-reader.eval"))]
    asked = {"benchmark": "lilybench", "protocol": "paper", "strategy": "standalone"}
    return [log for log in found if asked.items() <= (log.eval.metadata or {}).items()]


@pytest.fixture(scope="module")
def found(logs: list[EvalLog]) -> dict[str, Table]:
    return tables(*logs)


def changed(log: EvalLog, day: int = 2, limit: int | None = None, left_out: int = 0, **asked: Any) -> EvalLog:
    """A header as if another model had been asked so."""
    other = log.model_copy(deep=True)
    other.eval.model, other.eval.created, other.eval.config.limit = "other/model", f"2026-01-0{day}T10:00:00Z", limit
    other.eval.metadata = {**(log.eval.metadata or {}), **asked, "rows_left_out": left_out}
    other.eval.task_args |= asked
    other.eval.task_args_passed |= asked
    return other


def test_names_are_those_of_the_rows() -> None:
    assert WEIGHTED["tasks"] == MUTOPIA
    assert set(MUTOPIA) == set(TASKS) - {"emotion_recognition", "error_detection"}
    columns = {table.get("name"): table.get("columns") for table in load("lilybench").table["report"][0]["tables"]}
    assert tuple(columns["lilybench_error_detection"][0]["each"]) == CORRUPTIONS
    assert tuple(columns["lilybench_metadata"][0]["each"]) == FIELDS


def test_table3_has_the_measured_column_beside_the_papers(logs: list[EvalLog], found: dict[str, Table]) -> None:
    table = found["lilybench_table3"]
    assert table.columns[-1] == READER
    measured = {row["Task"]: row[READER] for row in rows(table)}
    assert list(measured) == [*TASKS, "Mutopia macro avg", "Mutopia weighted avg"]
    by_task = {run.task: run.figure() for run in runs(*logs)}
    assert {task: measured[task] for task in TASKS} == by_task
    assert all(0 <= figure.low <= figure.value <= figure.high <= 1 for figure in measured.values())
    macro, weighted = measured["Mutopia macro avg"], measured["Mutopia weighted avg"]
    assert macro.value == pytest.approx(sum(measured[task].value for task in MUTOPIA) / 8)
    assert weighted.value == pytest.approx(macro.value), "all tasks have four rows here"
    assert str(rows(table, Task="Mutopia macro avg")[0]["Phi-4"]) == "0.651"
    assert not any("†" in note for note in table.notes)
    # Averages need all eight tasks.
    assert tables(*logs[1:])["lilybench_table3"].rows[-1][-1] is None


def test_the_other_tables_have_what_stands_behind(found: dict[str, Table]) -> None:
    kinds = ("table3", "bar_count", "metadata", "error_detection", "emotion", "form")
    assert list(found) == [f"lilybench_{kind}" for kind in kinds]
    near = [cell.value for cell in found["lilybench_bar_count"].rows[0][4:8] if isinstance(cell, Figure)]
    assert len(near) == 4
    assert near == sorted(near)
    *paper, measured = rows(found["lilybench_error_detection"])
    assert [str(row["Macro F1"]) for row in paper] == ["0.009", "0.005", "0.014", "0.041"]
    categories = [measured[kind.replace("_", " ").capitalize()].value for kind in CORRUPTIONS]
    assert measured["Macro F1"].value == pytest.approx(sum(categories) / 5)
    emotion = found["lilybench_emotion"].rows
    assert [row[3] for row in emotion] == ["Q1", "Q2", "Q3", "Q4"]
    assert [sum(cell.value for cell in row[4:] if isinstance(cell, Figure)) for row in emotion] == [1] * 4
    form = {row["Task"]: row[READER].value for row in rows(found["lilybench_form"])}
    assert form == dict.fromkeys(TASKS, 1)


def test_other_protocols_strategies_and_data_have_columns_of_their_own(logs: list[EvalLog]) -> None:
    (genre,) = [log for log in logs if (log.eval.metadata or {})["config"] == "genre_recognition"]
    made = {"dataset_label": "generated-seed5", "is_lilybench": False}
    others = [
        changed(genre, protocol="strict"),
        changed(genre, protocol="strict", day=3),
        changed(genre, strategy="cot"),
        changed(genre, **made),
        changed(genre, limit=1, **made),
        changed(genre, max_score_tokens=100, left_out=2),
    ]
    table = tables(genre, *others)["lilybench_table3"]
    assert set(table.columns[6:]) == {
        READER,
        "other/model † (strict protocol, standalone, data mutopia)",
        "other/model † (paper protocol, cot, data mutopia)",
        "other/model † (paper protocol, standalone, data generated-seed5)",
        "other/model † (paper protocol, standalone, data generated-seed5, not all rows)",
        "other/model † (paper protocol, standalone, data mutopia, scores up to 100 tokens, not all rows)",
    }
    assert any(note.startswith("† Not the paper's procedure") for note in table.notes)
    assert any("(genre_recognition): the latest of 2 runs counts" in note for note in table.notes)
