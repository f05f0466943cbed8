"""The store: dataset folders in the layout of the Hugging Face Hub, written whole or not at all, and loaded.

A dataset folder holds one Parquet file a config and split (``<config>/<split>-00000-of-00001.parquet``), a card
(``README.md``, whose header lets `datasets.load_dataset` find the files) and ``provenance.json``, which says who
built it from what. Anything with a provenance file is a dataset of ours, anything without is not.

A benchmark hands itself over as a `Benchmark` value: its columns and the function that builds its default
generated dataset. The store knows no benchmark by name.
"""

import dataclasses
import fcntl
import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Audio, Dataset, Features, Image, Value
from filelock import FileLock

from music_evals.notation.cache import cache_folder

GENERATED = "generated"
"""Name of the dataset that is made on this machine, and the `Provenance.source` of every generated dataset."""

PROVENANCE_FILE = "provenance.json"
CARD_FILE = "README.md"
FORMAT = "music-evals dataset folder, version 1"
"""First entry of ``provenance.json``: what a folder must say to count as ours."""

ACCEPTED = f"'{GENERATED}', a dataset folder (as `music-evals build` writes it) or hf://datasets/ORG/NAME[@REVISION]"

# Rows held in memory while writing: a row with a file in it may carry megabytes.
_ROWS_PER_GROUP = 1024
_ROWS_WITH_FILES_PER_GROUP = 32
_HUB_URI = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>\S+))?")


