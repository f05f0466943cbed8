"""What a dataset folder says about itself: ``provenance.json``. A folder with such a file is a dataset of ours."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from music_evals.benchmarks import dataset_facts

GENERATED = "generated"
"""Name of the dataset that is made on this machine, and the `Provenance.source` of every generated dataset."""

PROVENANCE_FILE = "provenance.json"
CARD_FILE = "README.md"
FORMAT = "music-evals dataset folder, version 1"
"""First entry of ``provenance.json``: what a folder must say to count as ours."""


class DatasetError(ValueError):
    """A dataset cannot be written or loaded as asked; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who built a dataset from what."""

    benchmark: str  # name of the dataset, e.g. ``"muse"``
    builder_version: str  # version of the builder's rows; a change of any row's content changes it
    source: str  # ``"generated"``, or the name of the source data
    licence: str  # licence identifier as the Hub spells it
    seed: int | None = None  # seed of a generated dataset
    source_revision: str | None = None  # revision of the source data, where it has one
    source_sha256: str | None = None  # checksum over the source files used, where there are any
    missing: tuple[str, ...] = ()  # what a partial copy of the source lacks
    # Versions and checksums of what made the bytes (renderer, soundfont).
    made_with: Mapping[str, str] = field(default_factory=dict)
    # What is odd in the source → how often; the rows keep it unless it says otherwise.
    anomalies: Mapping[str, int] = field(default_factory=dict)
    # Config → split → number of rows; filled by `write_dataset`.
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Path → SHA-256 of each file but the card; filled by `write_dataset`.
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the content of ``provenance.json``."""
        return as_json({"format": FORMAT, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """Read the content of ``provenance.json``; anything else is a `DatasetError`."""
        try:
            entries = json.loads(text)
        except ValueError as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        if not isinstance(entries, dict) or "format" not in entries:
            raise DatasetError("not a provenance file: 'format' is missing")
        if entries.pop("format") != FORMAT:
            raise DatasetError(f"a provenance file of another format than {FORMAT!r}")
        try:
            made = cls(**{**entries, "missing": tuple(entries.get("missing", ()))})
        except TypeError as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        is_sound = isinstance(made.files, dict) and isinstance(made.counts, dict)
        if not is_sound or not all(isinstance(splits, dict) for splits in made.counts.values()):
            raise DatasetError("not a provenance file: 'counts' or 'files' is no table")
        return made


def make_provenance(dataset: str, version: str, source: str, **about: Any) -> Provenance:
    """Return a provenance with the licence that the benchmark's folder states; ``other`` where it states none."""
    return Provenance(dataset, version, source, dataset_facts(dataset).sources[source].licence or "other", **about)


def read_provenance(folder: Path) -> Provenance:
    """Read what a dataset folder says about itself; DatasetError where it has no provenance file of ours."""
    try:
        text = (folder / PROVENANCE_FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatasetError(f"it has no {PROVENANCE_FILE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"its {PROVENANCE_FILE} cannot be read: {error}") from error
    return Provenance.from_json(text)


def as_json(value: object) -> str:
    """Return the text of a JSON file that people may read; paths are texts."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=os.fspath) + "\n"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    status = path.stat()
    return _sha256_of(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=1024)
def _sha256_of(path: Path, *_identity: int) -> str:
    """Hash a file; remembered while it stays as it is, for a grid of tasks loads the same files dozens of times."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> some(["a.wav", "b.wav", "c.wav"], most=2)
    'a.wav, b.wav and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
