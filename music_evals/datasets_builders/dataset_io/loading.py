"""Loading datasets: generated on this machine, as published, from a folder, or from the Hub."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from music_evals.benchmarks import Source, dataset_facts
from music_evals.datasets_builders.dataset_io.bounded import parquet_batches
from music_evals.datasets_builders.dataset_io.download_errors import disk_problem
from music_evals.datasets_builders.dataset_io.downloads import download_repository, remove_cached
from music_evals.datasets_builders.dataset_io.folders import files_in
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    GENERATED,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    canary,
    data_file,
    file_sha256,
    list_names,
    read_provenance,
    text_sha256,
)
from music_evals.datasets_builders.dataset_io.remotes import (
    PUBLISHED,
    PublishedFiles,
    published_files,
)
from music_evals.datasets_builders.dataset_io.rows import ConfigColumns, RowCheck, as_files
from music_evals.datasets_builders.progress import OnPiece, announced
from music_evals.notation.cache import cache_folder

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import Dataset

_PLACES = (
    f"'{PUBLISHED}', a folder (of published files, or as `music-evals build` writes it) or "
    "hf://datasets/ORG/NAME[@REVISION]"
)
ACCEPTED = f"'{GENERATED}', {_PLACES}"

_ROWS_PER_CHECK = 64  # a row may have megabytes
_HUB_URI = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>\S+))?")


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """What a builder says of its dataset, so that the dataset can be loaded."""

    name: str  # e.g. ``"muse"``
    # of the builder, raised with any change of a row; a cached dataset of another version is built
    # anew
    version: str
    seed: int | None  # seed of the default generated dataset; None if there is no such dataset
    features: ConfigColumns
    # Builds the default generated dataset in a folder, replaces what is there, and reports
    # progress. None if all data is published.
    generate: Callable[[Path, OnPiece], object] | None = None
    # Writes published files in a folder as a dataset folder, in the place of what is there. None if
    # only dataset folders of ours are taken.
    convert: "Convert | None" = None
    # Where published files are, if the benchmark's folder does not say that.
    source: Source | None = None
    # Builds the generated dataset of a level above 1, with these tasks, see `evals.shared.levels`.
    generate_level: Callable[[int, Path, OnPiece], object] | None = None
    leveled: Sequence[str] = ()
    level: int = 1  # 1 is the default generated dataset

    @property
    def generator(self) -> Callable[[Path, OnPiece], object] | None:
        """What builds the generated dataset of the level."""
        if self.level == 1 or self.generate_level is None:
            return self.generate
        return partial(self.generate_level, self.level)

    @property
    def published_source(self) -> Source:
        """Where published files are."""
        return self.source or dataset_facts(self.name).published[1]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a builder gets to write published files as a dataset folder."""

    source: Path  # folder of the published files
    out: Path  # the dataset folder, which is replaced
    revision: str | None = None  # places and commits of the files, if they are known
    allow_partial: bool = False  # whether rows are left out whose files are missing or damaged
    on_piece: OnPiece = lambda *_: None


