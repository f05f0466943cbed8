"""A dataset folder is checked against what it says about itself."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from music_evals.datasets_builders.dataset_io import DatasetError, file_sha256
from music_evals.datasets_builders.dataset_io.check import check_folder
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.ziqi import dataset as ziqi

DATA = "comprehension/test-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder") / "ziqi"
    ziqi.write(ziqi.build_generated(3, theory=8, continuation=0), folder)
    return folder


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return damage


def without_a_column(folder: Path) -> None:
    """Rewrite the test split without a column, and the provenance to match."""
    table = pq.read_table(folder / DATA).drop_columns(["language"])
    pq.write_table(table, folder / DATA)
    made = json.loads((folder / "provenance.json").read_text())
    made["files"][DATA] = file_sha256(folder / DATA)
    (folder / "provenance.json").write_text(json.dumps(made))


def lost_a_byte(folder: Path) -> None:
    (folder / DATA).write_bytes((folder / DATA).read_bytes()[:-1])


def test_a_whole_folder_passes(whole: Path) -> None:
    assert check_folder(whole, ziqi.BENCHMARK).counts["comprehension"]["test"] == 16  # eight questions, two languages


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / DATA).unlink(), f"it lacks {DATA}"),
        (lost_a_byte, "is not the file that its provenance.json names"),
        (lambda folder: (folder / "notes.txt").touch(), "its provenance.json does not name 'notes.txt'"),
        (lambda folder: (folder / ".cache").mkdir(), "the folder '.cache' does not belong to it"),
        (lambda folder: (folder / "more").symlink_to(folder / "comprehension"), "'more' is a link, or no regular file"),
        (
            edit("provenance.json", '"files": {', f'"files": {{".env": "{"0" * 64}", '),
            "it is no path of a dataset folder",
        ),
        (without_a_column, "lacks the columns language (built by version"),
        (
            edit("provenance.json", '"test": 16', '"test": 17'),
            "has 16 rows, its provenance.json says 17",
        ),
        (lambda folder: (folder / "README.md").write_text("# Music\n"), "the header of README.md lacks license, lang"),
        (lambda folder: (folder / "README.md").write_text("---\n: : :\n---\n"), "the header of README.md cannot be re"),
        (edit("README.md", "license: other\n", ""), "the header of README.md lacks license;"),
        (edit("README.md", "license: other", "license: mit"), "the licence is mit, its provenance.json says other"),
        (edit("README.md", "config_name: comp", "config_name: gen"), "the configs in the header of README.md are not"),
        (lambda folder: (folder / "provenance.json").unlink(), "is no dataset of ours: it has no provenance.json"),
    ],
)
def test_a_damaged_folder_is_refused_by_name(
    whole: Path, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "ziqi"
    shutil.copytree(whole, folder)
    damage(folder)
    with pytest.raises(DatasetError) as caught:
        check_folder(folder, ziqi.BENCHMARK)
    assert message in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_folder_of_another_benchmark_is_refused(whole: Path) -> None:
    with pytest.raises(DatasetError, match="is a dataset of ziqi, not of muse"):
        check_folder(whole, muse.BENCHMARK)