class DatasetError(ValueError):
    """A dataset cannot be written or loaded as asked; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who built a dataset from what.

    Args:
        benchmark: name of the benchmark, e.g. ``"muse"``.
        builder_version: version of the builder's rows; a change of any row's content changes it.
        source: ``"generated"``, or the name of the source data.
        licence: licence identifier as the Hub spells it.
        seed: seed of a generated dataset.
        source_revision: revision of the source data, where it has one.
        source_sha256: checksum over the source files used, where there are any.
        missing: what a partial copy of the source lacks.
        made_with: versions and checksums of what made the bytes (renderer, soundfont).
        anomalies: what is odd in the source → how often; the rows keep it unless it says otherwise.
        counts: config → split → number of rows; filled by `write_dataset`.
        files: path → SHA-256 of each file but the card; filled by `write_dataset`.

    >>> provenance = Provenance("muse", "1.0", source="generated", licence="mit", seed=7)
    >>> Provenance.from_json(provenance.to_json()) == provenance
    True
    """

    benchmark: str
    builder_version: str
    source: str
    licence: str
    seed: int | None = None
    source_revision: str | None = None
    source_sha256: str | None = None
    missing: tuple[str, ...] = ()
    made_with: Mapping[str, str] = field(default_factory=dict)
    anomalies: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the content of ``provenance.json``.

        >>> "muse" in Provenance("muse", "1.0", source="generated", licence="mit").to_json()
        True
        """
        return json.dumps({"format": FORMAT, **dataclasses.asdict(self)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """Read the content of ``provenance.json``.

        Raises:
            DatasetError: it is no provenance of ours, or of a later format.

        >>> Provenance.from_json("{}")
        Traceback (most recent call last):
            ...
        music_evals.datasets_builders.store.DatasetError: not a provenance file: 'format' is missing
        """
        try:
            entries = json.loads(text)
        except ValueError as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        if not isinstance(entries, dict) or "format" not in entries:
            raise DatasetError("not a provenance file: 'format' is missing")
        if entries.pop("format") != FORMAT:
            raise DatasetError(f"a provenance file of another format than {FORMAT!r}")
        try:
            made = cls(**{**entries, "missing": tuple(entries.get("missing", ()))})
        except TypeError as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        is_sound = isinstance(made.files, dict) and isinstance(made.counts, dict)
        if not is_sound or not all(isinstance(splits, dict) for splits in made.counts.values()):
            raise DatasetError("not a provenance file: 'counts' or 'files' is no table")
        return made


@dataclass(frozen=True, slots=True)
class Config:
    """One config of a dataset, ready to be written.

    Args:
        features: the declared columns.
        splits: split → rows. They are read once and in order, so that a generator need not hold all its audio;
            a split without rows is left out of the dataset.
    """

    features: Features
    splits: Mapping[str, Iterable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What the store must know of a benchmark in order to load it.

    Args:
        name: e.g. ``"muse"``.
        version: version of its builder; a cached dataset of another version is built anew.
        seed: seed of the default generated dataset.
        features: config → declared columns.
        generate: builds the default generated dataset as the given folder, replacing what is there.
    """

    name: str
    version: str
    seed: int
    features: Mapping[str, Features]
    generate: Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which data a dataset argument stands for.

    Args:
        dataset: the argument as given.
        folder: where the data lies on this machine.
        revision: commit of a dataset that came from the Hub.
        provenance: what the dataset says about itself.
    """

    dataset: str
    folder: Path
    revision: str | None
    provenance: Provenance

    @property
    def label(self) -> str:
        """A short name for tables and log names, which tells generated, recorded and partial data apart.

        >>> made = Provenance("muse", "1.0", source="generated", licence="mit", seed=7)
        >>> Origin("generated", Path("."), None, made).label
        'generated-seed7'
        """
        if self.provenance.source == GENERATED:
            return f"{GENERATED}-seed{self.provenance.seed}"
        return f"{self.provenance.source}-partial" if self.provenance.missing else self.provenance.source

    def metadata(self) -> dict[str, Any]:
        """Return what a task should record of its data, and by which version of this project: plain values.

        >>> made = Provenance("muse", "1.0", source="generated", licence="mit", seed=7)
        >>> Origin("generated", Path("."), None, made).metadata()["dataset_builder_version"]
        '1.0'
        """
        made = self.provenance
        known = {
            "music_evals_version": version("music-evals"),
            "dataset": self.dataset,
            "dataset_label": self.label,
            "dataset_revision": self.revision,
            "dataset_source": made.source,
            "dataset_source_revision": made.source_revision,
            "dataset_source_sha256": made.source_sha256,
            "dataset_builder_version": made.builder_version,
            "dataset_seed": made.seed,
            "dataset_licence": made.licence,
            "dataset_missing_files": len(made.missing) or None,
        }
        return {name: value for name, value in known.items() if value is not None}


# --- writing ---


def check_target(out: Path, *, overwrite: bool = False) -> None:
    """Check that a dataset may be written to a folder, before any work is done.

    Args:
        out: the folder to be written.
        overwrite: whether a dataset folder of ours may be replaced.

    Raises:
        DatasetError: the target is a file, a folder of somebody else's, or a dataset and `overwrite` is off; or it
            lies in no folder that may be written to.

    >>> check_target(Path("a-folder-that-is-not-there"))
    """
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
    try:
        read_provenance(out)
    except DatasetError as error:
        raise DatasetError(f"{out} is not empty and no dataset of ours; give a new or an empty folder") from error
    if not overwrite:
        raise DatasetError(f"{out} already holds a dataset; give another folder, or allow it to be overwritten")


def write_dataset(
    out: Path,
    configs: Mapping[str, Config],
    *,
    card: Callable[[Provenance], str],
    provenance: Provenance,
    overwrite: bool = False,
    extra_files: Mapping[str, bytes] | None = None,
) -> Provenance:
    """Write a dataset folder: all of it, or nothing.

    The folder is made beside its target under a hidden name and then renamed. An exception, Ctrl-C, SIGTERM or
    SIGHUP removes it; what a killed build left is removed by the next build to the same target.

    Args:
        out: the folder to write; absent, empty, or (with `overwrite`) a dataset folder.
        configs: config → columns and rows, written in order.
        card: makes the content of ``README.md`` from the completed provenance.
        provenance: who builds it from what; `counts` and `files` are filled here.
        overwrite: whether a dataset folder of ours may be replaced.
        extra_files: further files by path in the folder, such as the licence of the source.

    Returns:
        The completed provenance.

    Raises:
        DatasetError: the target may not be written, a row does not fit its columns, or there are no rows at all.

    >>> import tempfile
    >>> from datasets import Value
    >>> config = Config(Features({"id": Value("string")}), {"test": [{"id": "a"}, {"id": "b"}]})
    >>> made = Provenance("letters", "1.0", source="generated", licence="mit", seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(Path(folder) / "out", {"letters": config}, card=str, provenance=made).counts
    {'letters': {'test': 2}}
    """
    out = Path(os.path.realpath(out.expanduser()))
    check_target(out, overwrite=overwrite)
    with termination_unwinds(), temporary_sibling(out) as folder:
        counts: dict[str, dict[str, int]] = {}
        files: dict[str, str] = {}
        for config_name, config in configs.items():
            for split, rows in config.splits.items():
                path = folder / config_name / f"{split}-00000-of-00001.parquet"
                if count := _write_rows(path, rows, config.features, f"{config_name}/{split}"):
                    counts.setdefault(config_name, {})[split] = count
                    files[path.relative_to(folder).as_posix()] = file_sha256(path)
        if not counts:
            raise DatasetError(f"nothing to write to {out}: no config has any rows")
        for name, content in (extra_files or {}).items():
            (folder / name).write_bytes(content)
            files[name] = file_sha256(folder / name)
        complete = dataclasses.replace(provenance, counts=counts, files=files)
        (folder / CARD_FILE).write_text(card(complete), encoding="utf-8")
        (folder / PROVENANCE_FILE).write_text(complete.to_json(), encoding="utf-8")
        check_target(out, overwrite=overwrite)  # somebody may have written there meanwhile
        move_into_place(folder, out)
    return complete


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]], features: Features, where: str) -> int:
    """Write rows as one Parquet file, a group at a time; without rows write no file."""
    schema = features.arrow_schema
    columns = set(features)
    writer: pq.ParquetWriter | None = None
    count = 0
    try:
        has_files = any(isinstance(kind, Audio | Image) or kind == Value("binary") for kind in features.values())
        for group in _groups(rows, _ROWS_WITH_FILES_PER_GROUP if has_files else _ROWS_PER_GROUP):
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


def _groups(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    group: list[Mapping[str, Any]] = []
    for row in rows:
        group.append(row)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


@contextmanager
def temporary_sibling(out: Path) -> Iterator[Path]:
    """Yield a new hidden folder beside `out`, gone at the end however that comes about."""
    out.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{out.name}.partial-"
    for left in out.parent.glob(f"{glob.escape(prefix)}*"):
        _remove_if_abandoned(left)
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


def _remove_if_abandoned(folder: Path) -> None:
    lock = _lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def termination_unwinds() -> Iterator[None]:
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


def move_into_place(folder: Path, out: Path) -> None:
    """Rename a finished folder to its target, replacing a dataset folder that is there."""
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


# --- loading ---


def load_split(
    dataset: str, config: str, split: str, *, benchmark: Benchmark, columns: Sequence[str] | None = None
) -> Dataset:
    """Load one split of one config, with audio as encoded bytes.

    Args:
        dataset: ``"generated"`` (built on this machine when first asked for, then cached), a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        config: name of the config.
        split: name of the split.
        benchmark: whose dataset it must be.
        columns: the columns to read, None for all; what is not read costs no time.

    Returns:
        The rows; audio columns are ``{"bytes": ..., "path": ...}``, not decoded.

    Raises:
        DatasetError: there is no such dataset, config or split, it belongs to another benchmark, lacks a column, or
            its files are not those that its provenance names.

    >>> from music_evals.datasets_builders import muse
    >>> load_split("generated", "rhythm", "test", benchmark=muse.BENCHMARK)
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.store.DatasetError: muse has no config 'rhythm'; it has: syncopation, \
transposition, chord_quality
    """
    if config not in benchmark.features:
        raise DatasetError(f"{benchmark.name} has no config '{config}'; it has: {', '.join(benchmark.features)}")
    origin = _locate(dataset, benchmark, patterns=[f"{config}/*"])
    made = origin.provenance
    lacks = f" (built from a copy that lacks {some(made.missing)})" if made.missing else ""
    if config not in made.counts:
        raise DatasetError(f"{dataset} has no config '{config}'; it has: {', '.join(made.counts)}{lacks}")
    if split not in made.counts[config]:
        splits = ", ".join(made.counts[config])
        raise DatasetError(f"config '{config}' of {dataset} has no split '{split}'; it has: {splits}{lacks}")
    paths = [path for path in made.files if path.startswith(f"{config}/{split}-")]
    if not paths:
        raise DatasetError(f"{dataset} is incomplete: its {PROVENANCE_FILE} names no files of {config}/{split}")
    for path in paths:
        file = origin.folder / path
        if not file.is_file():
            raise DatasetError(f"{dataset} is incomplete: {path} is missing; build or download it again")
        if file_sha256(file) != made.files[path]:
            raise DatasetError(f"{path} of {dataset} is not the file that its {PROVENANCE_FILE} names; build it again")
    features = benchmark.features[config]
    expected = Features({name: features[name] for name in (features if columns is None else columns)})
    present = pq.read_schema(origin.folder / paths[0]).names
    if lacking := [name for name in expected if name not in present]:
        raise DatasetError(
            f"config '{config}' of {dataset} lacks the columns {', '.join(lacking)} (built by version "
            f"{made.builder_version} of the builder, this is {benchmark.version}); build it again"
        )
    wanted = list(expected)
    table = pa.concat_tables([pq.read_table(origin.folder / path, columns=wanted, partitioning=None) for path in paths])
    try:
        table = table.select(wanted).cast(expected.arrow_schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DatasetError(f"config '{config}' of {dataset} has a column of another type: {error}") from error
    # Given, because `datasets` would otherwise pickle the whole table to hash it.
    fingerprint = hashlib.sha256("".join(made.files[path] for path in paths).encode()).hexdigest()[:16]
    return Dataset(table, fingerprint=fingerprint)


def describe_dataset(dataset: str, *, benchmark: Benchmark) -> Origin:
    """Say which data a dataset argument stands for, building or downloading what is needed to know.

    Args:
        dataset: as for `load_split`.
        benchmark: whose dataset it must be.

    Returns:
        Where it lies and what it says about itself; `Origin.metadata` is what a task should record.

    Raises:
        DatasetError: there is no such dataset, or it belongs to another benchmark.

    >>> from music_evals.datasets_builders import muse
    >>> describe_dataset("hf://muse", benchmark=muse.BENCHMARK)
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.store.DatasetError: hf://muse is no dataset on the Hub; write \
hf://datasets/ORG/NAME[@REVISION]
    """
    return _locate(dataset, benchmark, patterns=[])


def _locate(dataset: str, benchmark: Benchmark, patterns: list[str]) -> Origin:
    revision = None
    if dataset == GENERATED:
        folder = _generated_folder(benchmark)
    elif dataset.startswith("hf:"):
        folder, revision = _download(dataset, patterns)
    else:
        folder = Path(dataset).expanduser()
        if not folder.is_dir():
            what = "is not a folder" if folder.exists() else "does not exist"
            raise DatasetError(f"dataset '{dataset}' {what}; accepted: {ACCEPTED}")
    try:
        provenance = read_provenance(folder)
    except DatasetError as error:
        raise DatasetError(f"'{dataset}' is no dataset of ours: {error}; accepted: {ACCEPTED}") from error
    if provenance.benchmark != benchmark.name:
        raise DatasetError(f"'{dataset}' is a dataset of {provenance.benchmark}, not of {benchmark.name}")
    return Origin(dataset, folder, revision, provenance)


def _generated_folder(benchmark: Benchmark) -> Path:
    """Return the cached default dataset, building it first where it is absent, of another version, or damaged."""
    root = cache_folder() / "datasets"
    folder = root / f"{benchmark.name}-{benchmark.version}-seed{benchmark.seed}"
    if not _is_current(folder, benchmark):
        try:
            root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(root / f"{folder.name}.lock")
            with lock:
                if not _is_current(folder, benchmark):  # another process may have built it while this one waited
                    benchmark.generate(folder)
        except OSError as error:
            raise DatasetError(
                f"cannot write the generated dataset to {root}: {error}; name another folder in MUSIC_EVALS_CACHE"
            ) from error
    return folder


def _is_current(folder: Path, benchmark: Benchmark) -> bool:
    try:
        made = read_provenance(folder)
    except DatasetError:
        return False
    wanted = (benchmark.name, benchmark.version, GENERATED, benchmark.seed)
    if (made.benchmark, made.builder_version, made.source, made.seed) != wanted:
        return False
    return all(
        (folder / path).is_file() and file_sha256(folder / path) == digest for path, digest in made.files.items()
    )


def _download(dataset: str, patterns: list[str]) -> tuple[Path, str]:
    match = _HUB_URI.fullmatch(dataset)
    if match is None:
        raise DatasetError(f"{dataset} is no dataset on the Hub; write hf://datasets/ORG/NAME[@REVISION]")
    from huggingface_hub import snapshot_download  # heavy, and only needed here
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    from music_evals.datasets_builders.hub_errors import TRANSPORT_ERRORS, explain, token_problem

    if problem := token_problem():
        raise DatasetError(problem)
    try:
        folder = snapshot_download(
            match["repo"],
            repo_type="dataset",
            revision=match["revision"],
            allow_patterns=[PROVENANCE_FILE, CARD_FILE, *patterns],
        )
    except RevisionNotFoundError as error:
        raise DatasetError(f"{match['repo']} on the Hub has no revision '{match['revision']}'") from error
    except RepositoryNotFoundError as error:
        raise DatasetError(f"the Hub has no dataset {match['repo']}, or you have no access to it") from error
    except LocalEntryNotFoundError as error:
        raise DatasetError(f"{dataset} is not in the local cache and the Hub cannot be reached") from error
    except HFValidationError as error:
        raise DatasetError(f"{dataset}: {error}") from error
    except TRANSPORT_ERRORS as error:
        raise DatasetError(f"{dataset} could not be downloaded; {explain(error, match['repo'])}") from error
    return Path(folder), Path(folder).name  # a snapshot's folder is named after its commit


def read_provenance(folder: Path) -> Provenance:
    """Read what a dataset folder says about itself.

    Args:
        folder: the dataset folder.

    Raises:
        DatasetError: it has no provenance file of ours.

    >>> read_provenance(Path("no-such-folder"))
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.store.DatasetError: it has no provenance.json
    """
    try:
        text = (folder / PROVENANCE_FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatasetError(f"it has no {PROVENANCE_FILE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"its {PROVENANCE_FILE} cannot be read: {error}") from error
    return Provenance.from_json(text)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     file_sha256(Path(empty.name))[:8]
    'e3b0c442'
    """
    status = path.stat()
    return _sha256_of(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=1024)
def _sha256_of(path: Path, *_identity: int) -> str:
    """Hash a file; remembered while it stays as it is, for a grid of tasks loads the same files dozens of times."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> some(["a.wav", "b.wav", "c.wav"], most=2)
    'a.wav, b.wav and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