Convert = Callable[[Conversion], Provenance]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which data a dataset argument names."""

    dataset: str  # the argument
    folder: Path  # where the data is on this machine
    revision: str | None  # commit of a dataset that came from the Hub
    provenance: Provenance  # what the dataset says about itself

    @property
    def label(self) -> str:
        """A short name for tables and log names, which differs for generated, recorded and partial
        data.

        >>> provenance = Provenance("muse", "1.0", source="generated", licence="mit", seed=7)
        >>> Origin("generated", Path("."), None, provenance).label
        'generated-seed7'
        """
        if self.provenance.source == GENERATED:
            return f"{GENERATED}-seed{self.provenance.seed}"
        source = self.provenance.source
        # A repository of published files has no version of its own but its commit.
        if self.revision and self.folder.name != self.revision:
            source = f"{source}-{self.revision[:7]}"
        return f"{source}-partial" if self.provenance.missing else source

    def of_task(self, task: str) -> "Origin":
        """Return the same data for one task: only files that this task lacks count as missing."""
        missing = self.provenance.missing_for(task)
        own = {task: missing} if missing else {}
        return replace(self, provenance=replace(self.provenance, missing=own))

    def metadata(self) -> dict[str, Any]:
        """Return what a task should record of its data, and by which version of this project: plain
        values.
        """
        provenance = self.provenance
        missing = {name for names in provenance.missing.values() for name in names}
        entries = {
            "music_evals_version": version("music-evals"),
            "dataset": self.dataset,
            "dataset_label": self.label,
            "dataset_revision": self.revision,
            "dataset_source": provenance.source,
            "dataset_source_revision": provenance.source_revision,
            "dataset_source_sha256": provenance.source_sha256,
            "dataset_builder_version": provenance.builder_version,
            "dataset_seed": provenance.seed,
            "dataset_licence": provenance.licence,
            "dataset_canary": canary(provenance.benchmark),
            "dataset_missing_files": len(missing) or None,
        }
        return {name: value for name, value in entries.items() if value is not None}


def load_split(
    dataset: str,
    config: str,
    split: str,
    *,
    benchmark: DatasetSpec,
    columns: Sequence[str] | None = None,
) -> "Dataset":
    """Load one split of one config; audio and images are ``{"bytes": ..., "path": ...}``, not
    decoded.

    Args:
        dataset: ``"generated"`` (built on this machine at first use, then cached), ``"published"``
            (fetched at first use), a folder, or ``hf://datasets/ORG/NAME[@REVISION]``.
        config: name of the config.
        split: name of the split.
        benchmark: whose dataset it must be.
        columns: the columns to read, None for all; other columns cost no time.

    Raises:
        DatasetError: there is no such dataset, config, split or column, or a file is not the one
            that was written.
    """
    from datasets import Dataset

    if config not in benchmark.features:
        raise DatasetError(
            f"{benchmark.name} has no config '{config}'; it has: {', '.join(benchmark.features)}"
        )
    origin = describe_dataset(dataset, benchmark=benchmark, files=[f"{config}/*"])
    provenance = origin.provenance
    splits = provenance.counts.get(config, {})
    if split not in splits:
        missing = provenance.missing_for(config)
        lacks = f" (built from a copy that lacks {list_names(missing)})" if missing else ""
        raise DatasetError(
            f"config '{config}' of {dataset} has no split '{split}'; it has: "
            f"{', '.join(splits) or 'none'}{lacks}"
        )
    path = data_file(config, split)
    file, where = origin.folder / path, f"{path} of {dataset}"
    if not file.is_file():
        raise DatasetError(
            f"{dataset} is incomplete: {path} is missing; build or download it again"
        )
    digest = file_sha256(file)
    if digest != provenance.files.get(path):
        if origin.dataset.startswith("hf:"):
            remove_cached(file)
            raise DatasetError(
                f"{where} was damaged in the Hub's cache on this machine and has been removed; run "
                "the command again to download it"
            )
        raise DatasetError(
            f"{where} is not the file that its {PROVENANCE_FILE} names; build it again"
        )
    declared = benchmark.features[config]
    schema = as_files({name: declared[name] for name in columns or declared}).arrow_schema
    built = (
        f"built by version {provenance.builder_version} of the builder, this is {benchmark.version}"
    )
    table = _read(file, schema, where, built)
    check = RowCheck(declared, where)
    for batch in table.to_batches(_ROWS_PER_CHECK):
        check(batch.to_pylist())
    # With a fingerprint, as `datasets` would otherwise pickle the whole table to hash it.
    return Dataset(table, fingerprint=text_sha256(digest)[:16])


def _read(file: Path, schema: "pa.Schema", where: str, built: str) -> "pa.Table":
    """Read the columns of a schema; errors name the file by `where`, and the version that `built`
    it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as parquet:
            present = parquet.schema_arrow
            if lacking := [name for name in schema.names if name not in present.names]:
                raise DatasetError(
                    f"{where} lacks the columns {', '.join(lacking)} ({built}); build it again"
                )
            of_type = {name: present.field(name).type for name in schema.names}
            if other := [name for name in of_type if of_type[name] != schema.field(name).type]:
                raise DatasetError(
                    f"{where} has columns of another type: {', '.join(other)} ({built})"
                )
        batches = parquet_batches(file, where, schema.names)
        table = pa.Table.from_batches(batches, pa.schema(map(present.field, schema.names)))
        table.validate(full=True)
    except (OSError, pa.ArrowException) as error:
        # It may quote bytes of the file.
        reason = "".join(char if char.isprintable() else " " for char in str(error))
        raise DatasetError(f"{where} cannot be read as Parquet: {reason:.300}") from error
    return table.select(schema.names).cast(schema)


