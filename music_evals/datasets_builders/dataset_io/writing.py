"""Writing folders whole or not at all, and dataset folders in the layout of the Hugging Face Hub."""

import ctypes
import dataclasses
import fcntl
import glob
import io
import json
import logging
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Audio, Features, Image, Value

from music_evals.datasets_builders.dataset_io.card import make_card
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    FORMAT,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    canary,
    data_file,
    file_sha256,
)
from music_evals.datasets_builders.dataset_io.rows import RowCheck

# Rows held in memory while writing: a row with a file in it may carry megabytes.
_ROWS_PER_GROUP: Final = 1024
_ROWS_WITH_FILES_PER_GROUP: Final = 32
_ASIDE: Final = "-old"  # how the name of a folder ends that is to be put back if its successor does not come
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of fcntl.h and linux/fs.h


class FolderKind(NamedTuple):
    """A kind of folder that we write: the file in it that says so, that file's entry ``format``, and what it holds."""

    record: str
    form: str
    holds: str

    def read_record(self, folder: Path) -> dict[str, Any] | None:
        """Return what a folder says about itself, None if it is not of this kind."""
        try:
            record = json.loads((folder / self.record).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) and record.get("format") == self.form else None


DATASET: Final = FolderKind(PROVENANCE_FILE, FORMAT, "a dataset")


Rows = Mapping[Any, Mapping[Any, Iterable[Mapping[str, Any]]]]
"""Config → split → rows, which are read once and in order, so that a generator need not hold all its audio."""


