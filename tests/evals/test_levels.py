"""Levels of difficulty: a dataset a level, and one task of all levels."""

from collections import Counter

import pytest

from music_evals.datasets_builders import musictheorybench as builder
from music_evals.evals import musictheorybench, nsynth
from music_evals.evals.shared.parameters import ParameterError
from music_evals.reports.records import read_records
from tests.commands.cli import run

ROWS = 12


@pytest.fixture(autouse=True)
def few_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "LEVEL_ROWS", builder.EXAMPLES + ROWS)
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "cache"))


def test_a_task_of_all_levels_has_the_samples_of_each():
    task = musictheorybench.reasoning(level="all")
    samples = [*task.dataset]
    levels = Counter((sample.metadata or {})["ladder_level"] for sample in samples)
    assert levels == {1: 60, 2: ROWS, 3: ROWS, 4: ROWS, 5: ROWS}
    assert len({sample.id for sample in samples}) == len(samples)
    third = {sample.id: sample.choices for sample in musictheorybench.reasoning(level=3).dataset}
    of_all = {sample.id: sample.choices for sample in samples}
    assert all(choices == of_all[f"level3-{name}"] for name, choices in third.items())
    assert (task.metadata or {})["condition"] == {"level": "all"}


def test_a_report_has_the_score_and_the_floors_of_each_level(tmp_path):
    logs = tmp_path / "logs"
    arguments = ("-T", "level=all", "--log-dir", logs, "--display", "none")
    code, output = run(
        "run", "musictheorybench_reasoning", "--model", "baseline/majority", *arguments
    )
    assert code == 0, output
    scores = read_records(logs).scores
    groups = scores[scores["group"].str.startswith("ladder_level=")]
    measured = groups[groups["source"] == "measured"]
    assert measured.set_index("group")["n"].to_dict() == {
        "ladder_level=1": 60,
        **{f"ladder_level={level}": ROWS for level in (2, 3, 4, 5)},
    }
    chance = groups.query("floor == 'chance'")
    assert chance["value"].tolist() == [0.25] * 5


def test_levels_are_of_generated_data_and_of_some_tasks(tmp_path):
    with pytest.raises(ParameterError, match="level=2 is valid with dataset=generated; dataset is"):
        musictheorybench.reasoning(level=2, dataset=str(tmp_path))
    with pytest.raises(ParameterError, match="tasks of musictheorybench with levels are: reasonin"):
        musictheorybench.knowledge(level=2)
    with pytest.raises(ParameterError, match="valid values are: 1, 2, 3, 4, 5, all"):
        musictheorybench.reasoning(level=6)
    with pytest.raises(ParameterError, match="there is no parameter level"):
        nsynth.source(level=2)


def test_a_level_is_built_as_a_folder(tmp_path):
    out = tmp_path / "level 3"
    code, output = run("build", "level", "musictheorybench", "3", "--out", out)
    assert code == 0, output
    task = musictheorybench.reasoning(dataset=str(out))
    assert [sample.id for sample in task.dataset] == [
        sample.id for sample in musictheorybench.reasoning(level=3).dataset
    ]
    for words, message in ((("nsynth", "3"), "has no levels"), (("nobody", "3"), "no dataset")):
        code, output = run("build", "level", *words, "--out", tmp_path / "other")
        assert (code, message in output) == (2, True)
