"""LilyBench's tables: the paper's figures and averages, and real logs on a small dataset."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from music_evals.benchmarks import load, published
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, FIELDS, SIZES, TASKS
from music_evals.reports.declared import average
from music_evals.reports.tables import Figure, Table
from tests.reports.made import runs, tables

MODELS = ("Phi-4", "Qwen2.5-Coder-14B", "Codestral-22B", "DeepSeek-Coder-V2-Lite")
PAPER = sorted((Path(__file__).parents[3] / "shared" / "seeds").glob("000*.txt"))
GOLDEN = Path(__file__).parents[1] / "golden" / "logs"
HALF = 0.0005 + 1e-9
"""What rounding to three decimals may move a number by."""

MACRO, WEIGHTED = load("lilybench").table["report"][0]["tables"][0]["averages"]
MUTOPIA: list[Any] = MACRO["tasks"]
PUBLISHED_WEIGHTS = {task: SIZES[task] for task in MUTOPIA} | {"music_captioning": 31}
"""Rows of each task that reproduce the published weighted averages: those of Table 1, but 31 titles and not 60."""


@pytest.fixture(scope="module")
def logs() -> list[EvalLog]:
    """All tasks by the reader and by the paper's protocol, on four rows each; from the golden record."""
    found = [read_eval_log(str(path), header_only=True) for path in sorted(GOLDEN.glob("*-reader.eval"))]
    asked = {"benchmark": "lilybench", "protocol": "paper", "strategy": "standalone"}
    return [log for log in found if asked.items() <= (log.eval.metadata or {}).items()]


def changed(
    log: EvalLog, created: str = "2026-01-02T10:00:00+00:00", limit: int | None = None, **asked: Any
) -> EvalLog:
    """A header as if another model had been asked so."""
    other = log.model_copy(deep=True)
    other.eval.model, other.eval.created, other.eval.config.limit = "other/model", created, limit
    other.eval.metadata = {**(log.eval.metadata or {}), **asked}
    other.eval.task_args |= asked
    other.eval.task_args_passed |= asked
    return other


def column(table: Table, heading: str, of: str = "Task") -> dict[Any, Any]:
    names, wanted = table.columns.index(of), table.columns.index(heading)
    return {row[names]: row[wanted] for row in table.rows}


# --- the published figures ---


def printed() -> dict[str, dict[str, float]]:
    return {row.labels["task"]: dict(row.figures) for row in published("lilybench", "table3").rows}


@pytest.mark.parametrize("model", MODELS)
def test_the_published_averages_are_over_eight_tasks_with_exact_counts(model: str) -> None:
    table = printed()
    figures = [Figure(table[task][model]) for task in MUTOPIA]
    assert average(figures, [1] * 8).value == pytest.approx(table["Mutopia macro avg"][model], abs=HALF)
    weights = [PUBLISHED_WEIGHTS[task] for task in MUTOPIA]
    # The figures of the tasks are rounded themselves.
    assert average(figures, weights).value == pytest.approx(table["Mutopia weighted avg"][model], abs=2 * HALF)


def test_sixty_titles_do_not_give_the_published_weighted_averages() -> None:
    table = printed()
    for model in MODELS:
        figures = [Figure(table[task][model]) for task in MUTOPIA]
        found = average(figures, [SIZES[task] for task in MUTOPIA]).value
        assert abs(found - table["Mutopia weighted avg"][model]) > 2 * HALF


@pytest.mark.parametrize("task", [task for task in MUTOPIA if task not in ("bar_sequencing", "music_captioning")])
def test_published_accuracies_are_shares_of_the_stated_rows(task: str) -> None:
    for figure in printed()[task].values():
        assert min(abs(right / SIZES[task] - figure) for right in range(SIZES[task] + 1)) <= HALF  # type: ignore[index]


def test_published_titles_are_shares_of_31() -> None:
    assert [round(31 * figure, 1) for figure in printed()["music_captioning"].values()] == [28.0, 29.0, 26.0, 21.0]
    assert all(min(abs(n / 60 - figure) for n in range(61)) > HALF for figure in (0.903, 0.935, 0.839, 0.677))


@pytest.mark.skipif(not PAPER, reason="no copy of the paper's text beside the checkout")
def test_the_papers_table_is_as_in_its_text() -> None:
    text = PAPER[0].read_text(encoding="utf-8")
    printed = text[text.index("Category Task Phi-4") : text.index("Table 3: Understanding results")].splitlines()
    lines = [line.rsplit(maxsplit=4) for line in printed if line.strip()]
    rows = published("lilybench", "table3").rows
    assert len(lines) == len(rows) + 1 == 13
    for line, row in zip(lines[1:], rows, strict=True):
        assert line[0].endswith(row.labels["task"])
        assert list(row.figures.values()) == [float(cell) for cell in line[1:]]


# --- measured ---