def check_target(out: Path, *, overwrite: bool = False, kind: FolderKind = DATASET) -> None:
    """Raise DatasetError where a folder may not be written; with `overwrite`, one of ours may be replaced."""
    out = out.expanduser().absolute()
    _put_back(out)
    above = next(folder for folder in out.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise DatasetError(f"{out} cannot be made: {above} is not a folder")
    if not os.access(above, os.W_OK):
        raise DatasetError(f"{out} cannot be made: {above} may not be written to")
    if not os.path.lexists(out) or (out.is_dir() and not any(out.iterdir())):
        return
    if not out.is_dir():
        raise DatasetError(f"{out} is not a folder; give a new or an empty one")
    if kind.read_record(out) is None:
        raise DatasetError(f"{out} is not empty and does not hold {kind.holds} of ours; give a new or an empty folder")
    if not overwrite:
        raise DatasetError(f"{out} already holds {kind.holds}; give another folder, or replace it with --overwrite")


@contextmanager
def written_whole(out: Path, *, overwrite: bool = False, kind: FolderKind = DATASET) -> Iterator[Path]:
    """Yield a new folder that takes the place of `out` when the block ends well, and is gone when it does not.

    It is made beside its target under a hidden name, and then the two change places in one step. An exception, Ctrl-C,
    SIGTERM or SIGHUP removes it; what a killed process left is removed by the next one with the same target. Raises as
    `check_target`.
    """
    out = Path(os.path.realpath(out.expanduser()))
    check_target(out, overwrite=overwrite, kind=kind)
    with _termination_unwinds(), _temporary_sibling(out) as folder:
        yield folder
        check_target(out, overwrite=overwrite, kind=kind)  # somebody may have written there meanwhile
        _move_into_place(folder, out)


def write_dataset(
    out: Path,
    rows: Rows,
    *,
    features: Mapping[str, Features],
    provenance: Provenance,
    overwrite: bool = False,
    extra_files: Mapping[str, bytes] | None = None,
    card: Callable[[Provenance], str] = make_card,
) -> Provenance:
    """Write a dataset folder, all of it or nothing, and return its completed provenance.

    Args:
        out: the folder to write; absent, empty, or (with `overwrite`) a dataset folder of ours.
        rows: config → split → rows, written in order; a split without rows is left out.
        features: config → declared columns.
        provenance: who builds it from what; `counts`, `floors` and `files` are filled here.
        overwrite: whether a dataset folder of ours may be replaced.
        extra_files: further files by path in the folder, such as the licence of the source.
        card: makes the content of ``README.md`` from the completed provenance.

    Raises:
        DatasetError: the target may not be written, a row does not fit its columns, or there are no rows at all.
    """
    # Here, because tasks import this module and SciPy takes a second to load.
    from music_evals.datasets_builders.questions.floors import compute_floors

    with written_whole(out, overwrite=overwrite) as folder:
        counts: dict[str, dict[str, int]] = {}
        files: dict[str, str] = {}
        for config, splits in rows.items():
            for split, some in splits.items():
                path = folder / data_file(config, split)
                if count := write_rows(path, some, features[config], f"{config}/{split}", canary(provenance.benchmark)):
                    counts.setdefault(config, {})[split] = count
                    files[path.relative_to(folder).as_posix()] = file_sha256(path)
        if not counts:
            raise DatasetError(f"nothing to write to {out}: no config has any rows")
        for name, content in (extra_files or {}).items():
            (folder / name).write_bytes(content)
            files[name] = file_sha256(folder / name)
        floors = compute_floors(provenance.benchmark, folder, counts)
        complete = dataclasses.replace(provenance, counts=counts, floors=floors, files=files)
        (folder / CARD_FILE).write_text(card(complete), encoding="utf-8")
        (folder / PROVENANCE_FILE).write_text(complete.to_json(), encoding="utf-8")
    return complete


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], features: Features, where: str, mark: str) -> int:
    """Write rows as one Parquet file, a group at a time, and return how many there are; without rows write no file.

    `where` names them in errors, and `mark` is the canary that the file's metadata hold.
    """
    schema, columns, rows = features.arrow_schema, set(features), iter(rows)
    has_files = any(isinstance(kind, Audio | Image) or kind == Value("binary") for kind in features.values())
    writer: pq.ParquetWriter | None = None
    count, check = 0, RowCheck(features, where)
    try:
        while group := list(islice(rows, _ROWS_WITH_FILES_PER_GROUP if has_files else _ROWS_PER_GROUP)):
            for row in group:
                if set(row) != columns:
                    wrong = ", ".join(sorted(set(row) ^ columns))
                    raise DatasetError(f"{where}, row {row.get('id', count)}: columns missing or unknown: {wrong}")
            check(group)
            try:
                # Straight to Arrow: `Features.encode_example` wants torch for audio that is already encoded.
                table = pa.Table.from_pylist(group, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                ids = f"{group[0].get('id', count)} to {group[-1].get('id', count + len(group) - 1)}"
                raise DatasetError(f"{where}, rows {ids}: a value does not fit its column: {error}") from error
            if writer is None:
                path.parent.mkdir(exist_ok=True)
                file = _Patient(path)
                writer = pq.ParquetWriter(
                    file, schema, compression="zstd", use_content_defined_chunking=True, write_page_index=True
                )
            writer.write_table(table)
            file.check()
            count += len(group)
    finally:
        if writer is not None:
            writer.add_key_value_metadata({"canary": mark})
            writer.close()
            file.close()
    if writer is not None:
        file.check()
    return count


class _Patient(io.RawIOBase):
    """A file that tells of an error in writing when it is asked: Arrow ends the process when it learns of one."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._position = 0
        self._error: OSError | None = None

    def write(self, content: Any) -> int:
        left = memoryview(content).cast("B")
        self._position += len(left)
        try:
            while self._error is None and left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._error = error
        return memoryview(content).nbytes

    def check(self) -> None:
        """Raise the first error that there was."""
        if self._error is not None:
            raise self._error

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _temporary_sibling(out: Path) -> Iterator[Path]:
    """Yield a new hidden folder beside `out`, gone at the end however that comes about."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for left in _left_beside(out):
        if (lock := _lock(left)) is not None:  # abandoned
            with suppress(FileNotFoundError):  # another process has removed it meanwhile
                # Renamed, for what is half removed must not pass for what is to be put back.
                _remove(left.rename(out.parent / f"{_prefix(out)}{secrets.token_hex(4)}"))
            os.close(lock)
    folder, lock = _make_locked_folder(out.parent, _prefix(out))
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


def _prefix(out: Path) -> str:
    return f".{out.name}.partial-"


def _left_beside(out: Path, ending: str = "") -> list[Path]:
    return list(out.parent.glob(f"{glob.escape(_prefix(out))}*{ending}"))


def _remove(folder: Path) -> None:
    """Remove a folder, if it is there; what cannot be removed is said, for the work itself is done."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        logging.getLogger(__name__).warning("%s could not be removed: %s", folder, error)


def _put_back(out: Path) -> None:
    """Put back the folder that `_swap_by_renaming` moved aside and was killed before the new one took its place."""
    for old in [] if os.path.lexists(out) else _left_beside(out, _ASIDE):
        lock = _lock(old)
        if lock is None:  # at work
            continue
        try:
            if not os.path.lexists(out):
                old.rename(out)
        except FileNotFoundError:
            continue  # another process has done it meanwhile
        finally:
            os.close(lock)


def _make_locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder and lock it: the kernel drops the lock with the process, so a lock tells live from abandoned."""
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(4)}"
        folder.mkdir()
        lock = _lock(folder)
        # Another build may have taken the folder for abandoned before the lock was on.
        if lock is not None and folder.exists():
            return folder, lock
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def _termination_unwinds() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that what they interrupt cleans up after itself."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    # A handler that the caller has installed is the caller's decision.
    ours = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _move_into_place(folder: Path, out: Path) -> None:
    """Rename a finished folder to its target; a folder that is there then has the name of the finished one."""
    if not out.exists() or not any(out.iterdir()):
        folder.rename(out)  # POSIX renames over an empty folder
    elif not _exchange(folder, out):
        _swap_by_renaming(folder, out)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where that cannot be done."""
    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except AttributeError:  # no Linux
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(done == 0)  # why it failed, if not for want of support, renaming will say


def _swap_by_renaming(folder: Path, out: Path) -> None:
    """Let two folders change places in three steps; a process that is killed between them leaves both whole."""
    aside = folder.with_name(folder.name + _ASIDE)
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # not abandoned, see `_put_back`
    try:
        out.rename(aside)
        folder.rename(out)
    except BaseException:
        if not os.path.lexists(out):
            aside.rename(out)
        raise
    else:
        aside.rename(folder)
    finally:
        os.close(lock)
