"""Whether a dataset folder is whole: its files, their checksums, rows and columns, and its card."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Features
from huggingface_hub import DatasetCard

from music_evals.datasets_builders.folder import (
    CARD_FILE,
    PROVENANCE_FILE,
    Benchmark,
    DatasetError,
    Provenance,
    file_sha256,
    read_provenance,
    some,
)

# What the YAML header of a card must say.
_CARD_ENTRIES: Final = ("license", "language", "task_categories", "tags", "pretty_name", "size_categories", "configs")
_DATA_FILE: Final = re.compile(r"(?P<config>[^/]+)/(?P<split>[^/]+)-\d{5}-of-\d{5}\.parquet")


def check_folder(folder: Path, benchmark: Benchmark) -> Provenance:
    """Return what a dataset folder of a benchmark says about itself; DatasetError where any of it is not true."""
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder")
    try:
        made = read_provenance(folder)
    except DatasetError as error:
        raise DatasetError(f"{folder} is no dataset of ours: {error}") from error
    if made.benchmark != benchmark.name:
        raise DatasetError(f"{folder} is a dataset of {made.benchmark}, not of {benchmark.name}")
    problem = next(_problems(folder, made, benchmark), None)
    if problem is not None:
        raise DatasetError(f"{folder} is no sound dataset: {problem}; build it again")
    return made


def _problems(folder: Path, made: Provenance, benchmark: Benchmark) -> Iterator[str]:
    """What is wrong; only the first is asked for, as each check relies on those ahead of it."""
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    expected = {CARD_FILE, PROVENANCE_FILE, *made.files}
    if missing := sorted(expected - present):
        yield f"it lacks {some(missing)}"
    if extra := sorted(present - expected):
        yield f"its {PROVENANCE_FILE} does not name {some(extra)}"
    for path, digest in made.files.items():
        if file_sha256(folder / path) != digest:
            yield f"{path} is not the file that its {PROVENANCE_FILE} names"
    yield from _row_problems(folder, made, benchmark)
    yield from _card_problems(folder, made)


def _row_problems(folder: Path, made: Provenance, benchmark: Benchmark) -> Iterator[str]:
    rows: dict[tuple[str, str], int] = {}
    for path in made.files:
        match = _DATA_FILE.fullmatch(path)
        if match is None:
            if "/" in path:
                yield f"{path} is no data file"
            continue  # a licence, for example
        config, split = match.groups()
        if config not in benchmark.features:
            yield f"{benchmark.name} has no config {config}"
        try:
            metadata, schema = pq.read_metadata(folder / path), pq.read_schema(folder / path)
        except (OSError, pa.ArrowException) as error:
            yield f"{path} cannot be read as Parquet: {error}"
        if Features.from_arrow_schema(schema) != benchmark.features[config]:
            yield f"the columns of {path} are not those of version {benchmark.version} of the builder"
        rows[config, split] = rows.get((config, split), 0) + metadata.num_rows
    stated = {(config, split): count for config, splits in made.counts.items() for split, count in splits.items()}
    for config, split in sorted(rows.keys() | stated.keys()):
        found, expected = rows.get((config, split), 0), stated.get((config, split), 0)
        if found != expected:
            yield f"{config}/{split} has {found} rows, its {PROVENANCE_FILE} says {expected}"


def _card_problems(folder: Path, made: Provenance) -> Iterator[str]:
    try:
        card = DatasetCard((folder / CARD_FILE).read_text(encoding="utf-8")).data
    except Exception as error:  # whatever a reader of YAML meets in a file that is none
        yield f"the header of {CARD_FILE} cannot be read: {error}"
    if lacking := [name for name in _CARD_ENTRIES if not card.get(name)]:
        yield f"the header of {CARD_FILE} lacks {', '.join(lacking)}"
    if card["license"] != made.licence:
        yield f"{CARD_FILE} says that the licence is {card['license']}, its {PROVENANCE_FILE} says {made.licence}"
    named = card["configs"] if isinstance(card["configs"], list) else []
    if {config.get("config_name") for config in named if isinstance(config, dict)} != set(made.counts):
        yield f"the configs in the header of {CARD_FILE} are not those of its {PROVENANCE_FILE}"