def test_names_are_those_of_the_rows() -> None:
    assert WEIGHTED["tasks"] == MUTOPIA
    assert set(MUTOPIA) == set(TASKS) - {"emotion_recognition", "error_detection"}
    columns = {table.get("name"): table.get("columns") for table in load("lilybench").table["report"][0]["tables"]}
    assert tuple(columns["lilybench_error_detection"][0]["each"]) == CORRUPTIONS
    assert tuple(columns["lilybench_metadata"][0]["each"]) == FIELDS


def test_table3_has_the_measured_column_beside_the_papers(logs: list[EvalLog]) -> None:
    table = tables(*logs)["lilybench_table3"]
    heading = "baseline/reader (paper protocol, standalone, data mutopia)"
    assert table.columns == ("Category", "Task", *MODELS, heading)
    measured = column(table, heading)
    assert list(measured) == [*TASKS, "Mutopia macro avg", "Mutopia weighted avg"]
    by_task = {run.task: run for run in runs(*logs)}
    for name in TASKS:
        headline = by_task[name].figure()
        assert measured[name] == headline
        assert headline is not None
        assert headline.low is not None
        assert headline.high is not None
        assert 0 <= headline.low <= headline.value <= headline.high <= 1
    values = [measured[name].value for name in MUTOPIA]
    macro, weighted = measured["Mutopia macro avg"], measured["Mutopia weighted avg"]
    assert macro.value == pytest.approx(sum(values) / 8)
    assert weighted.value == pytest.approx(macro.value), "all tasks have four rows here"
    assert macro.low < macro.value < macro.high
    assert str(column(table, "Phi-4")["Mutopia macro avg"]) == "0.651"
    assert not any("†" in note for note in table.notes)


def test_averages_need_all_eight_tasks(logs: list[EvalLog]) -> None:
    table = tables(*logs[1:])["lilybench_table3"]
    assert table.rows[-1][-1] is None
    assert table.rows[0][-1] is None


def test_the_other_tables_have_what_stands_behind(logs: list[EvalLog]) -> None:
    found = tables(*logs)
    assert set(found) == {
        "lilybench_table3",
        "lilybench_bar_count",
        "lilybench_metadata",
        "lilybench_error_detection",
        "lilybench_emotion",
        "lilybench_form",
    }
    counts = found["lilybench_bar_count"]
    (cells,) = counts.rows
    near = [cell.value for cell in cells[4:8] if isinstance(cell, Figure)]
    assert len(near) == 4
    assert near == sorted(near)
    errors = found["lilybench_error_detection"]
    assert [row[1] for row in errors.rows] == ["paper"] * 4 + ["measured"]
    assert [str(value) for value in column(errors, "Macro F1", "Model").values()][:4] == [
        "0.009", "0.005", "0.014", "0.041",
    ]  # fmt: skip
    measured = dict(zip(errors.columns, errors.rows[-1], strict=True))
    kinds = [measured[kind.replace("_", " ").capitalize()] for kind in CORRUPTIONS]
    assert measured["Macro F1"].value == pytest.approx(sum(cell.value for cell in kinds) / 5)  # type: ignore[union-attr]
    emotion = found["lilybench_emotion"]
    assert [row[3] for row in emotion.rows] == ["Q1", "Q2", "Q3", "Q4"]
    assert [sum(cell.value for cell in row[4:] if isinstance(cell, Figure)) for row in emotion.rows] == [1] * 4
    form = found["lilybench_form"]
    assert list(column(form, form.columns[-1])) == list(TASKS)
    assert {cell.value for cell in column(form, form.columns[-1]).values()} == {1}
    assert len(found["lilybench_metadata"].rows) == 2
    for table in found.values():
        assert table.to_csv()
        assert table.to_markdown()


def test_other_protocols_strategies_and_data_have_columns_of_their_own(logs: list[EvalLog]) -> None:
    (genre,) = [log for log in logs if (log.eval.metadata or {})["config"] == "genre_recognition"]
    cut = changed(genre, max_score_tokens=100)
    cut.eval.metadata = {**(cut.eval.metadata or {}), "rows_left_out": 2}
    made = {"dataset_label": "generated-seed5", "is_lilybench": False}
    others = [
        changed(genre, protocol="strict"),
        changed(genre, protocol="strict", created="2026-01-03T10:00:00+00:00"),
        changed(genre, strategy="cot"),
        changed(genre, **made),
        changed(genre, limit=1, **made),
        cut,
    ]
    table = tables(*logs, *others)["lilybench_table3"]
    assert set(table.columns[6:]) == {
        "baseline/reader (paper protocol, standalone, data mutopia)",
        "other/model † (strict protocol, standalone, data mutopia)",
        "other/model † (paper protocol, cot, data mutopia)",
        "other/model † (paper protocol, standalone, data generated-seed5)",
        "other/model † (paper protocol, standalone, data generated-seed5, not all rows)",
        "other/model † (paper protocol, standalone, data mutopia, scores up to 100 tokens, not all rows)",
    }
    assert any(note.startswith("† Not the paper's procedure") for note in table.notes)
    assert any("(genre_recognition): the latest of 2 runs counts" in note for note in table.notes)
