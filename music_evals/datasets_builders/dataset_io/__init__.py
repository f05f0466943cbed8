"""Dataset folders in the layout of the Hugging Face Hub: written whole or not at all, described, published, loaded.

A dataset folder holds one Parquet file a config and split (``<config>/<split>-00000-of-00001.parquet``), a card
(``README.md``, whose header lets `datasets.load_dataset` find the files) and ``provenance.json``, which says who
built it from what.

A benchmark hands itself over as a `Benchmark` value: its columns and the function that builds its default
generated dataset. Nothing here knows a benchmark by name.
"""

from music_evals.datasets_builders.dataset_io.loading import (
    ACCEPTED,
    Benchmark,
    Origin,
    benchmark_of,
    describe_dataset,
    download,
    load_split,
)
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    EVAL_FILE,
    FORMAT,
    GENERATED,
    PROMPTED,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    as_json,
    canary,
    data_file,
    file_sha256,
    make_provenance,
    read_provenance,
    refusals,
    some,
)
from music_evals.datasets_builders.dataset_io.rows import FileCell, FourOptions, Letter, Text, features_of
from music_evals.datasets_builders.dataset_io.writing import (
    FolderKind,
    Rows,
    check_target,
    write_dataset,
    write_rows,
    written_whole,
)

__all__ = [
    "ACCEPTED",
    "CARD_FILE",
    "EVAL_FILE",
    "FORMAT",
    "GENERATED",
    "PROMPTED",
    "PROVENANCE_FILE",
    "Benchmark",
    "DatasetError",
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
    "canary",
    "check_target",
    "data_file",
    "describe_dataset",
    "download",
    "features_of",
    "file_sha256",
    "load_split",
    "make_provenance",
    "read_provenance",
    "refusals",
    "some",
    "write_dataset",
    "write_rows",
    "written_whole",
]
