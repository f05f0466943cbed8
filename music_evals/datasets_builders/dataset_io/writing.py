"""Writing dataset folders in the layout of the Hugging Face Hub."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from music_evals.datasets_builders import AnyRow
from music_evals.datasets_builders.dataset_io.card import make_card
from music_evals.datasets_builders.dataset_io.folders import replace_folder
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    canary,
    data_file,
    file_sha256,
)
from music_evals.datasets_builders.dataset_io.rows import ConfigColumns, RowCheck

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that are held in memory at a time: a row with a file in it may have megabytes.
_ROWS_PER_GROUP = 1024
_ROWS_WITH_FILES_PER_GROUP = 32

Rows = Mapping[Any, Mapping[Any, Iterable[AnyRow]]]
"""Config → split → rows. They are read once and in order, so a generator need not hold all its
audio.
"""


def write_dataset(
    out: Path,
    rows: Rows,
    *,
    features: ConfigColumns,
    provenance: Provenance,
    overwrite: bool = False,
    extra_files: Mapping[str, bytes] | None = None,
    card: Callable[[Provenance], str] = make_card,
    option_floors: bool = False,
) -> Provenance:
    """Write a dataset folder, all of it or nothing, and return its completed provenance.

    Args:
        out: the folder to write; absent, empty, or (with `overwrite`) a dataset folder of ours.
        rows: config → split → rows, written in order; a split without rows is left out.
        features: config → declared columns.
        provenance: who builds it from what; its `counts`, `floors` and `files` are filled in here.
            A training set (`Provenance.decontamination`) gets no floors and no canary.
        overwrite: whether a dataset folder of ours may be replaced.
        extra_files: further files by path in the folder, such as the licence of the source.
        card: makes the content of ``README.md`` from the completed provenance.
        option_floors: whether floors have those of rules that see the options alone.

    Raises:
        DatasetError: the target may not be written, a row does not fit its columns, or there are no
            rows at all.
    """
    # Here, because tasks import this module and SciPy takes a second to load.
    from music_evals.datasets_builders.questions.audit import compute_floors

    with replace_folder(out, overwrite=overwrite) as folder:
        counts: dict[str, dict[str, int]] = {}
        files: dict[str, str] = {}
        is_training_set = provenance.decontamination is not None
        mark = "" if is_training_set else canary(provenance.benchmark)
        for config, splits in rows.items():
            for split, split_rows in splits.items():
                path = folder / data_file(config, split)
                if count := write_rows(
                    path, split_rows, features[config], f"{config}/{split}", mark
                ):
                    counts.setdefault(config, {})[split] = count
                    files[data_file(config, split)] = file_sha256(path)
        if not counts:
            raise DatasetError(f"nothing to write to {out}: no config has any rows")
        for name, content in (extra_files or {}).items():
            (folder / name).write_bytes(content)
            files[name] = file_sha256(folder / name)
        floors = provenance.floors
        if not is_training_set:
            floors = compute_floors(
                provenance.benchmark, folder, counts, floors, option_floors=option_floors
            )
        complete = dataclasses.replace(provenance, counts=counts, floors=floors, files=files)
        (folder / CARD_FILE).write_text(card(complete), encoding="utf-8")
        (folder / PROVENANCE_FILE).write_text(complete.to_json(), encoding="utf-8")
    return complete


def write_rows(path: Path, rows: Iterable[AnyRow], features: Any, where: str, mark: str) -> int:
    """Write rows as one Parquet file and return their number; without rows write no file.

    `where` names the rows in errors; `mark` is the canary for the file's metadata, or empty.
    """
    import pyarrow.parquet as pq
    from datasets import Audio, Image, List, Value

    has_files = any(
        isinstance(kind, Audio | Image) or kind in (Value("binary"), List(Audio()))
        for kind in features.values()
    )
    size = _ROWS_WITH_FILES_PER_GROUP if has_files else _ROWS_PER_GROUP
    rows = iter(rows)
    groups = iter(lambda: list(islice(rows, size)), [])
    first = next(groups, None)
    if first is None:
        return 0
    check, count = RowCheck(features, where), 0
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        sink = _Sink(file)
        with pq.ParquetWriter(
            sink,
            features.arrow_schema,
            compression="zstd",
            use_content_defined_chunking=True,
            write_page_index=True,
        ) as writer:
            for group in chain([first], groups):
                writer.write_table(_to_table(group, features, where, check, count))
                sink.check()
                count += len(group)
            writer.add_key_value_metadata({"canary": mark} if mark else {})
        sink.check()
    return count


class _Sink:
    """A file for Arrow, which ends the whole process where it cannot write: the first error is kept
    for `check`.
    """

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._error: OSError | None = None

    def write(self, data: bytes) -> None:
        """Write bytes, or none after an error."""
        if self._error is None:
            try:
                self._file.write(data)
            except OSError as error:
                self._error = error

    def flush(self) -> None:
        """Leave it to the file."""

    def check(self) -> None:
        """Raise the first error of the file."""
        if self._error is not None:
            raise self._error


def _to_table(
    group: list[AnyRow], features: Any, where: str, check: RowCheck, start: int
) -> "pa.Table":
    """Check rows and convert them to Arrow; `start` is the number of rows before them."""
    import pyarrow as pa

    for number, row in enumerate(group, start):
        if wrong := set(row) ^ set(features):
            raise DatasetError(
                f"{where}, row {row.get('id', number)}: columns missing or unknown: "
                f"{', '.join(sorted(wrong))}"
            )
    check(group)
    try:
        # Straight to Arrow: `Features.encode_example` needs torch for audio, even if it is already
        # encoded.
        return pa.Table.from_pylist(group, schema=features.arrow_schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        ids = f"{group[0].get('id', start)} to {group[-1].get('id', start + len(group) - 1)}"
        raise DatasetError(
            f"{where}, rows {ids}: a value does not fit its column: {error}"
        ) from error
