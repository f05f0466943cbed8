"""Questions of the common kind: text, sound, pictures and notation in any order, with options or a short answer.

A benchmark says how a record of its source becomes a `MediaQuestion`; `question_set` makes its `DatasetSpec` of that.
A row holds the question as text with a mark where each file is: ``<audio 1>``, ``<image 2>``, ``<abc 1>``, numbered
within their columns. An option may be such a mark. The published files may be a folder or a repository on the Hub:

- records: JSON (a list, or an object whose keys become the field ``id``), JSON Lines, CSV, or Parquet;
- files of sound and pictures: anywhere beside the records, found by their name, by that without its ending, or by what
  is in brackets at its beginning (``[ID]-[30-40].wav``); or bytes in a Parquet file, as `datasets` stores them.
"""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any, Final, Literal, TypedDict

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    DatasetSpec,
    FileCell,
    Provenance,
    Text,
    features_of,
    file_sha256,
    list_names,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.audio.clips import check_clip

MARK: Final = re.compile(r"<(audio|image|abc) (\d+)>")
"""Where a question or an option has a file, or notation: its kind, and its number in the row's column."""
SEED: Final = 1
"""Of composed questions."""
ABSENT: Final = b"-"
"""The bytes of a file in a row that lacks files."""
_MEDIA: Final = (".mp3", ".wav", ".flac", ".ogg", ".png", ".jpg", ".jpeg", ".webp")
_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")  # how files of the three accepted formats begin
_ROWS: Final = 64  # of a Parquet file at a time; a row may have megabytes


class MediaQuestionRow(TypedDict):
    """A question; `answer` is the letter of an option or, without options, a short text."""

    id: str
    question: Text
    options: list[Text]
    answer: Text
    audio: list[FileCell]
    images: list[FileCell]
    abc: list[Text]
    theme: str | None
    subtheme: str | None
    piece: str | None  # what several questions are about


def _problem(
    question: str, options: list[str], answer: str, audio: list[Any], images: list[Any], abc: list[str]
) -> str | None:
    """Say what is wrong with a row."""
    if options and not 2 <= len(options) <= len(ascii_uppercase):
        return f"it has {len(options)} options; accepted are none, and 2 to {len(ascii_uppercase)}"
    if options and answer not in [*ascii_uppercase[: len(options)]]:
        return f"its answer is {answer!r:.40}; accepted is the letter of one of its {len(options)} options"
    marks = MARK.findall("\n".join([question, *options]))
    columns = {"audio": audio, "image": images, "abc": abc}
    if sorted(marks) != sorted((kind, str(n)) for kind, files in columns.items() for n in range(1, len(files) + 1)):
        return f"its marks {marks!r:.100} do not name each of its files once"
    return None


FEATURES: Final = features_of(MediaQuestionRow, _problem, audio="audios", images="images")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question that is no plain text."""

    kind: Literal["audio", "image", "abc"]
    content: str | bytes | Mapping[str, Any]  # name of a file, its bytes, or both as `datasets` has them; or notation


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A question of a source; `right` is the place of the right option or, without options, the answer's text."""

    id: str
    parts: Sequence[str | Part]  # with a blank line between them
    options: Sequence[str | Part]
    right: int | str
    theme: str | None = None
    subtheme: str | None = None
    piece: str | None = None

    @classmethod
    def mixed(
        cls,
        name: str,
        parts: Sequence[str | Part],
        right: str | Part,
        wrong: Sequence[str | Part],
        **groups: str | None,
    ) -> "MediaQuestion":
        """Make a question of a source that names the right option first: always in the same order for an id.

        >>> MediaQuestion.mixed("7", ["Which drum?"], "Bongo", ["Djembe", "Taiko"]).options
        ['Bongo', 'Taiko', 'Djembe']
        """
        place = Random(f"{name} right").randrange(len(wrong) + 1)
        others = Random(f"{name} wrong").sample(wrong, len(wrong))
        return cls(name, parts, [*others[:place], right, *others[place:]], place, **groups)


