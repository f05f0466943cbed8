"""What the music contributes: the table of a model's runs with, without and with other music, worked out by hand."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog

from music_evals.reports.compared import read_compared
from music_evals.reports.music import music_report
from music_evals.reports.tables import Figure
from tests.commands.cli import run
from tests.reports.test_comparisons import log

ASKED = {"modality": "midi", "shots": "zero"}


def rows(logs: list[EvalLog], tmp_path: Path) -> list[dict[str, Any]]:
    runs, unread = read_compared(logs, lambda *_: None)
    assert not unread
    tables = music_report(runs).tables
    return [dict(zip(table.columns, row, strict=True)) for table in tables for row in table.rows]


def arm(folder: Path, stimulus: str, values: Any, **given: Any) -> EvalLog:
    return log(folder, values, asked={**ASKED, "stimulus": stimulus}, benchmark="muse", config="syncopation", **given)


def test_a_row_has_all_arms_and_the_paired_gain(tmp_path: Path) -> None:
    logs = [
        arm(tmp_path, "given", "CCCCCCCCCI"),
        arm(tmp_path, "none", "CCIIIIIIII"),
        arm(tmp_path, "noise", "CIIIIIIIII"),
        arm(tmp_path, "other", "IIIIIIIIII"),
        arm(tmp_path, "given", "CCCCCCCCCC", model="another/model"),  # without the other arms: no row
    ]
    (row,) = rows(logs, tmp_path)
    values = [row[name].value for name in ("Music", "No music", "Noise", "Other music", "Gain", "Samples")]
    assert values == pytest.approx([90, 20, 10, 0, 70, 10])
    assert row["Gain"].low > 0
    assert row["p"].value == pytest.approx(2 / 2**7)  # seven discordant pairs, all one way
    assert row["In words"] == "Of 90 points, 20 are had without the music."
    assert row["Model"] == "some/model"


def test_figures_are_over_what_all_arms_scored(tmp_path: Path) -> None:
    few = {f"q{place}": "C" for place in range(4)}
    logs = [arm(tmp_path, "given", "CCCCIIII"), arm(tmp_path, "none", few)]
    (row,) = rows(logs, tmp_path)
    assert (row["Samples"].value, row["Music"].value, row["No music"].value) == (4, 100, 100)
    assert row["In words"] == "Of 100 points, 100 are had without the music."


def test_questions_on_a_score_go_together(tmp_path: Path) -> None:
    logs = [arm(tmp_path, "given", "CCCCCCCC", clusters=4), arm(tmp_path, "none", "IIIICCCC", clusters=4)]
    (row,) = rows(logs, tmp_path)
    assert row["Gain"].value == pytest.approx(50)
    assert row["p"].value == pytest.approx(1.0)  # two scores, of which one differs: flipped or not
    assert isinstance(row["Music"], Figure)


def test_a_difference_that_may_be_chance_is_said_to_be(tmp_path: Path) -> None:
    (row,) = rows([arm(tmp_path, "given", "CCCCI"), arm(tmp_path, "none", "CCCII")], tmp_path)
    assert row["In words"] == "Of 80 points, 60 are had without the music; the difference may be chance."


def test_a_run_without_music_alone_has_no_row(tmp_path: Path) -> None:
    assert rows([arm(tmp_path, "none", "CC"), arm(tmp_path, "noise", "CC")], tmp_path) == []


def test_the_reader_needs_the_music_and_the_report_says_so(tmp_path: Path) -> None:
    for model in ("reader", "majority"):
        arguments = ["muse_syncopation", "--model", f"baseline/{model}", "--arms", "all", "--display", "none"]
        code, output = run("run", *arguments, "--log-dir", tmp_path / "logs" / model)
        assert code == 0, output
    code, output = run("report", tmp_path / "logs", "--out", tmp_path / "report", "--full")
    assert code == 0, output
    text = (tmp_path / "report" / "music.csv").read_text()
    by_model = {line.split(",")[3]: line for line in text.splitlines()[1:]}
    assert by_model.keys() == {"baseline/majority", "baseline/reader"}
    assert "Of 20 points, 20 are had without the music." in by_model["baseline/majority"]
    assert "Of 100 points," in by_model["baseline/reader"]
    assert "may be chance" not in by_model["baseline/reader"]
    assert "<svg" in (tmp_path / "report" / "music.svg").read_text()
    # Runs without their music are said to be so wherever they stand, and are not in the summary.
    table = (tmp_path / "report" / "muse_table1_syncopation.csv").read_text().splitlines()[0]
    assert table.count("no music") == table.count("noise for music") == table.count("other music") > 0
    summary = (tmp_path / "report" / "summary.csv").read_text()
    assert "100" in next(line for line in summary.splitlines() if line.startswith("baseline/reader"))


def test_unknown_arms_are_refused() -> None:
    code, output = run("run", "muse", "--model", "baseline/chance", "--arms", "given,silence")
    assert (code, "silence is none of given, none, noise, other, all" in output) == (2, True), output
