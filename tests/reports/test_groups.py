"""The table of a group of tasks, from logs that are made here."""

from music_evals.benchmarks.groups import load_groups
from music_evals.reports.records import read_records
from music_evals.reports.report import make_report
from music_evals.reports.tables.groups import beside_published, group_tables
from music_evals.scorers.metrics.estimates import Estimate
from tests.reports.logs import write_log

MODEL = "vllm/org/model"


def write(folder, benchmark, task, values, **options):
    write_log(folder, values, benchmark=benchmark, task=task, **options)  # type: ignore[arg-type]


def test_a_group_has_a_table_once_two_of_its_tasks_were_run(tmp_path):
    write(tmp_path, "mmau", "music", "CCCI")
    assert group_tables(read_records(tmp_path)) == []
    write(tmp_path, "gtzan_genre", "genre", "CI")
    (table,) = group_tables(read_records(tmp_path))
    # Columns in the order of the group; published rows first.
    assert (table.name, table.columns[4:]) == ("group_sound", ("MMAU-music", "GTZAN"))
    rows = {(row[0], row[1]): row[4:] for row in table.rows}
    measured = rows[MODEL, "measured"]
    assert [cell.value for cell in measured if isinstance(cell, Estimate)] == [75.0, 50.0]
    assert rows["MOSS-Music-8B-Instruct", "MOSS-Music README"] == [
        Estimate(80.78, decimals=2),
        Estimate(93.59, decimals=2),
    ]
    assert rows["Gemini 2.5 Pro", "Qwen3-Omni README"] == [None, Estimate(81.0, decimals=2)]
    assert table.rows[-1][:4] == [MODEL, "measured", "default", "generated-seed1"]
    assert any(
        note.startswith("GTZAN: github.com/OpenMOSS/MOSS-Music, README.md at commit")
        for note in table.notes
    )


def test_a_column_shows_runs_with_its_parameters_and_the_nearest_to_the_defaults(
    tmp_path,
):
    by_modality = {"midi": "CC", "audio": "II"}
    for modality, values in by_modality.items():
        write(tmp_path, "muse", "syncopation", values, params={"modality": modality})
    write(tmp_path, "musictheorybench", "knowledge", "CI")
    write(tmp_path, "musictheorybench", "knowledge", "CC", params={"shots": "few"}, day=2)
    tables = {table.name: table for table in group_tables(read_records(tmp_path))}
    table = tables["group_text"]
    assert table.columns[4:] == ("MusicTheoryBench knowledge", "MUSE syncopation")
    (row,) = table.rows
    assert [cell.value for cell in row if isinstance(cell, Estimate)] == [50.0, 100.0]
    assert all(cell.mark == "†" for cell in row if isinstance(cell, Estimate))


def test_the_report_has_the_groups_behind_the_summary(tmp_path):
    write(tmp_path, "mmau", "music", "CI")
    write(tmp_path, "mmar", "music", "CI")
    sections, left_out = make_report(read_records(tmp_path))
    assert [section.name for section in sections[:2]] == ["summary", "groups"]
    assert not left_out


def test_a_run_of_a_group_ends_with_its_tasks_beside_what_others_published(tmp_path):
    write(tmp_path, "gtzan_genre", "genre", "CI")
    group = load_groups()["sound"]
    table = beside_published(read_records(tmp_path), group)
    assert table.columns == ["Task", MODEL, "Published"]
    assert [row[0] for row in table.rows] == [column.title for column in group.columns]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["GTZAN"][0].value == 50
    assert "Kimi-Audio-7B-Instruct 39.54; Qwen3-Omni README: " in rows["GTZAN"][1]
    assert rows["MMAU-music"][0] is None
    assert rows["Ballroom beats"][1] == ""