Record = Mapping[str, Any]
"""An entry of a published file: field → value."""


@dataclass(frozen=True, slots=True)
class Records:
    """Where the records of a task are, and how one becomes a question; None for a record of another task."""

    files: str  # pattern of names
    read: Callable[[Record], MediaQuestion | None]


Composed = Callable[[int], Iterable[MediaQuestion]]
"""Composes questions from a seed."""


def question_set(
    name: str, version: str, tasks: Mapping[str, Records], stand_in: Composed | None = None
) -> DatasetSpec:
    """Describe the dataset of a benchmark: the published records of each task, and questions composed in their place.

    Args:
        name: of the dataset.
        version: of its rows.
        tasks: task → its published records.
        stand_in: composes the questions of all tasks from a seed, for the default dataset; without it there is none.
    """
    features = dict.fromkeys(tasks, FEATURES)

    def write(out: Path, rows: Mapping[str, Iterable[MediaQuestionRow]], source: str, **entries: Any) -> Provenance:
        provenance = make_provenance(name, version, source, **entries)
        splits = {task: {"test": task_rows} for task, task_rows in rows.items()}
        return write_dataset(out, splits, features=features, provenance=provenance, overwrite=True, option_floors=True)

    def generate(out: Path, _: OnPiece) -> Provenance:
        questions = stand_in(SEED) if stand_in else ()
        rows = [row_of(question, lambda part: bytes(part.content)) for question in questions]  # type: ignore[arg-type]
        return write(out, dict.fromkeys(tasks, rows), GENERATED, seed=SEED)

    def convert(folder: Path, out: Path, revision: str | None, allow_partial: bool) -> Provenance:
        """Write published questions; the files are read twice, so that the sound of one is in memory at a time."""
        source = _Published(folder, tasks)
        missing = tuple(f"{ascii(file)[1:-1]} ({why})" for file, why in source.checked.items() if why)
        entries = {"source_revision": revision, "source_sha256": source.digest, "missing": missing}
        if not allow_partial:
            check_complete(missing, str(folder), "--allow-partial")
        rows = {task: source.rows(task) for task in source.paths}
        return write(out, rows, "published", anomalies=dict(source.anomalies), **entries)

    seed, make = (SEED, generate) if stand_in else (None, None)
    return DatasetSpec(name, version, seed, features, make, convert)


def check_complete(missing: Sequence[str], dataset: str, allow_partial: str) -> None:
    """Raise DatasetError if files were missing or damaged, which names the parameter that allows it."""
    if missing:
        raise DatasetError(
            f"{len(missing)} files of {dataset} are missing or damaged: {list_names(missing)}; complete them, or take "
            f"the other questions with {allow_partial}"
        )


def row_of(question: MediaQuestion, load: Callable[[Part], bytes]) -> MediaQuestionRow:
    """Make the row of a question; `load` returns the bytes of a sound or a picture."""
    columns: dict[str, list[Any]] = {"audio": [], "image": [], "abc": []}

    def marked(part: str | Part) -> str:
        if isinstance(part, str):
            return MARK.sub(lambda mark: mark[0].replace("<", "< "), part).strip()
        files = columns[part.kind]
        files.append(part.content if part.kind == "abc" else {"bytes": load(part), "path": None})
        return f"<{part.kind} {len(files)}>"

    return MediaQuestionRow(
        id=question.id,
        question="\n\n".join(map(marked, question.parts)),
        options=[marked(option) for option in question.options],
        answer=question.right if isinstance(question.right, str) else ascii_uppercase[question.right],
        audio=columns["audio"],
        images=columns["image"],
        abc=columns["abc"],
        theme=question.theme,
        subtheme=question.subtheme,
        piece=question.piece,
    )


