"""Levels of difficulty: a dataset a level, and one task of all levels."""

import pytest

from music_evals.datasets_builders import musictheorybench as builder
from music_evals.evals import musictheorybench, nsynth
from music_evals.evals.shared.parameters import ParameterError
from tests.commands.cli import run

ROWS = 12


@pytest.fixture(autouse=True)
def few_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "LEVEL_ROWS", builder.EXAMPLES + ROWS)
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "cache"))


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
