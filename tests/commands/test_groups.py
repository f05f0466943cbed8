"""Groups of tasks, listed and run by their names."""

import tomllib
from dataclasses import replace
from importlib.resources import files

import pytest
from typer import BadParameter

from music_evals import benchmarks
from music_evals.benchmarks.groups import load_groups
from music_evals.commands.chosen_tasks import as_reported, fetchable
from music_evals.datasets_builders.dataset_io import FetchError, loading
from music_evals.evals.registry import defaults_of
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


REPORTS = sorted((files(benchmarks) / "reports").iterdir(), key=str)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_what_a_report_states_fits_the_tasks(path):
    report = tomllib.loads(path.read_text())
    assert all(report[key] for key in ("title", "source", "stated"))
    for name, about in report["benchmarks"].items():
        assert all(about[key] for key in ("stated", "not_stated")), name
        parameters = about.get("parameters", {})
        for task in benchmarks.load(name).tasks if parameters else ():
            assert parameters.keys() <= defaults_of(name, task).keys()


def test_tasks_are_asked_as_a_report_states(capsys):
    names = ("rul_muchomusic", "gtzan_genre", "ballroom_beats")
    chosen = [(benchmarks.tasks_named(name)[0], {"seconds": 30}) for name in names]
    asked = [own for _, own in as_reported("qwen3-omni", chosen)]
    assert asked == [{"seconds": 30, "prompt": "paper"}, {"seconds": 30}, {"seconds": 30}]
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.startswith("Qwen3-Omni (arXiv 2509.17765")
    assert lines[1].startswith("  gtzan_genre: the test set of MARBLE; not stated: prompt")
    assert lines[2] == "  ballroom_beats: not in the report; not stated: anything"
    with pytest.raises(BadParameter, match="'gpt' is none of moss-music, music-flamingo, qwen3"):
        as_reported("gpt", chosen)


def test_what_is_fetched_is_said_first_and_a_task_without_recordings_is_left_out(capsys):
    chosen = [(column.task, {}) for column in load_groups()["sound"].columns]
    remaining = fetchable(chosen, {"dataset": "published"})
    names = [task.registry_name for task, _ in remaining]
    assert names[:3] == ["mmau_music", "mmau_pro_music", "mmar_music"]
    assert not {"mtg_jamendo_genre", "lyrics_musdb18", "musica_sound"} & {*names}
    output = capsys.readouterr().out
    assert "47.5 GB; CC BY-NC 4.0, non-commercial use only" in output
    assert "get them by the script of github.com/MTG/mtg-jamendo-dataset" in output
    # As text alone, everything is asked.
    assert fetchable(chosen, {"dataset": "published", "stimulus": "none"}) == chosen
