"""Write, describe, publish and load dataset folders in the layout of the Hugging Face Hub.

A dataset folder holds one Parquet file per config and split
(``<config>/<split>-00000-of-00001.parquet``), a card (``README.md``, whose header lets
`datasets.load_dataset` find the files) and ``provenance.json``, which records the builder, its
version and the source. A folder is written completely or not at all.

A builder describes its dataset as a `DatasetSpec`: its columns and the function that builds its
default generated dataset. This package knows no benchmark by name.
"""

from music_evals.datasets_builders.dataset_io.folders import (
    FolderKind,
    check_target,
    locked_folder,
    replace_folder,
)
from music_evals.datasets_builders.dataset_io.loading import (
    Conversion,
    DatasetSpec,
    Origin,
    benchmark_of,
    build_dataset,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.dataset_io.provenance import (
    GENERATED,
    DatasetError,
    Decontamination,
    FetchError,
    Provenance,
    as_json,
    canary,
    file_sha256,
    list_names,
    make_provenance,
    read_provenance,
    refusals,
    text_sha256,
)
from music_evals.datasets_builders.dataset_io.remotes import PUBLISHED
from music_evals.datasets_builders.dataset_io.rows import (
    ConfigColumns,
    FileCell,
    FourOptions,
    Letter,
    Text,
    features_of,
)
from music_evals.datasets_builders.dataset_io.writing import Rows, write_dataset

__all__ = [
    "GENERATED",
    "PUBLISHED",
    "ConfigColumns",
    "Conversion",
    "DatasetError",
    "DatasetSpec",
    "Decontamination",
    "FetchError",
    "FileCell",
    "FolderKind",
    "FourOptions",
    "Letter",
    "Origin",
    "Provenance",
    "Rows",
    "Text",
    "as_json",
    "benchmark_of",
    "build_dataset",
    "canary",
    "check_target",
    "describe_dataset",
    "features_of",
    "file_sha256",
    "list_names",
    "load_split",
    "locked_folder",
    "make_provenance",
    "read_provenance",
    "refusals",
    "replace_folder",
    "text_sha256",
    "write_dataset",
]
