"""Folders appear whole or not at all, and only folders of the same kind are replaced."""

import os
import resource
from random import Random

import pytest
from datasets import Features, Value

from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    FolderKind,
    Provenance,
    check_target,
    replace_folder,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.folders import replace_file

LETTERS = FolderKind("letters", "kind.json", '"letters"')
LISTS = FolderKind("lists", "*/*.yaml", contents=("*/*.yaml",))


def write(path, letter, overwrite=True):
    """Write a folder of three files, each with a letter in it."""
    with replace_folder(path, LETTERS, overwrite=overwrite) as folder:
        (folder / "deep").mkdir()
        for name in ("one", "deep/two"):
            (folder / name).write_text(letter)
        (folder / "kind.json").write_text('{"kind": "letters"}')


def letters(path):
    """The letters in a folder; none if there is no folder."""
    if not path.exists():
        return set()
    assert sorted(os.listdir(path)) == ["deep", "kind.json", "one"]
    return {(path / name).read_text() for name in ("one", "deep/two")}


def in_child(work):
    """Do work in a process of its own, and return its exit code: 0, 1 after an error, or a negative
    signal.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_kill_between_the_renamings_loses_nothing(tmp_path):
    path, partial = tmp_path / "out", tmp_path / ".out.partial"
    write(path, "a")
    partial.mkdir()
    path.rename(partial / "old")
    with pytest.raises(DatasetError, match="already holds letters"):
        write(path, "b", overwrite=False)
    assert letters(path) == {"a"}
    partial.mkdir()
    path.rename(partial / "old")
    with pytest.raises(TypeError):
        write(path, None)  # type: ignore[arg-type]
    assert letters(path) == {"a"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    """No file may grow beyond 10 kB, which a process learns by the same kind of error as of a full
    disk.
    """
    path = tmp_path / "out"
    write(path, "a")

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        write(path, "b" * 20_000)

    assert in_child(fill) == 1
    assert letters(path) == {"a"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_disk_leaves_no_dataset(tmp_path):
    """Arrow writes to the full disk here; it must neither end the process nor leave a file."""

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        rows = {
            "letters": {
                "test": ({"id": str(n), "data": Random(n).randbytes(5000)} for n in range(200))
            }
        }
        features = {"letters": Features({"id": Value("string"), "data": Value("binary")})}
        provenance = Provenance("letters", "1.0", source="generated", licence="mit")
        with pytest.raises(OSError, match="too large"):
            write_dataset(tmp_path / "out", rows, features=features, provenance=provenance)

    assert in_child(fill) == 0
    assert os.listdir(tmp_path) == []


def test_one_process_writes_a_target_at_a_time(tmp_path):
    path = tmp_path / "out"
    with (
        replace_folder(path, LETTERS) as folder,
        pytest.raises(DatasetError, match="another process is writing"),
        replace_folder(path, LETTERS),
    ):
        pass
    assert not folder.exists()
    assert path.exists()


def test_a_folder_of_another_kind_is_never_replaced(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "kind.json").write_text("{}")
    write(tmp_path / "out", "a")
    for overwrite in (False, True):
        for name, message in (
            ("file", "file is not a folder; give a new or an empty one"),
            ("file/new", "file is not a folder"),
            ("thesis", "thesis is not empty and does not hold letters of ours"),
        ):
            with pytest.raises(DatasetError, match=message):
                check_target(tmp_path / name, LETTERS, overwrite=overwrite)
    with pytest.raises(
        DatasetError,
        match="out already holds letters; give another folder, or replace it with --over",
    ):
        write(tmp_path / "out", "b", overwrite=False)
    (tmp_path / "link").symlink_to("out")
    write(tmp_path / "link", "b")
    assert letters(tmp_path / "out") == {"b"}
    (tmp_path / "lists" / "a").mkdir(parents=True)
    (tmp_path / "lists" / "a" / "b.yaml").touch()
    check_target(tmp_path / "lists", LISTS, overwrite=True)
    (tmp_path / "lists" / "notes.txt").touch()
    with pytest.raises(DatasetError, match="does not hold lists of ours"):
        check_target(tmp_path / "lists", LISTS, overwrite=True)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    def write_file(letter, problem=""):
        with replace_file(tmp_path / "letter") as file:
            file.write_text(letter)
            if problem:
                raise OSError(problem)

    write_file("a")
    with pytest.raises(OSError, match="disk"):
        write_file("b", "disk")
    assert (tmp_path / "letter").read_text() == "a"
    assert os.listdir(tmp_path) == ["letter"]


def test_a_full_disk_ends_a_large_dataset_with_an_error(tmp_path):
    features = {"task": Features({"id": Value("string"), "sound": Value("binary")})}
    random = Random(1)
    rows = [{"id": str(number), "sound": random.randbytes(100_000)} for number in range(100)]
    provenance = Provenance("muse", "1.0", source="generated", licence="mit", seed=7)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        with pytest.raises(OSError, match="File too large"):
            write_dataset(
                tmp_path / "out", {"task": {"test": rows}}, features=features, provenance=provenance
            )

    assert in_child(fill) == 0
    assert os.listdir(tmp_path) == []
