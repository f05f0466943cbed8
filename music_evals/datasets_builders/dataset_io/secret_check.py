"""A check that no token, key or password of the user is published by mistake."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq
from huggingface_hub import get_token

from music_evals.datasets_builders.dataset_io.provenance import DatasetError
from music_evals.notation.secrets import kind_of_secret

_ADVICE = "take it out, make it invalid and build again"


def check_secrets(files: Mapping[str, Path | bytes]) -> None:
    """Raise DatasetError if a file to publish holds a secret; the message names the file and the
    kind of secret.
    """
    own = get_token()
    for path, file in files.items():
        for place, text in _texts(path, file):
            kind = kind_of_secret(text)
            if own and own in text:
                kind = "the token of this machine for the Hub"
            if kind:
                raise DatasetError(f"{place} holds {kind}; {_ADVICE}")


def _texts(path: str, file: Path | bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file with their places: all of it, or the metadata and the rows of a
    table.
    """
    if isinstance(file, bytes) or not path.endswith(".parquet"):
        yield (
            path,
            (file if isinstance(file, bytes) else file.read_bytes()).decode(errors="replace"),
        )
        return
    with pq.ParquetFile(file) as table:
        yield f"the metadata of {path}", str(table.metadata.metadata)
        for batch in table.iter_batches(64):
            for row in batch.to_pylist():
                # The search is in text, without sound and pictures.
                text = json.dumps(row, ensure_ascii=False, default=lambda _: "")
                yield f"{path}, row {next(iter(row.values()))!s:.100},", text
