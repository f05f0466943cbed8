"""Folders and files that appear completely or not at all: they are written beside their target and
then renamed.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from music_evals.datasets_builders.dataset_io.provenance import (
    FORMAT,
    PROVENANCE_FILE,
    DatasetError,
)


class FolderKind(NamedTuple):
    """A kind of folder; ``--overwrite`` replaces a folder of the same kind and no other."""

    name: str  # with its article, for messages
    marker: str  # pattern of a file that every such folder holds
    text: str = ""  # text in that file
    contents: tuple[str, ...] = ("*",)  # patterns of all files that such a folder may hold

    def describes(self, folder: Path) -> bool:
        """Return whether a folder is of this kind."""
        files = [
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
        ]
        if not all(any(fnmatchcase(file, pattern) for pattern in self.contents) for file in files):
            return False
        markers = [folder / file for file in files if fnmatchcase(file, self.marker)]
        return any(
            self.text in marker.read_text(encoding="utf-8", errors="replace") for marker in markers
        )


DATASET = FolderKind("a dataset", PROVENANCE_FILE, FORMAT)


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files of a folder and of the folders in it, by their paths within it."""
    paths = sorted(folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): path for path in paths if path.is_file()}


def check_target(path: Path, kind: FolderKind = DATASET, *, overwrite: bool = False) -> None:
    """Raise DatasetError unless `replace_folder` may write a folder: call it before work that takes
    long.
    """
    path = path.expanduser().absolute()
    parent = next(folder for folder in path.parents if folder.exists())
    if not parent.is_dir():
        raise DatasetError(f"{path} cannot be made: {parent} is not a folder")
    try:
        TemporaryDirectory(dir=parent).cleanup()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be made: {parent} cannot be written to ({error.strerror})"
        ) from None
    if os.path.lexists(path) and not path.is_dir():
        raise DatasetError(f"{path} is not a folder; give a new or an empty one")
    if not path.exists() or not any(path.iterdir()):
        return
    if not kind.describes(path):
        raise DatasetError(
            f"{path} is not empty and does not hold {kind.name} of ours; give a new or an empty "
            "folder"
        )
    if not overwrite:
        raise DatasetError(
            f"{path} already holds {kind.name}; give another folder, or replace it with --overwrite"
        )


@contextmanager
def replace_folder(
    path: Path, kind: FolderKind = DATASET, *, overwrite: bool = False
) -> Iterator[Path]:
    """Yield an empty folder that becomes `path` when the block ends; after an error, `path` is as
    it was.

    The folder is made in a hidden one beside its target, ``.NAME.partial``. If the process is
    killed, the hidden folder stays, and the next call for the same target removes it.

    Args:
        path: the target; absent or empty, or with `overwrite` a folder of the same kind.
        kind: what is written.
        overwrite: whether a folder of the same kind is replaced.

    Raises:
        DatasetError: as `check_target`, or if another process is writing the same target.
    """
    path = Path(os.path.realpath(path.expanduser()))
    check_target(path, kind, overwrite=overwrite)
    with locked_folder(path.with_name(f".{path.name}.partial")) as partial:
        new, old = partial / "new", partial / "old"
        # A process was killed between the two renamings below.
        if old.exists() and not path.exists():
            old.rename(path)
            check_target(path, kind, overwrite=overwrite)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir()
        yield new
        check_target(path, kind, overwrite=overwrite)
        if path.exists():
            path.rename(old)
        new.rename(path)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file that becomes `path` when the block ends; after an error, `path` is
    as it was.

    The file is made in a hidden folder beside its target, which goes as that of `replace_folder`
    does.
    """
    with locked_folder(path.with_name(f".{path.name}.partial")) as folder:
        yield folder / path.name
        os.replace(folder / path.name, path)


@contextmanager
def locked_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for one process at a time and remove it afterwards; the lock ends with the
    process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise DatasetError(f"another process is writing {folder}; wait until it ends") from error
    except OSError:
        pass  # a file system without locks
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
