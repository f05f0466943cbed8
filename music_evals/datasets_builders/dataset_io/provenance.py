"""What a dataset folder says about itself: ``provenance.json``. A folder with such a file is a dataset of ours."""

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID, uuid5

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from music_evals.benchmarks import dataset_facts

GENERATED = "generated"
"""Name of the dataset that is made on this machine, and the `Provenance.source` of every generated dataset."""

PROVENANCE_FILE = "provenance.json"
CARD_FILE = "README.md"
EVAL_FILE = "eval.yaml"
PROMPTED = "prompted"
"""The config of rendered prompts that a repository of the Hub has besides the folder's, and ``eval.yaml`` names."""
FORMAT = "music-evals dataset folder, version 1"
"""First entry of ``provenance.json``: what a folder must say to count as ours."""

DATA_FILE: Final = re.compile(r"[\w-]+/[\w-]+-00000-of-00001\.parquet", re.ASCII)
LICENCE_FILE: Final = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)(_[A-Z]+)?(\.(md|txt))?")
"""Beside card and provenance, the files that a dataset folder may hold: ``CONFIG/SPLIT-…`` and texts of licences."""

_CANARIES: Final = UUID("4b3d5f7e-0f0e-4c1c-9d53-7a1c6a2f9b10")
_MOST_BYTES: Final = 10_000_000  # of a provenance file
_REFUSAL: Final = 400  # characters that it tells of what was left out


class DatasetError(ValueError):
    """A dataset cannot be written or loaded as asked; the message says what is wrong and what is accepted."""


def canary(benchmark: str) -> str:
    """Return the sentence by which those who make training data find the rows of a dataset, and leave them out.

    It stands in the card, in the metadata of the data files, and in the logs of runs.

    Example:
        >>> canary("muse")
        'Test data, not for training: music-evals muse canary c90270f2-cb1b-58d5-93ea-89bb8f3b534e'
    """
    return f"Test data, not for training: music-evals {benchmark} canary {uuid5(_CANARIES, benchmark)}"


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("It holds control characters")
    return text


def _of_the_layout(path: str) -> str:
    if not DATA_FILE.fullmatch(path) and not LICENCE_FILE.fullmatch(path):
        raise ValueError("It is no path of a dataset folder")
    return path


Printable = Annotated[str, AfterValidator(_printable)]
_Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]  # becomes part of the name of a log
_Part = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_Rows = Annotated[int, Field(gt=0, le=1_000_000)]
Floors = Mapping[_Part, Mapping[_Part, Mapping[Printable, Mapping[Printable, Annotated[float, Field(ge=0)]]]]]
"""Config → split → form → ``questions``, how many there are, and each floor's share of them, from 0 to 1."""
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who built a dataset from what."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    benchmark: Printable  # name of the dataset, e.g. ``"muse"``
    builder_version: Printable  # version of the builder's rows; a change of any row's content changes it
    source: _Label  # ``"generated"``, or the name of the source data
    licence: Printable  # licence identifier as the Hub spells it
    seed: int | None = None  # seed of a generated dataset
    source_revision: Printable | None = None  # revision of the source data, where it has one
    source_sha256: Printable | None = None  # checksum over the source files used, where there are any
    missing: tuple[Printable, ...] = ()  # what a partial copy of the source lacks
    # Versions and checksums of what made the bytes (renderer, soundfont).
    made_with: Mapping[Printable, Printable] = field(default_factory=dict)
    # What is odd in the source → how often; the rows keep it unless it says otherwise.
    anomalies: Mapping[Printable, int] = field(default_factory=dict)
    # Config → split → number of rows; filled by `write_dataset`.
    counts: Mapping[_Part, Mapping[_Part, _Rows]] = field(default_factory=dict)
    # Config → split → form of question → what is earned without the music, by the kind of floor; likewise.
    floors: Floors = field(default_factory=dict)
    # Path → SHA-256 of each file but the card; likewise.
    files: Mapping[Annotated[str, AfterValidator(_of_the_layout)], _Digest] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the content of ``provenance.json``."""
        return as_json({"format": FORMAT, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """Read the content of ``provenance.json``; anything else is a `DatasetError`."""
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        if not isinstance(entries, dict) or "format" not in entries:
            raise DatasetError("not a provenance file: 'format' is missing")
        if entries.pop("format") != FORMAT:
            raise DatasetError(f"a provenance file of another format than {FORMAT!r}")
        try:
            return _adapter().validate_json(json.dumps(entries))
        except ValidationError as error:
            raise DatasetError(f"not a provenance file{told(error)}") from error


def refusals(left_out: Mapping[str, str]) -> dict[str, int]:
    """Put what was left out → why in the form of `Provenance.anomalies`.

    >>> refusals({"BachJS/one": "it holds\\n no music"})
    {'left out: BachJS/one: it holds no music': 1}
    """
    told = {name: " ".join(reason.split()) for name, reason in left_out.items()}
    return {
        "".join(sign if sign.isprintable() else "\ufffd" for sign in f"left out: {name}: {reason}"[:_REFUSAL]): 1
        for name, reason in told.items()
    }


@cache
def _adapter() -> TypeAdapter[Provenance]:
    return TypeAdapter(Provenance)


def told(error: ValidationError, start: int = 0) -> str:
    """Say what the first thing wrong is, and where; of the place, what begins at `start`."""
    first = error.errors(include_url=False)[0]
    place = "".join(f", {part!r:.100}" for part in first["loc"][start:] if part != "[key]")
    problem = first["msg"].removeprefix("Value error, ")
    return f"{place}: {problem[0].lower()}{problem[1:]}, not {first['input']!r:.100}"


def make_provenance(dataset: str, version: str, source: str, **about: Any) -> Provenance:
    """Return a provenance with the licence that the benchmark's folder states; ``other`` where it states none."""
    return Provenance(dataset, version, source, dataset_facts(dataset).sources[source].licence or "other", **about)


def read_provenance(folder: Path) -> Provenance:
    """Read what a dataset folder says about itself; DatasetError where it has no provenance file of ours."""
    path = folder / PROVENANCE_FILE
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > _MOST_BYTES):
            raise DatasetError(f"its {PROVENANCE_FILE} is no file of at most {_MOST_BYTES:,} bytes")
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatasetError(f"it has no {PROVENANCE_FILE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"its {PROVENANCE_FILE} cannot be read: {error}") from error
    return Provenance.from_json(text)


def data_file(config: str, split: str) -> str:
    """Return the path, in a dataset folder, of the rows of a split."""
    return f"{config}/{split}-00000-of-00001.parquet"


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


def in_a_line(error: BaseException) -> str:
    """Return what an error of a library says, without the bytes of a file that it may quote.

    >>> in_a_line(OSError("no such type: \\x0e\\n"))
    'no such type:'
    """
    said = "".join(char if char.isprintable() else " " for char in str(error))
    return f"{' '.join(said.split()):.300}"


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> some(["a.wav", "b.wav", "c.wav"], most=2)
    'a.wav, b.wav and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
