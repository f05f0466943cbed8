"""Datasets that mirdata fetches: from addresses on this machine, once, with a warning for files that
are not as its index says.
"""

import subprocess
import sys
import zipfile
from hashlib import md5

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError, FetchError, describe_dataset
from music_evals.evals.registry import dataset_module
from tests import mirdata_sets

mirdata = pytest.importorskip("mirdata", reason="needs the extra 'mir'")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def serve(source, archive, monkeypatch):
    """Have mirdata's loader of vocadito fetch a zip of a folder, and its index, from files."""
    from mirdata.datasets import vocadito
    from mirdata.download_utils import RemoteFileMetadata

    index = source / "vocadito_index_1.0.json"
    with zipfile.ZipFile(archive, "w") as out:
        for path in source.rglob("*"):
            if path != index:
                out.write(path, path.relative_to(source))

    def remote(path):
        checksum = md5(path.read_bytes()).hexdigest()
        return RemoteFileMetadata(path.name, path.as_uri(), checksum)

    monkeypatch.setattr(vocadito, "REMOTES", {"zenodo": remote(archive)})
    monkeypatch.setattr(vocadito.INDEXES["1.0"], "remote", remote(index))
    monkeypatch.setattr(vocadito.INDEXES["1.0"], "indexes_dir", "")


def published():
    return describe_dataset("published", benchmark=dataset_module("vocadito").BENCHMARK)


def test_files_that_differ_from_the_index_are_named(tmp_path, monkeypatch, capsys):
    source = mirdata_sets.vocadito(tmp_path / "source")
    (source / "lyrics.txt").write_text("other words")
    serve(source, tmp_path / "vocadito.zip", monkeypatch)
    published()
    shown = capsys.readouterr().err
    assert "warning: 1 files of mirdata's vocadito are not as its index says: " in shown
    assert "lyrics.txt" in shown


def test_an_address_without_an_answer_is_one_line(tmp_path, monkeypatch):
    source = mirdata_sets.vocadito(tmp_path / "source")
    serve(source, tmp_path / "vocadito.zip", monkeypatch)
    (tmp_path / "vocadito.zip").unlink()
    with pytest.raises(FetchError, match=r"^mirdata's vocadito: the connection failed"):
        published()


def test_a_dataset_that_cannot_be_fetched_says_why():
    with pytest.raises(DatasetError, match=r"^the recordings of Hainsworth cannot be fetched"):
        describe_dataset("published", benchmark=dataset_module("hainsworth").BENCHMARK)


def test_an_index_without_an_address_has_to_be_in_the_folder(tmp_path):
    with pytest.raises(
        DatasetError, match=r"copy hainsworth_full_index_1\.0\.json from tests/indexes"
    ):
        describe_dataset(str(tmp_path), benchmark=dataset_module("hainsworth").BENCHMARK)


def test_mirdata_is_not_loaded_with_the_tasks_and_sets_up_no_logging():
    script = (
        "import logging, sys, music_evals.evals.registry\n"
        "assert not {'mirdata', 'librosa'} & {*sys.modules}\n"
        "from music_evals.datasets_builders.dataset_io.mirdata_sets import _initialize\n"
        "before = logging.getLogger().handlers[:], logging.getLogger().level\n"
        "_initialize('vocadito', '1.0', '.')\n"
        "assert before == (logging.getLogger().handlers, logging.getLogger().level)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
