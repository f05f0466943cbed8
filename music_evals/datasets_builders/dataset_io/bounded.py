"""Parquet files of strangers, read a few rows at a time: a small file may claim, or unpack to, more
than the memory holds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from music_evals.datasets_builders.dataset_io.archives import MOST_RATIO
from music_evals.datasets_builders.dataset_io.provenance import DatasetError

if TYPE_CHECKING:
    import pyarrow as pa

_ALWAYS_ALLOWED = 500_000_000  # bytes; a small file of repeated texts may have a high ratio
_BATCH_BYTES = 64_000_000  # that a batch of rows has at most if no value is repeated
_BATCH_ROWS = 1024


def parquet_batches(
    path: Path, where: str, columns: Sequence[str] | None = None
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a Parquet file in batches that fit into memory.

    Args:
        path: the file.
        where: its name for errors.
        columns: the columns to read; None for all.

    Raises:
        DatasetError: the file unpacks to more than `MOST_RATIO` times its size, and more than 500
            MB.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        most = max(MOST_RATIO * path.stat().st_size, _ALWAYS_ALLOWED)
        problem = (
            f"{where} unpacks to more than {most:,} bytes, which is the most for a file of its size"
        )
        unpacked, largest = _claimed_bytes(file.metadata)
        if unpacked > most:
            raise DatasetError(problem)
        # A value that all rows repeat is in the file once, and is never larger than its column.
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, largest)))
        unpacked = 0
        for batch in file.iter_batches(rows, columns=columns):
            unpacked += batch.nbytes
            if unpacked > most:
                raise DatasetError(problem)
            yield batch


def _claimed_bytes(metadata: Any) -> tuple[int, int]:
    """What a Parquet file says that it unpacks to: in all, at least, and its largest column of a
    group of rows.
    """
    total, largest = 0, 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            size = column.total_uncompressed_size
            # A value that is repeated needs no byte in the file.
            total += max(size, column.num_values)
            largest = max(largest, size)
    return total, largest
