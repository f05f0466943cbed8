"""What reports show with no code of their own: declared tables, logs that tell their condition, and the summary."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog

from music_evals import benchmarks
from music_evals.reports.declared import table_of
from music_evals.reports.parts import parts
from music_evals.reports.sections import make_report
from tests.reports.made import made_log, rows, score, tables

FACTS = """
title = "Chords"
paper = "On Chords"
authors = ["A. Author"]
url = "https://example.org"
homepage = "https://example.org"
citation = ""

[tasks.triads]
summary = "which triad is it"
metric = "final_answer/accuracy"
chance = 0.25

[tasks.sevenths]
summary = "which seventh chord is it"
metric = "final_answer/accuracy"
chance = 0.25

[datasets.chords.sources.published]
title = "Chords"
is_benchmark = true
reason = "none"
"""
TABLE = """
[[report]]
[[report.tables]]
name = "chords_table1"
title = "Table 1"
merge = true
published = [{ table = "table1" }]
notes = ["Paper: {source0}."]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A benchmark of its own, which no module knows."""
    (tmp_path / "chords" / "published").mkdir(parents=True)
    monkeypatch.setattr(benchmarks, "_FOLDER", tmp_path)
    for function in (benchmarks.load, benchmarks.published):
        function.cache_clear()
    yield tmp_path / "chords"
    for function in (benchmarks.load, benchmarks.published):
        function.cache_clear()


def header(task: str, accuracy: float, source: str = "published", **given: Any) -> EvalLog:
    """The header of a log that tells its condition."""
    condition = given.pop("condition", {})
    about = {
        "dataset_source": source,
        "condition": condition,
        "main_metric": "final_answer/accuracy",
        "floors": {"": {"chance": {"value": 0.25}, "majority": {"value": 0.3, "low": 0.2, "high": 0.4}}},
    }
    figures = {"choice": {"accuracy": accuracy, "accuracy_low": accuracy - 0.1, "accuracy_high": accuracy + 0.1}}
    scores = score("final_answer", figures, 40)
    return made_log("chords", task, scores, samples=40, label=source, asked=condition, about=about, **given)


def test_a_folder_with_a_declared_table_has_published_rows_beside_measured_ones(folder: Path) -> None:
    (folder / "benchmark.toml").write_text(FACTS + TABLE)
    (folder / "published" / "table1.csv").write_text("# On Chords, Table 1\nmodel,triads,sevenths\nGPT-4,58.2,\n")
    made = tables(header("triads", 0.5), header("sevenths", 0.25), header("triads", 0.75, condition={"shots": "five"}))
    table = made["chords_table1"]
    assert table.columns == ("Model", "Source", "Condition", "Triads", "Sevenths")
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["GPT-4", "paper", "None", "58.20", "None"],
        ["some/model", "measured", "data published, shots=five", "75.00 (65.00–85.00)", "None"],
        ["some/model", "measured", "data published", "50.00 (40.00–60.00)", "25.00 (15.00–35.00)"],
        ["chance", "floor", "None", "25.00", "25.00"],
        ["majority", "floor", "None", "30.00 (20.00–40.00)", "30.00 (20.00–40.00)"],
    ]
    gain = next(row for row in made["chords_gain"].rows if row[0] == "Sevenths")
    # 25 of 15 to 35, less 30 of 20 to 40: sqrt(10² + 10²) either way.
    assert [str(cell) for cell in gain[4:]] == [
        *("25.00 (15.00–35.00)", "25.00", "30.00 (20.00–40.00)", "−5.00 (−19.14 to 9.14)"),
    ]
    assert table.notes[0] == "Paper: On Chords, Table 1."


def test_a_benchmark_that_declares_nothing_has_a_table_of_its_main_metrics(folder: Path) -> None:
    (folder / "benchmark.toml").write_text(FACTS)
    logs = header("triads", 0.5, source="generated"), header("sevenths", 0.25, source="generated", limit=10)
    table = tables(*logs)["chords_tasks"]
    measured = rows(table, Model="some/model")
    assert [(row["Source"], row["Condition"]) for row in measured] == [
        ("measured †", "data generated, not all samples"),
        ("measured †", "data generated"),
    ]
    assert any(note.startswith("† Not the paper's test") for note in table.notes)


def test_what_is_declared_wrongly_is_named(folder: Path) -> None:
    (folder / "benchmark.toml").write_text(FACTS + TABLE + 'colour = "blue"\n')
    with pytest.raises(ValueError, match=r"\[\[report\]\] in benchmark.toml of chords:(?s:.*)tables.0.colour"):
        parts()


def test_the_summary_has_a_row_a_model_with_intervals_floors_and_data(folder: Path) -> None:
    (folder / "benchmark.toml").write_text(FACTS)
    logs = [
        header("triads", 0.5),
        header("sevenths", 0.25),
        header("triads", 0.9, condition={"shots": "five"}),
        header("triads", 0.4, model="b/two", source="generated"),
    ]
    summary = make_report(logs).sections[0].report.tables[0]
    assert summary.name == "summary"
    (first,), (second,) = rows(summary, Model="some/model"), rows(summary, Model="b/two")
    # Half of sqrt(10² + 10²) either way: the condition under which both tasks were run counts.
    assert str(first["Chords"]) == "37.5[2] (30.4–44.6)"
    assert str(second["Chords"]) == "40.0†[1] (30.0–50.0)"
    assert (first["Data"], second["Data"]) == ("Chords: published", "Chords: generated")
    assert "[1] Chords: data generated; triads" in summary.notes
    # (50 − 30)/(100 − 30), and (25 − 30)/(100 − 30)
    assert first["Suite"].value == pytest.approx((200 / 7 - 50 / 7) / 2)
    assert [(row[0], str(row[2])) for row in summary.rows[2:]] == [
        ("floor: chance", "25.0"),
        ("floor: majority", "30.0 (22.9–37.1)"),
    ]
    assert str(second["Chords: gain"]) == "10.0 (−4.1 to 24.1)"


def test_old_logs_and_those_that_tell_their_condition_are_of_one_condition() -> None:
    groups = {"choice_figures": {"questions": 200.0, "answered": 1.0, "accuracy": 0.5, "precision": 0.5, "f1": 0.5}}
    asked = {"shots": "five", "protocol": "strict", "language": "zh", "rotations": 1, "deduplicate": False, "seed": 0}
    about = {"condition": {"shots": "five"}, "main_metric": "lettered_choice/accuracy", "floors": {}}
    logs = [
        made_log("ziqi", "comprehension", score("lettered_choice", groups), samples=200, label="published", asked=asked,
                 about=told, created=f"2026-01-0{day}T10:00:00+00:00")
        for day, told in enumerate(({}, about), start=1)
    ]  # fmt: skip
    table = tables(*logs)["ziqi_table1"]
    (row,) = rows(table, Model="some/model")
    assert row["Condition"] == "five-shot, strict protocol, data published"
    assert any("the latest of 2 runs counts, that of 2026-01-02" in note for note in table.notes)


def test_a_log_for_which_a_table_fails_is_named_and_left_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(part: Any, spec: Any, runs: Any) -> Any:
        if any(run.model == "odd/model" for run in runs):
            raise KeyError("figure")
        return table_of(part, spec, runs)

    monkeypatch.setattr("music_evals.reports.sections.table_of", failing)
    figures = score("lettered_choice", {"choice_figures": {"accuracy": 0.5, "precision": 0.5, "f1": 0.5}}, samples=4)
    logs = [
        made_log("ziqi", "generation", figures, samples=4, label="x", asked={}, model=name)
        for name in ("odd/model", "some/model")
    ]
    logs[0].location = "odd.eval"
    made = make_report(logs)
    table, *_ = made.sections[1].report.tables
    assert [row[0] for row in table.rows][-2:] == ["some/model", "chance"]
    why = "it is left out of the table ziqi_table1: 'figure' (KeyError in _table_report of sections.py)"
    assert ("odd.eval", why) in made.left_out
