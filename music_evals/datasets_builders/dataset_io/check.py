"""Whether a dataset folder is whole: its files, their checksums, rows and columns, and its card."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
from huggingface_hub import DatasetCard

from music_evals.datasets_builders.dataset_io import (
    CARD_FILE,
    PROVENANCE_FILE,
    Benchmark,
    DatasetError,
    Provenance,
    file_sha256,
    load_split,
    read_provenance,
    some,
)
from music_evals.datasets_builders.dataset_io.provenance import LICENCE_FILE, data_file

# What the YAML header of a card must say.
_CARD_ENTRIES: Final = ("license", "language", "task_categories", "tags", "pretty_name", "size_categories", "configs")


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
    expected = {CARD_FILE, PROVENANCE_FILE, *made.files}
    expected |= {data_file(config, split) for config, splits in made.counts.items() for split in splits}
    present = set()
    for entry in sorted(folder.rglob("*")):
        path = entry.relative_to(folder).as_posix()
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            yield f"{path!r} is a link, or no regular file"
        if entry.is_file():
            present.add(path)
        elif not any(name.startswith(f"{path}/") for name in expected):
            yield f"the folder {path!r} does not belong to it"
    if missing := sorted(expected - present):
        yield f"it lacks {some(missing)}"
    if extra := sorted(present - expected):
        yield f"its {PROVENANCE_FILE} does not name {some(list(map(repr, extra)))}"
    for config, splits in made.counts.items():
        for split in splits:
            path = data_file(config, split)
            load_split(str(folder), config, split, benchmark=benchmark)
            if pq.read_schema(folder / path).names != list(benchmark.features[config]):
                yield f"{path} has further columns than those of version {benchmark.version} of the builder"
            expected.remove(path)
    for path in sorted(expected - {CARD_FILE, PROVENANCE_FILE}):
        if not LICENCE_FILE.fullmatch(path):
            yield f"{path} holds no rows that its {PROVENANCE_FILE} counts"
        if file_sha256(folder / path) != made.files[path]:
            yield f"{path} is not the file that its {PROVENANCE_FILE} names"
        if not _is_plain_text((folder / path).read_bytes()):
            yield f"{path} is no plain text in UTF-8"
    yield from _card_problems(folder, made)


def _is_plain_text(content: bytes) -> bool:
    try:
        return all(char.isprintable() or char.isspace() for char in content.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _card_problems(folder: Path, made: Provenance) -> Iterator[str]:
    try:
        card = DatasetCard((folder / CARD_FILE).read_text(encoding="utf-8")).data
    except Exception as error:  # whatever a reader of YAML meets in a file that is none
        yield f"the header of {CARD_FILE} cannot be read: {error}"
        return
    if lacking := [name for name in _CARD_ENTRIES if not card.get(name)]:
        yield f"the header of {CARD_FILE} lacks {', '.join(lacking)}"
    if card["license"] != made.licence:
        yield f"{CARD_FILE} says that the licence is {card['license']}, its {PROVENANCE_FILE} says {made.licence}"
    named = card["configs"] if isinstance(card["configs"], list) else []
    if {config.get("config_name") for config in named if isinstance(config, dict)} != set(made.counts):
        yield f"the configs in the header of {CARD_FILE} are not those of its {PROVENANCE_FILE}"
