"""What a report and the terminal say of a run's replies: collapse, limits, gaps, and wall time."""

import pytest

from music_evals.commands.run import show_scores
from music_evals.evals import musictheorybench
from music_evals.reports.answers import answer_lines
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from tests.harness import run
from tests.reports.logs import rows, write_log

KEYS = [{"key": "ABCD"[number % 4]} for number in range(40)]
RIGHT = "IICI" * 10  # where the key is C


def table_of(records, name, benchmark="ziqi"):
    return next(table for table in section_tables(records, benchmark) if table.name == name)


def test_collapse_is_a_line_a_note_and_figures(tmp_path, capsys):
    metrics = {"commonest_answer": 1.0, "permutation_p": 1.0, "position_bias": 0.75}
    write_log(tmp_path, RIGHT, scores=KEYS, answers=["C"] * 40, metrics=metrics)
    records = read_records(tmp_path)
    line = (
        "ziqi comprehension, vllm/org/model: 100% of the answers are C; the commonest key is A, "
        "25%; no sign that the answers depend on the questions (p = 1.00)."
    )
    assert answer_lines(records.runs) == [line]
    show_scores(str(tmp_path), None)
    assert line in capsys.readouterr().out
    replies = table_of(records, "ziqi_replies")
    assert line in replies.notes
    assert rows(replies)[0]["Position bias"].value == 75
    assert any(
        note.startswith("Answer collapse") for note in table_of(records, "ziqi_table1").notes
    )


def test_nothing_is_said_of_answers_that_follow_the_keys(tmp_path):
    answers = [fact["key"] for fact in KEYS]
    write_log(tmp_path, "C" * 40, scores=KEYS, answers=answers, metrics={"permutation_p": 0.002})
    records = read_records(tmp_path)
    assert answer_lines(records.runs) == []
    assert not any("collapse" in note for note in table_of(records, "ziqi_table1").notes)


def test_prompts_beyond_the_context_have_advice_of_their_own(tmp_path):
    empty = [{"reading": "empty"}] * 40
    write_log(tmp_path, "N" * 40, scores=empty, answers=[None] * 40, metrics={"too_long": 1.0})
    table = table_of(read_records(tmp_path), "ziqi_table1")
    (advice,) = (note for note in table.notes if "--max-" in note)
    assert "--max-tokens does not help" in advice
    assert "--max-model-len" in advice


def test_samples_without_a_score_are_counted(tmp_path):
    write_log(tmp_path, ["C", "I", float("nan"), "C"])
    records = read_records(tmp_path)
    (row,) = rows(table_of(records, "ziqi_replies"))
    assert (row["Errors"].value, row["No score"].value) == (0, 1)
    (line,) = answer_lines(records.runs)
    assert line.endswith("samples without a score, which are in no figure: 1.")


def test_replies_to_several_questions_that_are_misnumbered_are_counted(tmp_path):
    write_log(tmp_path, "CI", metrics={"misnumbered": 2.0})
    (line,) = answer_lines(read_records(tmp_path).runs)
    assert line.endswith("replies with fewer or other numbers than questions: 2.")


def test_seconds_are_the_wall_time_and_undecided_trials_have_a_column(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    stats = {
        "started_at": "2026-01-01T10:00:00+00:00",
        "completed_at": "2026-01-01T10:06:07+00:00",
    }
    write_log(tmp_path, "NNNNNN", metrics={"no_decision": 1.0, "cut": 0.5}, stats=stats)
    show_scores(str(tmp_path), None)
    heading, figures, same = capsys.readouterr().out.splitlines()[1:4]
    assert heading.split() == ["Task", "Score", "Floor", "Time"]
    assert figures.endswith("25 chance  6 min")
    assert "50% cut; 100% without a decision" in same


@pytest.mark.parametrize(("baseline", "is_collapsed"), [("majority", True), ("chance", False)])
def test_one_answer_is_collapse_and_guessing_is_none(baseline, is_collapsed, tmp_path):
    run(musictheorybench.knowledge(), tmp_path, f"baseline/{baseline}")
    (row,) = read_records(tmp_path).runs.to_dict("records")
    assert row["collapse"].is_collapsed is is_collapsed
    assert (row["collapse"].share == 1) is is_collapsed
    assert row["permutation_p"] >= 0.05
