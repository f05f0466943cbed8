"""``provenance.json``: who built a dataset folder from what. A folder with such a file is a dataset
of this project.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid5

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from music_evals.benchmarks import Source, dataset_facts, dataset_names

GENERATED = "generated"
"""Name of the dataset that is made on this machine, and the `Provenance.source` of every generated
dataset.
"""

PROVENANCE_FILE = "provenance.json"
CARD_FILE = "README.md"
EVAL_FILE = "eval.yaml"
PROMPTED = "prompted"
"""The config of rendered prompts that a published repository has besides the folder's configs."""
FORMAT = "music-evals dataset folder, version 1"
"""First entry of ``provenance.json``."""

_CANARIES = UUID("4b3d5f7e-0f0e-4c1c-9d53-7a1c6a2f9b10")
_LONGEST_ANOMALY = 400  # characters


class DatasetError(ValueError):
    """A dataset cannot be written or loaded as asked; the message says what is wrong and what is
    accepted.
    """


class FetchError(DatasetError):
    """Published data cannot be fetched; the same call may succeed later."""


def canary(benchmark: str) -> str:
    """Return the sentence by which makers of training data can find the rows of a dataset and
    exclude them.

    >>> canary("muse")
    'Test data, not for training: music-evals muse canary c90270f2-cb1b-58d5-93ea-89bb8f3b534e'
    """
    return (
        f"Test data, not for training: music-evals {benchmark} canary {uuid5(_CANARIES, benchmark)}"
    )


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("It holds control characters")
    return text


Printable = Annotated[str, AfterValidator(_printable)]
# It becomes part of the name of a log.
_Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Floors = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Config → split → form → ``questions``, their number, and each floor's share of them, from 0 to 1.
"""


@dataclass(slots=True)
class Decontamination:
    """How the rows of a training set were compared with test rows; it is filled in while the rows
    are composed.
    """

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    words: int  # length of the runs of words that are compared
    notes: int  # length of the runs of notes
    share: float  # of common runs, from which on a training row is dropped
    checked: int = 0  # composed rows, works or tunes that were compared
    dropped: int = 0
    # Test set → ``rows``, their number, and ``dropped``, how much of the training material was
    # dropped for it.
    tests: dict[Printable, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who built a dataset from what."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    benchmark: Printable  # name of the dataset, e.g. ``"muse"``
    builder_version: (
        Printable  # version of the builder's rows; a change of any row's content changes it
    )
    source: _Label  # ``"generated"``, or the name of the source data
    licence: Printable  # licence identifier as the Hub spells it
    seed: int | None = None  # seed of a generated dataset
    source_revision: Printable | None = None  # revision of the source data, where it has one
    source_sha256: Printable | None = (
        None  # checksum over the source files used, where there are any
    )
    # Config → files that a partial copy of the source lacks for it; under "" those of all configs.
    missing: Mapping[Printable, tuple[Printable, ...]] = field(default_factory=dict)
    # Library or file that made the bytes (renderer, soundfont) → its version or checksum.
    made_with: Mapping[Printable, Printable] = field(default_factory=dict)
    # Oddity of the source → how often it occurs; the rows keep it unless the text says otherwise.
    anomalies: Mapping[Printable, int] = field(default_factory=dict)
    # Config → split → number of rows. `write_dataset` fills this entry and the two below.
    counts: Mapping[Printable, Mapping[Printable, int]] = field(default_factory=dict)
    # Config → split → form of question → kind of floor → score without the music.
    floors: Floors = field(default_factory=dict)
    # Path → SHA-256 of each file except the card.
    files: Mapping[Printable, str] = field(default_factory=dict)
    decontamination: Decontamination | None = (
        None  # of a training set, which has neither floors nor a canary
    )

    def missing_for(self, config: str) -> tuple[str, ...]:
        """Return the files that a config lacks."""
        return (*self.missing.get("", ()), *self.missing.get(config, ()))

    def to_json(self) -> str:
        """Return the content of ``provenance.json``."""
        entries = dataclasses.asdict(self)
        if self.decontamination is None:
            del entries["decontamination"]
        return as_json({"format": FORMAT, **entries})

    @classmethod
    def from_json(cls, text: str | bytes) -> "Provenance":
        """Read the content of ``provenance.json``; anything else is a `DatasetError`."""
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"not a provenance file: {error}") from error
        if not isinstance(entries, dict) or entries.pop("format", None) != FORMAT:
            raise DatasetError(f"not a provenance file: its 'format' is not {FORMAT!r}")
        try:
            return _ADAPTER.validate_json(json.dumps(entries))
        except ValidationError as error:
            raise DatasetError(f"not a provenance file{format_error(error)}") from error


_ADAPTER = TypeAdapter(Provenance)


def format_error(error: ValidationError, start: int = 0) -> str:
    """Name the first problem that pydantic found, after its place without the first `start`
    steps.
    """
    first = error.errors(include_url=False)[0]
    place = "".join(f", {step!r:.100}" for step in first["loc"][start:] if step != "[key]")
    problem = first["msg"].removeprefix("Value error, ")
    return f"{place}: {problem[0].lower()}{problem[1:]}, not {first['input']!r:.100}"


def refusals(left_out: Mapping[str, str]) -> dict[str, int]:
    """Return `Provenance.anomalies` that name the pieces that were left out, with the reasons.

    >>> refusals({"BachJS/one": "it holds\\n no music"})
    {'left out: BachJS/one: it holds no music': 1}
    """
    anomalies = {}
    for name, reason in left_out.items():
        line = f"left out: {name}: {' '.join(reason.split())}"[:_LONGEST_ANOMALY]
        anomalies["".join(char if char.isprintable() else "\ufffd" for char in line)] = 1
    return anomalies


def source_facts(dataset: str, source: str) -> Source:
    """Return the facts of a dataset's source from its benchmark's folder; DatasetError if there is
    no such source.
    """
    sources = dataset_facts(dataset).sources if dataset in dataset_names() else {}
    if source not in sources:
        raise DatasetError(
            f"nothing is known of {dataset} from {source}; known sources: "
            f"{', '.join(sources) or 'none'}"
        )
    return sources[source]


def make_provenance(dataset: str, version: str, source: str, **entries: Any) -> Provenance:
    """Return a provenance with the licence of the source, or ``other`` if the benchmark's folder
    states none.

    If the folder knows the checksum of the source files, their revision is filled in too.
    """
    facts = source_facts(dataset, source)
    if facts.sha256 and entries.get("source_sha256") == facts.sha256:
        entries = {**entries, "source_revision": entries.get("source_revision") or facts.revision}
    return Provenance(dataset, version, source, facts.licence or "other", **entries)


def read_provenance(folder: Path) -> Provenance:
    """Read the provenance of a dataset folder; DatasetError if it has none."""
    try:
        return Provenance.from_json((folder / PROVENANCE_FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DatasetError(f"it has no {PROVENANCE_FILE}") from error


def data_file(config: str, split: str) -> str:
    """Return the path, in a dataset folder, of the rows of a split."""
    return f"{config}/{split}-00000-of-00001.parquet"


def as_json(value: object) -> str:
    """Return indented JSON; paths become texts."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=os.fspath) + "\n"


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    status = path.stat()
    return _sha256_of(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=1024)
def _sha256_of(path: Path, *_identity: int) -> str:
    """Hash a file once until it changes: a grid of tasks loads the same files dozens of times."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_names(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> list_names(["a.wav", "b.wav", "c.wav"], most=2)
    'a.wav, b.wav and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