def describe_dataset(dataset: str, *, benchmark: DatasetSpec, files: Sequence[str] = ()) -> Origin:
    """Say which data a dataset argument names; what is needed for that, and `files`, is built or
    downloaded.

    Args:
        dataset: as for `load_split`.
        benchmark: whose dataset it must be.
        files: patterns of files to download too.

    Raises:
        DatasetError: there is no such dataset, or it is of another benchmark.
    """
    if dataset == GENERATED:
        folder, revision = _generated_folder(benchmark), None
    elif dataset == PUBLISHED:
        folder, revision = _published_folder(benchmark)
    else:
        folder, revision = _locate(dataset, files)
        if benchmark.convert and not (folder / PROVENANCE_FILE).is_file():
            folder = _converted_folder(dataset, folder, revision, benchmark)
    provenance = _read_provenance(dataset, folder)
    if provenance.benchmark != benchmark.name:
        raise DatasetError(
            f"'{dataset}' is a dataset of {provenance.benchmark}, not of {benchmark.name}"
        )
    return Origin(dataset, folder, revision, provenance)


def benchmark_of(dataset: str) -> str:
    """Return the name of the benchmark of a dataset folder or a repository on the Hub; DatasetError
    if it has none.
    """
    return _read_provenance(dataset, _locate(dataset, ())[0]).benchmark


def _locate(dataset: str, files: Sequence[str]) -> tuple[Path, str | None]:
    """Return the folder of a dataset that is not generated, and the commit if it is from the
    Hub.
    """
    if dataset.startswith("hf:"):
        match = _HUB_URI.fullmatch(dataset)
        if match is None:
            raise DatasetError(
                f"{dataset} is no dataset on the Hub; write hf://datasets/ORG/NAME[@REVISION]"
            )
        folder = download_repository(
            match["repo"], match["revision"], [PROVENANCE_FILE, CARD_FILE, *files]
        )
        return folder, folder.name
    folder = Path(dataset).expanduser()
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        is_hub_name = re.fullmatch(r"[\w.-]+/[\w.-]+(@[\w.-]+)?", dataset) and not folder.exists()
        hint = f" (on the Hub? write hf://datasets/{dataset})" if is_hub_name else ""
        raise DatasetError(f"dataset '{dataset}' {problem}{hint}; accepted: {ACCEPTED}")
    return folder, None


def _read_provenance(dataset: str, folder: Path) -> Provenance:
    try:
        return read_provenance(folder)
    except DatasetError as error:
        raise DatasetError(
            f"'{dataset}' is no dataset of ours: {error}; accepted: {ACCEPTED}"
        ) from error


def _generated_folder(benchmark: DatasetSpec) -> Path:
    """Return the cached default dataset; it is built first if it is absent, of another version, or
    damaged.
    """
    if benchmark.generator is None:
        raise DatasetError(f"{benchmark.name} has no generated dataset; dataset= accepts {_PLACES}")
    label = f"the default dataset of {benchmark.name}"
    key = f"seed{benchmark.seed}"
    if benchmark.level > 1:
        label, key = f"{label}, level {benchmark.level}", f"{key}-level{benchmark.level}"
    return _cached_folder(benchmark, key, label, nullcontext())


def _published_folder(benchmark: DatasetSpec) -> tuple[Path, str]:
    """Return the cached dataset of the published files, which are fetched first, and their
    revision.
    """
    label = f"the published dataset of {benchmark.name}"
    source = benchmark.published_source
    key = f"{PUBLISHED}-{text_sha256(repr(source.remotes))[:16]}"
    folder = _cached_folder(benchmark, key, label, published_files(benchmark.name, source))
    revisions = read_provenance(folder).source_revision or ""
    return folder, revisions.partition(",")[0].rpartition("@")[2]


