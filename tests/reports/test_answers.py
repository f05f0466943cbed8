"""What a report and the terminal say of a run's replies: collapse, limits, gaps, and wall time."""

from music_evals.reports.answers import answer_lines
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from tests.reports.logs import write_log

KEYS = [{"key": "ABCD"[number % 4]} for number in range(40)]


def table_of(records, name, benchmark="ziqi"):
    return next(table for table in section_tables(records, benchmark) if table.name == name)


def test_prompts_beyond_the_context_have_advice_of_their_own(tmp_path):
    empty = [{"reading": "empty"}] * 40
    write_log(tmp_path, "N" * 40, scores=empty, answers=[None] * 40, metrics={"too_long": 1.0})
    table = table_of(read_records(tmp_path), "ziqi_table1")
    (advice,) = (note for note in table.notes if "--max-" in note)
    assert "--max-tokens does not help" in advice
    assert "--max-model-len" in advice


def test_replies_to_several_questions_that_are_misnumbered_are_counted(tmp_path):
    write_log(tmp_path, "CI", metrics={"misnumbered": 2.0})
    (line,) = answer_lines(read_records(tmp_path).runs)
    assert line.endswith("replies with fewer or other numbers than questions: 2.")