def _records(path: Path) -> Iterator[Record]:
    """The records of a file, by its ending."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS):
                yield from batch.to_pylist()
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            if path.suffix == ".csv":
                yield from csv.DictReader(lines)
            elif path.suffix == ".jsonl":
                yield from (json.loads(line) for line in lines if line.strip())
            else:
                whole = json.load(lines)
                yield from ({"id": key, **entry} for key, entry in whole.items()) if isinstance(whole, dict) else whole
    except (UnicodeDecodeError, csv.Error, json.JSONDecodeError, TypeError) as error:
        raise DatasetError(f"{path.name} cannot be read: {error}") from error


class _Published:
    """The published files in a folder, read once; a name in a record never leads out of the folder.

    A question with a missing or damaged file has `ABSENT` for its files: it can be asked without music.
    """

    def __init__(self, folder: Path, tasks: Mapping[str, Records]) -> None:
        names = sorted(path for path in folder.rglob("*") if path.is_file())
        media = [path for path in names if path.suffix.lower() in _MEDIA]
        bracketed = {path.stem[1:].partition("]")[0]: path for path in media if path.stem.startswith("[")}
        self._media = bracketed | {path.stem: path for path in media} | {path.name: path for path in media}
        self._tasks = tasks
        matching = {task: [p for p in names if fnmatch(p.name, records.files)] for task, records in tasks.items()}
        self.paths = {task: group for task, group in matching.items() if group}
        if not self.paths:
            patterns = ", ".join(records.files for records in tasks.values())
            raise DatasetError(f"{folder} holds no {patterns}; a copy of the published files is needed")
        digests = [file_sha256(path) for group in self.paths.values() for path in group]
        self.digest = digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()
        self.anomalies: Counter[str] = Counter()
        self.checked: dict[str, str] = {}  # name of a file → what is wrong with it
        self._lacking: set[tuple[str, str]] = set()
        for task in self.paths:
            for question in self._questions(task):
                self._check(task, question)

    def rows(self, task: str) -> Iterator[MediaQuestionRow]:
        """Yield the rows of a task."""
        for question in self._questions(task):
            yield row_of(question, (lambda _: ABSENT) if (task, question.id) in self._lacking else self._load)

    def _questions(self, task: str) -> Iterator[MediaQuestion]:
        for path in self.paths[task]:
            for record in _records(path):
                try:
                    question = self._tasks[task].read(record)
                except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                    label = record.get("id", "") if isinstance(record, Mapping) else record
                    raise DatasetError(
                        f"{path.name}: record {label!r:.60} is not as expected: {error!r:.200}"
                    ) from error
                if question:
                    yield question

    def _check(self, task: str, question: MediaQuestion) -> None:
        texts = [option.casefold().strip() for option in question.options if isinstance(option, str)]
        self.anomalies.update([f"{task}: equal options in {question.id}"] if len({*texts}) < len(texts) else [])
        for number, part in enumerate((*question.parts, *question.options)):
            if isinstance(part, Part) and part.kind != "abc":
                # Cells of different rows may have the same name.
                name = part.content if isinstance(part.content, str) else f"file {number} of {question.id}"
                if name not in self.checked:
                    self.checked[name] = self._problem(part)
                if self.checked[name]:
                    self._lacking.add((task, question.id))

    def _load(self, part: Part) -> bytes:
        """Return the bytes of a sound or a picture; KeyError if there is no such file."""
        content = part.content
        if isinstance(content, Mapping) and content.get("bytes"):
            return bytes(content["bytes"])
        name = content.get("path") if isinstance(content, Mapping) else content
        return name if isinstance(name, bytes) else self._media[str(name).rpartition("/")[2]].read_bytes()

    def _problem(self, part: Part) -> str:
        try:
            data = self._load(part)
            if part.kind == "audio":
                check_clip(data)
            elif not data.startswith(_PICTURES):
                return "it is no PNG, JPEG or WebP"
        except KeyError:
            return "missing"
        except ValueError as error:
            return " ".join(str(error).split())[:100]
        return ""
