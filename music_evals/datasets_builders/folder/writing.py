"""Writing folders whole or not at all, and dataset folders in the layout of the Hugging Face Hub."""

import dataclasses
import fcntl
import glob
import json
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import FrameType, NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, TypedDict, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Audio, Features, Image, List, Value

from music_evals.datasets_builders.folder.card import make_card
from music_evals.datasets_builders.folder.provenance import (
    CARD_FILE,
    FORMAT,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    file_sha256,
)

# Rows held in memory while writing: a row with a file in it may carry megabytes.
_ROWS_PER_GROUP: Final = 1024
_ROWS_WITH_FILES_PER_GROUP: Final = 32
_COLUMNS: Final = {str: "string", int: "int64", float: "float64", bool: "bool", bytes: "binary"}


class FolderKind(NamedTuple):
    """A kind of folder that we write: the file in it that says so, that file's entry ``format``, and what it holds."""

    record: str
    form: str
    holds: str

    def read_record(self, folder: Path) -> dict[str, Any] | None:
        """Return what a folder says about itself, None if it is not of this kind."""
        try:
            record = json.loads((folder / self.record).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and record.get("format") == self.form else None


DATASET: Final = FolderKind(PROVENANCE_FILE, FORMAT, "a dataset")


class FileCell(TypedDict):
    """An audio or image file as `datasets` stores it: its bytes, and no path."""

    bytes: bytes
    path: None


Rows = Mapping[Any, Mapping[Any, Iterable[Mapping[str, Any]]]]
"""Config → split → rows, which are read once and in order, so that a generator need not hold all its audio."""


def features_of(row: type, **columns: Any) -> Features:
    """Declare the columns of a `TypedDict` of texts, bytes, numbers, lists of these, and any of them or None.

    `columns` gives those of any other kind, as for audio and images; a literal is a text.

    >>> from typing import TypedDict
    >>> features_of(TypedDict("Row", {"id": str, "pitches": list[int] | None}))
    {'id': Value('string'), 'pitches': List(Value('int64'))}
    """
    return Features({name: columns.get(name) or _column(kind) for name, kind in get_type_hints(row).items()})


def _column(kind: Any) -> Value | List:
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is list:
        return List(_column(get_args(kind)[0]))
    return Value("string" if get_origin(kind) is Literal else _COLUMNS[kind])


def check_target(out: Path, *, overwrite: bool = False, kind: FolderKind = DATASET) -> None:
    """Raise DatasetError where a folder may not be written; with `overwrite`, one of ours may be replaced."""
    out = out.expanduser().absolute()
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
        raise DatasetError(f"{out} already holds {kind.holds}; give another folder, or allow it to be overwritten")


@contextmanager
def written_whole(out: Path, *, overwrite: bool = False, kind: FolderKind = DATASET) -> Iterator[Path]:
    """Yield a new folder that takes the place of `out` when the block ends well, and is gone when it does not.

    It is made beside its target under a hidden name and then renamed. An exception, Ctrl-C, SIGTERM or SIGHUP removes
    it; what a killed process left is removed by the next one with the same target. Raises as `check_target`.
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
        provenance: who builds it from what; `counts` and `files` are filled here.
        overwrite: whether a dataset folder of ours may be replaced.
        extra_files: further files by path in the folder, such as the licence of the source.
        card: makes the content of ``README.md`` from the completed provenance.

    Raises:
        DatasetError: the target may not be written, a row does not fit its columns, or there are no rows at all.
    """
    with written_whole(out, overwrite=overwrite) as folder:
        counts: dict[str, dict[str, int]] = {}
        files: dict[str, str] = {}
        for config, splits in rows.items():
            for split, some in splits.items():
                path = folder / config / f"{split}-00000-of-00001.parquet"
                if count := _write_rows(path, some, features[config], f"{config}/{split}"):
                    counts.setdefault(config, {})[split] = count
                    files[path.relative_to(folder).as_posix()] = file_sha256(path)
        if not counts:
            raise DatasetError(f"nothing to write to {out}: no config has any rows")
        for name, content in (extra_files or {}).items():
            (folder / name).write_bytes(content)
            files[name] = file_sha256(folder / name)
        complete = dataclasses.replace(provenance, counts=counts, files=files)
        (folder / CARD_FILE).write_text(card(complete), encoding="utf-8")
        (folder / PROVENANCE_FILE).write_text(complete.to_json(), encoding="utf-8")
    return complete


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]], features: Features, where: str) -> int:
    """Write rows as one Parquet file, a group at a time; without rows write no file."""
    schema, columns, rows = features.arrow_schema, set(features), iter(rows)
    has_files = any(isinstance(kind, Audio | Image) or kind == Value("binary") for kind in features.values())
    writer: pq.ParquetWriter | None = None
    count = 0
    try:
        while group := list(islice(rows, _ROWS_WITH_FILES_PER_GROUP if has_files else _ROWS_PER_GROUP)):
            for row in group:
                if set(row) != columns:
                    wrong = ", ".join(sorted(set(row) ^ columns))
                    raise DatasetError(f"{where}, row {row.get('id', count)}: columns missing or unknown: {wrong}")
            try:
                # Straight to Arrow: `Features.encode_example` wants torch for audio that is already encoded.
                table = pa.Table.from_pylist(group, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                ids = f"{group[0].get('id', count)} to {group[-1].get('id', count + len(group) - 1)}"
                raise DatasetError(f"{where}, rows {ids}: a value does not fit its column: {error}") from error
            if writer is None:
                path.parent.mkdir(exist_ok=True)
                writer = pq.ParquetWriter(
                    path, schema, compression="zstd", use_content_defined_chunking=True, write_page_index=True
                )
            writer.write_table(table)
            count += len(group)
    finally:
        if writer is not None:
            writer.close()
    return count


@contextmanager
def _temporary_sibling(out: Path) -> Iterator[Path]:
    """Yield a new hidden folder beside `out`, gone at the end however that comes about."""
    out.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{out.name}.partial-"
    for left in out.parent.glob(f"{glob.escape(prefix)}*"):
        if (lock := _lock(left)) is not None:  # abandoned
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    folder, lock = _make_locked_folder(out.parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
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
    """Rename a finished folder to its target, replacing a folder that is there."""
    if not out.exists() or not any(out.iterdir()):
        folder.rename(out)  # POSIX renames over an empty folder
        return
    old = out.with_name(f"{folder.name}-old")
    out.rename(old)
    try:
        folder.rename(out)
    except BaseException:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)
