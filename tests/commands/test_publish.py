"""`music-evals publish`: what it refuses before the Hub is asked; for the rest see test_hub.py of the builders."""

from pathlib import Path

import pytest
from huggingface_hub import HfApi

from tests.commands.cli import run
from tests.msu_dataset import question, score, write_rows, write_small


class NoHub:
    def __init__(self) -> None:
        raise AssertionError("the Hub was asked")


@pytest.fixture(autouse=True)
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", NoHub)


def test_names_that_are_none_are_refused(tmp_path: Path) -> None:
    write_small(tmp_path / "msu")
    code, output = run("publish", "songs", "--repo", "ORG/songs")
    assert code == 2
    assert "accepted: lilybench, lilybench-generation, msu, " in output
    for repo in ("msu", "ORG/msu/more", "ORG/..", "https://huggingface.co/ORG/msu", "ORG/m u", "ÖRG/msu"):
        code, output = run("publish", "msu", "--repo", repo, "--dir", tmp_path / "msu")
        assert code == 1
        assert "names no repository of the Hub; write ORG/REPO" in output
    for branch in ("refs/pr/1", "0123456789012345678901234567890123456789", "a..b", ""):
        code, output = run("publish", "msu", "--repo", "ORG/msu", "--revision", branch, "--dir", tmp_path / "msu")
        assert code == 1
        assert "names no branch" in output


def test_what_is_no_dataset_or_not_free_is_refused(tmp_path: Path) -> None:
    write_small(tmp_path / "msu")
    write_rows(tmp_path / "own", {"test": [score("song")]}, {}, source="own-scores")
    for benchmark, folder, said in (
        ("msu", "absent", f"{tmp_path / 'absent'} is not a folder"),
        ("muse", "msu", "is a dataset of msu, not of muse"),
        ("msu", "own", "from own-scores may not be published: the licences of somebody's own scores are not known"),
    ):
        code, output = run("publish", benchmark, "--repo", "ORG/msu", "--dir", tmp_path / folder, "--yes")
        assert (code, said in output) == (1, True), output


def test_secrets_are_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery")
    for number, (what, secret) in enumerate(
        (("a token of GitHub", f"ghp_{'a1' * 18}"), ("the value of SOME_API_KEY", "correct horse battery"))
    ):
        folder = tmp_path / str(number)
        asked = question("song", 0, question=f"Is it {secret}?")
        write_rows(folder, {"test": [score("song")]}, {"test": [asked]})
        code, output = run("publish", "msu", "--repo", "ORG/msu", "--dir", folder, "--yes")
        assert code == 1
        assert f"questions/test-00000-of-00001.parquet, row song-level1-1, holds {what}; take it out" in output
        assert secret not in output


def test_without_a_connection_a_dry_run_tells_what_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", HfApi)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    write_small(tmp_path / "msu")
    asked = ("publish", "msu", "--repo", "ORG/msu", "--dir", tmp_path / "msu")
    code, output = run(*asked)
    assert code == 0, output
    assert "datasets/ORG/msu (its state is not known), branch main" in output
    assert "scores/test-00000-of-00001.parquet" in output
    assert "The Hub cannot be reached" in output
    code, output = run(*asked, "--yes")
    assert (code, "nothing was published" in output) == (1, True), output
