"""Files that unpack to more than they should are refused before they are unpacked."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.dataset_io.bounded import parquet_batches


def dictionary(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(dictionary("x" * 10_000_000, 100), id="a long text in all rows"),
        pytest.param(dictionary("x" * 2000, 300_000), id="a short text in more rows"),
        pytest.param(pa.array(["x" * 510_000_000]), id="one value"),
        pytest.param(pa.nulls(510_000_000, pa.int8()), id="nulls"),
    ],
)
def test_columns_that_unpack_to_more_are_refused(tmp_path, column):
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"question": column}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 4_000_000
    with pytest.raises(DatasetError, match=r"r\.parquet unpacks to more than 500,000,000 bytes"):
        for _ in parquet_batches(path, "r.parquet"):
            pass
