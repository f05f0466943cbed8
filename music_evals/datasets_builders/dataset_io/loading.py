"""Loading datasets: generated on this machine, from a folder, or from the Hub."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, Features
from filelock import FileLock
from huggingface_hub.errors import (
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from music_evals.datasets_builders.dataset_io.hub_errors import TRANSPORT_ERRORS, explain, token_problem
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    GENERATED,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    canary,
    data_file,
    file_sha256,
    in_a_line,
    read_provenance,
    some,
)
from music_evals.datasets_builders.dataset_io.rows import RowCheck, as_files
from music_evals.datasets_builders.progress import OnPiece, announced
from music_evals.notation.cache import cache_folder

ACCEPTED = f"'{GENERATED}', a dataset folder (as `music-evals build` writes it) or hf://datasets/ORG/NAME[@REVISION]"

_BATCH: Final = 64  # rows, each of which may carry megabytes
_MOST_BYTES: Final = 4_000_000_000  # of the values of a split
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")
_ID_LENGTH: Final = 40
_HUB_URI = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>\S+))?")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What must be known of a benchmark in order to load its dataset."""

    name: str  # e.g. ``"muse"``
    version: str  # of its builder, raised whenever any row changes; a cached dataset of another is built anew
    seed: int  # seed of the default generated dataset
    features: Mapping[str, Features]  # config → declared columns
    # Builds the default generated dataset as the given folder, replacing what is there, and tells of its progress.
    generate: Callable[[Path, OnPiece], object]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which data a dataset argument stands for."""

    dataset: str  # the argument as given
    folder: Path  # where the data lies on this machine
    revision: str | None  # commit of a dataset that came from the Hub
    provenance: Provenance  # what the dataset says about itself

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
        """Return what a task should record of its data, and by which version of this project: plain values."""
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
            "dataset_canary": canary(made.benchmark),
            "dataset_missing_files": len(made.missing) or None,
        }
        return {name: value for name, value in known.items() if value is not None}


def load_split(
    dataset: str, config: str, split: str, *, benchmark: Benchmark, columns: Sequence[str] | None = None
) -> Dataset:
    """Load one split of one config; audio and images are ``{"bytes": ..., "path": ...}``, not decoded.

    Args:
        dataset: ``"generated"`` (built on this machine when first asked for, then cached), a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        config: name of the config.
        split: name of the split.
        benchmark: whose dataset it must be.
        columns: the columns to read, None for all; what is not read costs no time.

    Raises:
        DatasetError: there is no such dataset, config, split or column, or its files are not those that were written.
    """
    if config not in benchmark.features:
        raise DatasetError(f"{benchmark.name} has no config '{config}'; it has: {', '.join(benchmark.features)}")
    origin = describe_dataset(dataset, benchmark=benchmark, files=[f"{config}/*"])
    made = origin.provenance
    lacks = f" (built from a copy that lacks {some(made.missing)})" if made.missing else ""
    if config not in made.counts:
        raise DatasetError(f"{dataset} has no config '{config}'; it has: {', '.join(made.counts)}{lacks}")
    if split not in made.counts[config]:
        splits = ", ".join(made.counts[config])
        raise DatasetError(f"config '{config}' of {dataset} has no split '{split}'; it has: {splits}{lacks}")
    path = data_file(config, split)
    file = origin.folder / path
    if path not in made.files:
        raise DatasetError(f"{dataset} is incomplete: its {PROVENANCE_FILE} does not name {path}")
    if origin.revision is None and file.resolve() != origin.folder.resolve() / path:  # the Hub's cache is made of links
        raise DatasetError(f"{path} of {dataset} is a link, or is reached by one; accepted are files in the folder")
    if not file.is_file():
        raise DatasetError(f"{dataset} is incomplete: {path} is missing; build or download it again")
    if file_sha256(file) != made.files[path]:
        raise DatasetError(f"{path} of {dataset} is not the file that its {PROVENANCE_FILE} names; build it again")
    declared = benchmark.features[config]
    wanted = as_files(
        Features({name: declared[name] for name in (declared if columns is None else columns)})
    ).arrow_schema
    by = f"built by version {made.builder_version} of the builder, this is {benchmark.version}"
    try:
        with pq.ParquetFile(file) as parquet:
            present = parquet.schema_arrow
            if lacking := [name for name in wanted.names if present.get_field_index(name) < 0]:
                raise DatasetError(f"{path} of {dataset} lacks the columns {', '.join(lacking)} ({by}); build it again")
            if other := [name for name in wanted.names if present.field(name).type != wanted.field(name).type]:
                raise DatasetError(f"{path} of {dataset} has columns of another type: {', '.join(other)} ({by})")
            if (found := parquet.metadata.num_rows) != made.counts[config][split]:
                raise DatasetError(
                    f"{path} of {dataset} has {found} rows, its {PROVENANCE_FILE} says {made.counts[config][split]}"
                )
            table = _checked(parquet, wanted, RowCheck(declared, f"{path} of {dataset}"))
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} of {dataset} cannot be read as Parquet: {in_a_line(error)}") from error
    # Given, because `datasets` would otherwise pickle the whole table to hash it.
    fingerprint = hashlib.sha256(made.files[path].encode()).hexdigest()[:16]
    return Dataset(table, fingerprint=fingerprint)


def _checked(parquet: pq.ParquetFile, wanted: pa.Schema, check: RowCheck) -> pa.Table:
    """Read columns, some rows at a time, so that what is wrong or too much is found before all of it is in memory."""
    batches, size = [], 0
    for batch in parquet.iter_batches(_BATCH, columns=wanted.names):
        batch.validate(full=True)
        check(batch.to_pylist())
        batches.append(batch)
        size += batch.nbytes
        if size > _MOST_BYTES:
            raise OSError(f"it holds more than {_MOST_BYTES:,} bytes")
    if (found := sum(batch.num_rows for batch in batches)) != parquet.metadata.num_rows:
        raise OSError(f"it holds {found} rows of the {parquet.metadata.num_rows} that it names")
    return pa.Table.from_batches(batches).select(wanted.names).cast(wanted)


def describe_dataset(dataset: str, *, benchmark: Benchmark, files: Sequence[str] = ()) -> Origin:
    """Say which data a dataset argument stands for, building or downloading what is needed to know, and `files`."""
    if dataset == GENERATED:
        folder, revision = _generated_folder(benchmark), None
    else:
        folder, revision = _located(dataset, files)
    provenance = _provenance(dataset, folder)
    if provenance.benchmark != benchmark.name:
        raise DatasetError(f"'{dataset}' is a dataset of {provenance.benchmark}, not of {benchmark.name}")
    return Origin(dataset, folder, revision, provenance)


def benchmark_of(dataset: str) -> str:
    """Return the name of the benchmark that a dataset folder or a repository of the Hub is of; else DatasetError."""
    return _provenance(dataset, _located(dataset, ())[0]).benchmark


def _located(dataset: str, files: Sequence[str]) -> tuple[Path, str | None]:
    """The folder of a dataset that is not generated, and the commit where it is from the Hub."""
    if dataset.startswith("hf:"):
        return _download(dataset, files)
    folder = Path(dataset).expanduser()
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise DatasetError(f"dataset '{dataset}' {what}; accepted: {ACCEPTED}")
    return folder, None


def _provenance(dataset: str, folder: Path) -> Provenance:
    try:
        return read_provenance(folder)
    except DatasetError as error:
        raise DatasetError(f"'{dataset}' is no dataset of ours: {error}; accepted: {ACCEPTED}") from error


def _generated_folder(benchmark: Benchmark) -> Path:
    """Return the cached default dataset, building it first where it is absent, of another version, or damaged."""
    root = cache_folder() / "datasets"
    folder = root / f"{benchmark.name}-{benchmark.version}-seed{benchmark.seed}"
    if not _is_current(folder, benchmark):
        try:
            root.mkdir(parents=True, exist_ok=True)
            with FileLock(root / f"{folder.name}.lock"):
                if not _is_current(folder, benchmark):  # another process may have built it while this one waited
                    with announced(f"the default dataset of {benchmark.name}") as on_piece:
                        benchmark.generate(folder, on_piece)
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


def _download(dataset: str, files: Sequence[str]) -> tuple[Path, str]:
    match = _HUB_URI.fullmatch(dataset)
    if match is None:
        raise DatasetError(f"{dataset} is no dataset on the Hub; write hf://datasets/ORG/NAME[@REVISION]")
    folder = download(match["repo"], match["revision"], [PROVENANCE_FILE, CARD_FILE, *files])
    return folder, folder.name


def download(repo: str, revision: str | None = None, files: Sequence[str] | None = None) -> Path:
    """Download a dataset repository of the Hub, or find it in the Hub's cache where there is no connection.

    Args:
        repo: ``ORG/NAME``.
        revision: a branch or tag, or a commit's id or how that begins; None for ``main``.
        files: patterns of the files that are wanted; None for all.

    Returns:
        The folder, which has the full id of the commit as its name.

    Raises:
        DatasetError: it is not there, not to be had, or the connection fails.
    """
    if problem := token_problem():
        raise DatasetError(problem)
    api, is_id = huggingface_hub.HfApi(), bool(_COMMIT.fullmatch(revision or ""))
    full = revision
    try:
        connected = not is_id or _answers(api, repo)
        if is_id and connected and len(revision or "") < _ID_LENGTH:  # the Hub serves files by full id only
            commits = api.list_repo_commits(repo, repo_type="dataset")
            begun = [one.commit_id for one in commits if one.commit_id.startswith(revision or "")]
            full = begun[0] if len(begun) == 1 else revision
        folder = huggingface_hub.snapshot_download(
            repo,
            repo_type="dataset",
            revision=full,
            allow_patterns=None if files is None else list(files),
            local_files_only=not connected,
        )
    except (*TRANSPORT_ERRORS, ValueError) as error:
        raise DatasetError(_refusal(error, repo, revision)) from error
    return Path(folder)


def _answers(api: huggingface_hub.HfApi, repo: str) -> bool:
    """Whether the Hub can be reached; asked once, where for a commit the client would ask for half a minute."""
    try:
        api.dataset_info(repo)
    except HfHubHTTPError:
        return True
    except TRANSPORT_ERRORS:
        return False
    return True


def _refusal(error: Exception, repo: str, revision: str | None) -> str:
    what = f"hf://datasets/{repo}" + (f"@{revision}" if revision else "")
    match error:
        case RevisionNotFoundError():
            return f"{repo} on the Hub has no revision '{revision}'"
        case RepositoryNotFoundError():
            return f"the Hub has no dataset {repo}, or you have no access to it"
        case LocalEntryNotFoundError():
            return f"{what} is not in the local cache and the Hub cannot be reached"
        case HFValidationError():
            return f"{what}: {error}"
        case _:
            return f"{what} could not be downloaded; {explain(error, repo)}"
