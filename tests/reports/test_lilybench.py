"""LilyBench's tables of understanding: the golden record's logs beside the paper's figures."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from music_evals.benchmarks import load
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, TASKS
from music_evals.reports.tables import Table
from tests.reports.made import rows, runs, tables

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"
MUTOPIA: list[Any] = load("lilybench").table["report"][0]["tables"][0]["averages"][0]["tasks"]
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


def test_table3_has_the_measured_column_beside_the_papers(logs: list[EvalLog], found: dict[str, Table]) -> None:
    table = found["lilybench_table3"]
    assert table.columns[-2:] == (READER, "floor: chance")
    measured = {row["Task"]: row[READER] for row in rows(table)}
    assert list(measured) == [*TASKS, "Mutopia macro avg", "Mutopia weighted avg"]
    by_task = {run.task: run.figure() for run in runs(*logs)}
    assert {task: measured[task] for task in TASKS} == by_task
    macro, weighted = measured["Mutopia macro avg"], measured["Mutopia weighted avg"]
    assert macro.value == pytest.approx(sum(measured[task].value for task in MUTOPIA) / 8)
    assert weighted.value == pytest.approx(macro.value), "all tasks have four rows here"
    # Averages need all eight tasks.
    assert tables(*logs[1:])["lilybench_table3"].rows[-1][-2] is None


def test_the_macro_f1_is_the_mean_of_the_categories(found: dict[str, Table]) -> None:
    measured = rows(found["lilybench_error_detection"])[-1]
    categories = [measured[kind.replace("_", " ").capitalize()].value for kind in CORRUPTIONS]
    assert measured["Macro F1"].value == pytest.approx(sum(categories) / 5)


def test_other_protocols_strategies_and_data_have_columns_of_their_own(logs: list[EvalLog]) -> None:
    (genre,) = [log for log in logs if (log.eval.metadata or {})["config"] == "genre_recognition"]
    made = {"dataset_label": "generated-seed5", "is_lilybench": False}
    others = {
        "strict protocol, standalone, data mutopia": changed(genre, protocol="strict"),
        "paper protocol, cot, data mutopia": changed(genre, strategy="cot"),
        "paper protocol, standalone, data generated-seed5": changed(genre, **made),
        "paper protocol, standalone, data generated-seed5, not all rows": changed(genre, limit=1, **made),
        "paper protocol, standalone, data mutopia, scores up to 100 tokens, not all rows": changed(
            genre, max_score_tokens=100, left_out=2
        ),
    }
    table = tables(genre, *others.values(), changed(genre, protocol="strict", day=3))["lilybench_table3"]
    assert set(table.columns[6:]) == {
        READER,
        "floor: chance",
        *(f"other/model † ({condition})" for condition in others),
    }
    assert any("(genre_recognition): the latest of 2 runs counts" in note for note in table.notes)