def _converted_folder(
    dataset: str, source: Path, revision: str | None, benchmark: DatasetSpec
) -> Path:
    """Return the cached dataset folder of published files; it is written first if any of them has
    changed.
    """
    files = _published_files(dataset, source, revision)
    listing = [str(files.folder.resolve())]
    for name, path in files_in(files.folder).items():
        status = path.stat()
        listing.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    key = revision or text_sha256("\n".join(listing))
    return _cached_folder(benchmark, key[:16], f"a dataset of {dataset}", nullcontext(files))


def build_dataset(
    benchmark: DatasetSpec,
    out: Path,
    source: str | None,
    *,
    allow_partial: bool = False,
    on_piece: OnPiece = lambda *_: None,
) -> Provenance:
    """Write a benchmark's generated or published questions as a dataset folder, in the place of
    what is there.

    Args:
        benchmark: whose questions they are.
        out: the dataset folder.
        source: ``published`` to fetch them, a folder with the published files, or
            ``hf://datasets/ORG/NAME[@REVISION]``; None for generated ones.
        allow_partial: whether questions are left out whose files are missing or damaged;
            DatasetError otherwise.
        on_piece: called after every piece.
    """
    if source is None:
        if benchmark.generator is None:
            raise DatasetError(
                f"{benchmark.name} has no generated data; give its published data as the source"
            )
        _write(benchmark, None, out, on_piece)
    elif source == PUBLISHED:
        with published_files(benchmark.name, benchmark.published_source) as files:
            _write(benchmark, files, out, on_piece)
    else:
        files = _published_files(source, *_locate(source, ()))
        _write(benchmark, files, out, on_piece, allow_partial)
    return read_provenance(out)


def _write(
    benchmark: DatasetSpec,
    files: PublishedFiles | None,
    out: Path,
    on_piece: OnPiece,
    allow_partial: bool = True,
) -> None:
    """Write published files as a dataset folder, or generate it if there are none."""
    if files is None:
        if benchmark.generator:
            benchmark.generator(out, on_piece)
    elif benchmark.convert is None:
        raise DatasetError(f"{benchmark.name} is not built from published files")
    else:
        benchmark.convert(Conversion(files.folder, out, files.revisions, allow_partial, on_piece))


def _published_files(dataset: str, folder: Path, revision: str | None) -> PublishedFiles:
    """Return the published files that a dataset argument names; those of a repository on the Hub
    are downloaded, all at one commit.
    """
    if revision is None:
        return PublishedFiles(folder, None)
    repository = dataset.removeprefix("hf://datasets/").partition("@")[0]
    folder = download_repository(repository, revision, check_all=True)
    return PublishedFiles(folder, f"hf.co/datasets/{repository}@{revision}")


def _cached_folder(
    benchmark: DatasetSpec,
    key: str,
    label: str,
    published: AbstractContextManager[PublishedFiles | None],
) -> Path:
    """Return a dataset folder in the cache, made first if it is not there as it should be: of
    published files, or generated.
    """
    from filelock import FileLock

    folder = cache_folder() / "datasets" / f"{benchmark.name}-{benchmark.version}-{key}"
    if _is_current(folder, benchmark):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{folder.name}.lock")):
            if not _is_current(folder, benchmark):  # another process may have built it meanwhile
                with published as files, announced(label) as on_piece:
                    _write(benchmark, files, folder, on_piece)
    except OSError as error:
        raise DatasetError(
            f"cannot write {label} to {folder}: {disk_problem(error)}; name another folder in "
            "MUSIC_EVALS_CACHE"
        ) from error
    return folder


def _is_current(folder: Path, benchmark: DatasetSpec) -> bool:
    """Whether a folder of the cache, whose name has its seed or source, is as it was written."""
    try:
        present = read_provenance(folder)
        digests = {path: file_sha256(folder / path) for path in present.files}
    except (DatasetError, FileNotFoundError):
        return False
    versions = (present.benchmark, present.builder_version)
    return digests == present.files and versions == (benchmark.name, benchmark.version)
