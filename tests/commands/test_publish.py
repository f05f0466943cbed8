"""`music-evals publish`: what it refuses before the Hub is asked; for the rest see test_hub.py of the builders."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from music_evals.commands.main import app
from tests.msu_dataset import score, write_rows, write_small


class NoHub:
    def __init__(self) -> None:
        raise AssertionError("the Hub was asked")


@pytest.fixture(autouse=True)
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", NoHub)


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


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


def test_what_is_no_dataset_is_refused(tmp_path: Path) -> None:
    code, output = run("publish", "msu", "--repo", "ORG/msu", "--dir", tmp_path / "absent", "--yes")
    assert code == 1
    assert f"{tmp_path / 'absent'} is not a folder" in output
    write_small(tmp_path / "msu")
    code, output = run("publish", "muse", "--repo", "ORG/muse", "--dir", tmp_path / "msu", "--yes")
    assert code == 1
    assert "is a dataset of msu, not of muse" in output


def test_own_scores_are_refused(tmp_path: Path) -> None:
    write_rows(tmp_path / "own", {"test": [score("song")]}, {}, source="own-scores")
    code, output = run("publish", "msu", "--repo", "ORG/msu", "--dir", tmp_path / "own", "--yes")
    assert code == 1
    assert "msu from own-scores may not be published: the licences of somebody's own scores are not known" in output
