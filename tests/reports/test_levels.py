"""The table of scores by level."""

from music_evals.reports.records import read_records
from music_evals.reports.tables.levels import levels_table
from tests.reports.logs import write_log


def test_runs_of_single_levels_and_of_all_levels_have_a_row_each(tmp_path):
    for level, values in enumerate(("CCCC", "CCCI", "CIII", "CCII", "CIII"), start=1):
        write_log(tmp_path, values, params={"level": level}, model="x/single")
    samples = [{"ladder_level": level} for level in (1, 1, 2, 2, 5, 5)]
    write_log(tmp_path, "CCCIII", params={"level": "all"}, samples=samples, model="x/all")
    write_log(tmp_path, "CC", model="x/default")
    table = levels_table(read_records(tmp_path), "ziqi")
    shown = {str(row[1]): [getattr(cell, "value", cell) for cell in row[5:]] for row in table.rows}
    assert shown == {
        "x/single": [100, 75, 25, 50, 25, "Level 5"],
        "x/all": [100, 50, None, None, 0, "Level 5"],
    }
    assert table.columns[5:] == (
        "Level 1",
        "Level 2",
        "Level 3",
        "Level 4",
        "Level 5",
        "Below 50% from",
    )
