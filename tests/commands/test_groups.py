"""Groups of tasks, listed and run by their names."""

from dataclasses import replace

import pytest

from music_evals import benchmarks
from music_evals.benchmarks.groups import load_groups
from music_evals.datasets_builders.dataset_io import FetchError, loading
from tests.commands.cli import lines_of_table, run


@pytest.mark.parametrize("name", load_groups())
def test_a_group_has_titles_of_its_own_and_figures_that_were_published(name):
    columns = load_groups()[name].columns
    assert len({column.title for column in columns}) == len(columns) > 1
    for column in columns:
        if column.published:
            table = benchmarks.published(column.task.benchmark, column.table)
            assert column.published in table.rows[0].figures, column.title


def asked(*words):
    """The tasks that a dry run shows, with their parameters."""
    code, output = run("run", *words, "--model", "baseline/chance", "--dry-run")
    assert code == 0
    return [row[1] for row in lines_of_table(output) if "_" in row[1]]


@pytest.fixture
def quick(monkeypatch):
    """Three columns of the group, of two benchmarks."""
    group = load_groups()["text"]
    columns = {column.task.name: column for column in group.columns}
    names = ("syncopation", "chord_quality", "knowledge")
    small = replace(group, columns=[columns[name] for name in names])
    monkeypatch.setattr("music_evals.commands.run.load_groups", lambda: {"quick": small})


@pytest.mark.usefixtures("quick")
def test_data_that_cannot_be_fetched_is_asked_for_once_and_stops_no_other_task(
    monkeypatch,
):
    tried = []

    def refuse(name, _):
        tried.append(name)
        raise FetchError(f"no answer for {name}")

    monkeypatch.setattr(loading, "published_files", refuse)
    code, output = run("run", "quick", "--published", "--model", "baseline/chance", "--dry-run")
    assert (code, tried) == (1, ["muse", "musictheorybench"])
    assert "no answer for muse; no answer for musictheorybench" in output


def test_a_name_that_is_near_a_group_is_proposed():
    code, output = run("run", "sounds", "--model", "baseline/chance")
    assert code == 2
    assert "did you mean sound?" in output
    assert "groups: sound, text, scores, quick" in " ".join(output.split())
