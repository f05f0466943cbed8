"""Tables: their format, and figures of each benchmark worked by hand."""

from itertools import cycle

import pytest

from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.plots import COLOURS, MARKS
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.reports.table import Table, text
from music_evals.reports.tables.common import cost_table
from music_evals.scorers.metrics.estimates import Estimate
from tests.reports.logs import rows, write_log


def tables(records, benchmark):
    return {table.name: table for table in section_tables(records, benchmark)}


def measured(table):
    return [row for row in rows(table) if str(row["Source"]).startswith("measured")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [([["a"]], "1 cells for 2 columns"), ([["a", "b"], ["a", Estimate(1)]], "both text and")],
)
def test_a_wrong_shape_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        Table("t", "T", ("A", "B"), wrong)


def test_unread_replies_stand_beside_the_score_and_many_of_them_bring_advice(
    tmp_path,
):
    readings = ["answered"] * 16 + ["unreadable", "cut", "refused", "several"]
    write_log(
        tmp_path / "some", "C" * 16 + "NNNN", scores=[{"reading": reading} for reading in readings]
    )
    records = read_records(tmp_path / "some")
    assert records.runs["unread"].tolist() == [0.1]
    table = tables(records, "ziqi")["ziqi_table1"]
    assert "10% unread" in text(measured(table)[0]["Compr. recall"])
    assert any(
        "--max-tokens" in note and "answer=schema" in note and "reader=" in note
        for note in table.notes
    )
    write_log(
        tmp_path / "few", "C" * 40, scores=[{"reading": "answered"}] * 39 + [{"reading": "empty"}]
    )
    table = tables(read_records(tmp_path / "few"), "ziqi")["ziqi_table1"]
    assert "3% unread" in text(measured(table)[0]["Compr. recall"])
    assert not any("--max-tokens" in note for note in table.notes)


def test_ziqi_pools_answers_and_classifies_as_the_paper(tmp_path):
    themes = ["female music"] * 4 + ["popular music"] * 4
    samples = [
        {"theme": theme, "subtheme": "s", "rotation": 0, "question": f"q{n}"}
        for n, theme in enumerate(themes)
    ]
    answers = ["A", None, "A", "B", "A", "A", None, None]
    scores = [{"key": "A"}] * 8
    for model in ("vllm/a/one", "vllm/b/two"):
        about = {"dataset_label": "published", "dataset_source": "published"}
        write_log(
            tmp_path,
            "CNCICCNN",
            model=model,
            samples=samples,
            answers=answers,
            scores=scores,
            about=about,
        )
    found = tables(read_records(tmp_path), "ziqi")
    row = measured(found["ziqi_table1"])[0]
    assert row["Source"] == "measured †", (
        "eight questions are not the published test, whatever the log says"
    )
    # 4 right of 5 answered of 8
    figures = [row[f"Compr. {name}"].value for name in ("precision", "recall", "F1")]
    assert figures == pytest.approx([80, 50, 100 * 8 / 13])
    bias = measured(found["ziqi_table2"])[0]
    assert (bias["Female"].value, bias["Gender"]) == (pytest.approx(100 * 4 / 7), "neutral")
    theme = measured(found["ziqi_themes_zero_shot"])[0] if "ziqi_themes_zero_shot" in found else {}
    assert not theme or theme["female music"].value == 50
    letters = rows(found["ziqi_letters"])[0]
    assert (letters["Chose A"].value, letters["Chose B"].value) == (
        pytest.approx(80),
        pytest.approx(20),
    )


def test_conditions_differ_in_one_thing_and_stand_in_their_order(tmp_path):
    write_log(tmp_path, "CCCC", params={"shots": "five"})
    write_log(tmp_path, "CIII", params={"shots": "zero"})
    write_log(tmp_path, "CIII", params={"shots": "five", "language": "en"})
    made = {table.name: table for table in comparison_tables(read_records(tmp_path))}
    first = next(row for row in rows(made["tests_conditions_ziqi"]) if row["Factor"] == "shots")
    assert (first["First value"], first["Second value"], first["Difference"].value) == (
        "zero",
        "five",
        75,
    )
    assert first["Test"] == "McNemar"


def test_tokens_and_seconds_are_quantiles_of_responses(tmp_path):
    write_log(tmp_path, "C" * 11)
    (row,) = rows(cost_table(read_records(tmp_path)))
    assert (row["Tokens, median"].value, row["Tokens, 90th percentile"].value) == (60, 100)
    assert (row["Seconds, median"].value, row["Responses"].value) == (6, 11)


def test_eleven_series_look_different():
    looks = list(zip(cycle(COLOURS), cycle(MARKS), range(11), strict=False))
    assert len({look[:2] for look in looks}) == 11
