"""Published files of questions with sound and pictures: a folder, or a repository on the Hub.

- Records are JSON (a list, or an object whose keys become the field ``id``), JSON Lines, CSV, TSV,
  Parquet, or lines of text, also in Big5. A ``.csv`` file whose header has tabs is read as TSV.
- Sound and pictures are files beside the records, bytes in a Parquet file as `datasets` stores
  them, or in a record of another file (`JoinedSound`).
- Records and files may be in archives (zip, tar).

A file is found by its path. Its name may stand for the path if no other file has that name.
"""

import csv
import hashlib
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from music_evals.datasets_builders.dataset_io import (
    PUBLISHED,
    Conversion,
    DatasetError,
    file_sha256,
    locked_folder,
    text_sha256,
)
from music_evals.datasets_builders.dataset_io.archives import is_archive, unpack
from music_evals.datasets_builders.dataset_io.bounded import parquet_batches
from music_evals.datasets_builders.dataset_io.folders import files_in
from music_evals.datasets_builders.questions.media_questions import (
    ABSENT,
    JoinedSound,
    MediaQuestion,
    MediaQuestionRow,
    Part,
    Record,
    Records,
    check_complete,
    row_of,
)
from music_evals.notation.audio.clips import check_clip
from music_evals.notation.cache import cache_folder
from music_evals.notation.pictures import as_sendable, check_picture
from music_evals.notation.subprocesses import read_in_subprocess

_SUFFIXES = (".mp3", ".wav", ".flac", ".ogg", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".pdf")
_LARGEST = 300_000_000  # bytes of a file of sound or a picture; a row holds it


class MediaFiles:
    """Files of sound and pictures by their paths within the source."""

    def __init__(self) -> None:
        # Name → path → file.
        self._by_name: dict[str, dict[PurePosixPath, Path]] = defaultdict(dict)
        # Name of a record's sound → files of different content.
        self._joined: dict[str, set[Path]] = defaultdict(set)

    def add(self, path: str, file: Path) -> None:
        """Add a file by its path within the source."""
        within = PurePosixPath(path)
        for name in _names(within):
            self._by_name[name][within] = file

    def join(self, name: str, file: Path) -> None:
        """Add the sound of a record by a name of its own."""
        self._joined[name].add(file)

    def find(self, name: str) -> Path:
        """Return the file of a path or name, with or without its ending.

        Raises:
            KeyError: there is no such file; the message says why.
            DatasetError: several files have the name, and the path does not say which one is meant.
        """
        if sounds := self._joined.get(name):
            if len(sounds) > 1:
                raise KeyError("several sounds fit it")
            return next(iter(sounds))
        wanted = PurePosixPath(name)
        files = self._by_name.get(wanted.name, {})
        if not files:
            raise KeyError("missing")
        files = {path: file for path, file in files.items() if path.name == wanted.name} or files
        if len(files) == 1:
            return next(iter(files.values()))
        folders = wanted.parent.parts
        if folders:
            longer = [path for path in files if _ends_with(path.parent.parts, folders)]
            shorter = [path for path in files if _ends_with(folders, path.parent.parts)]
            for matching in (longer, shorter):
                if len(matching) == 1:
                    return files[matching[0]]
        first, second, *_ = sorted(map(str, files))
        raise DatasetError(
            f"{name} may be {first} or {second}; records must name its path, or one of them must go"
        )


def _names(path: PurePosixPath) -> set[str]:
    """The names of a file: in full, without its ending, and what is in brackets at its
    beginning.
    """
    names = {path.name, path.stem}
    if path.name.startswith("["):
        names.add(path.name[1:].partition("]")[0])
    return names


def _ends_with(longer: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return longer[len(longer) - len(end) :] == end


@contextmanager
def read_published(
    conversion: Conversion, tasks: Mapping[str, Records], reader: "Reader | None" = None
) -> Iterator["PublishedQuestions"]:
    """Read published files, for the time of the block.

    DatasetError if there are no records, a record is not as expected, or files are missing and that
    is not allowed.
    """
    key = text_sha256(str(conversion.source.absolute()))[:16]
    with locked_folder(cache_folder() / PUBLISHED / f".{key}.unpacked") as unpacked:
        folder = unpacked / "files"
        shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
        folder.mkdir()
        questions = (reader or PublishedQuestions)(conversion, tasks, folder)
        if not conversion.allow_partial:
            missing = {name for names in questions.missing.values() for name in names}
            check_complete(sorted(missing), str(conversion.source), "--allow-partial")
        yield questions


class PublishedQuestions:
    """The questions of each task in published files, with their sound and pictures.

    A question with a missing or damaged file has `ABSENT` for its files: it can be asked without
    music.
    """

    def __init__(
        self, conversion: Conversion, tasks: Mapping[str, Records], unpacked: Path
    ) -> None:
        self._tasks = tasks
        self._unpacked = unpacked
        self._source = conversion.source
        self._revision = conversion.revision
        self._files = files_in(self._source)
        self._archives = [path for path in self._files.values() if is_archive(path)]
        self.paths = self._record_files()
        self._media = MediaFiles()
        self._collect_media()
        # Task → files, with what is wrong with them.
        self.missing: dict[str, list[str]] = defaultdict(list)
        self._anomalies: Counter[str] = Counter()
        self._lacking: set[tuple[str, str]] = set()  # task and id of questions that lack a file
        for task in self.paths:
            self._check(task)

    @property
    def facts(self) -> dict[str, Any]:
        """What the provenance says of the source."""
        digests = [file_sha256(path) for group in self.paths.values() for path in group]
        digest = digests[0] if len(digests) == 1 else text_sha256(" ".join(digests))
        return {
            "source_revision": self._revision,
            "source_sha256": digest,
            "missing": {task: tuple(names) for task, names in self.missing.items()},
            "anomalies": dict(self._anomalies),
        }

    def rows(self, task: str) -> Iterator[MediaQuestionRow]:
        """Yield the rows of a task."""
        for question in self._questions(task):
            is_lacking = (task, question.id) in self._lacking
            yield row_of(question, (lambda _: ABSENT) if is_lacking else self._load)

    # --- records ---

    def _record_files(self) -> dict[str, list[Path]]:
        """The files of records by task; archives are looked into if there are none beside them."""
        patterns = [pattern for records in self._tasks.values() for pattern in records.files]
        if not self._matching(patterns):
            for archive in self._archives:
                self._files |= unpack(
                    archive, self._unpacked, lambda name: _matches(name, patterns)
                )
        paths = {task: self._first_matching(records.files) for task, records in self._tasks.items()}
        if not any(paths.values()):
            raise DatasetError(
                f"{self._source} holds no {', '.join(patterns)}; a copy of the published files is "
                f"needed, or '{PUBLISHED}' to fetch them"
            )
        return {task: group for task, group in paths.items() if group}

    def _first_matching(self, patterns: Sequence[str]) -> list[Path]:
        """The files of the first pattern that any file matches."""
        groups = (self._matching([pattern]) for pattern in patterns)
        return next(filter(None, groups), [])

    def _matching(self, patterns: Sequence[str]) -> list[Path]:
        return [path for name, path in self._files.items() if _matches(name, patterns)]

    def _questions(self, task: str) -> Iterator[MediaQuestion]:
        for path in self.paths[task]:
            place = {"folder": path.parent.name, "files": self._files}
            for record in read_records(path):
                try:
                    questions = self._tasks[task].read({**place, **record})
                except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                    label = record.get("id", "") if isinstance(record, Mapping) else record
                    raise DatasetError(
                        f"{path.name}: record {label!r:.60} is not as expected: {error!r:.200}"
                    ) from error
                if isinstance(questions, MediaQuestion):
                    yield questions
                elif questions:
                    yield from questions

    # --- media ---

    def _collect_media(self) -> None:
        """Index the files beside the records, and unpack what the questions name from archives and
        other records.
        """
        for name, path in self._files.items():
            if path.suffix.lower() in _SUFFIXES:
                self._media.add(name, path)
        joined = [records.joined for records in self._tasks.values() if records.joined]
        if not self._archives and not joined:
            return
        wanted: set[str] = set()
        for task in self.paths:
            for question in self._questions(task):
                for _, part in _files_of(question):
                    wanted.update(_names_of(part))
        names = {PurePosixPath(name).name for name in wanted}

        def is_wanted(name: str) -> bool:
            return not names.isdisjoint(_names(PurePosixPath(name)))

        for archive in self._archives:
            members = unpack(archive, self._unpacked, is_wanted)
            for name, path in members.items():
                self._media.add(name, path)
        for sound in joined:
            self._join_sound(sound, wanted)

    def _join_sound(self, joined: JoinedSound, wanted: set[str]) -> None:
        """Write the sound of other records to files, under the names by which the questions ask for
        it.
        """
        for path in self._matching([joined.files]):
            for record in read_records(path):
                names, data = joined.read(record)
                wanted_names = wanted.intersection(names)
                if not wanted_names:
                    continue
                file = self._unpacked / hashlib.sha256(data).hexdigest()
                file.write_bytes(data)
                for name in wanted_names:
                    self._media.join(name, file)

    def _check(self, task: str) -> None:
        """Note equal options, and files that are missing or damaged."""
        problems: dict[str, str] = {}  # name of a file → what is wrong with it
        questions, lacking = 0, 0
        for question in self._questions(task):
            questions += 1
            options = [option for option in question.options if isinstance(option, str)]
            if len({option.casefold().strip() for option in options}) < len(options):
                self._anomalies[f"{task}: equal options in {question.id}"] += 1
            own = self._problems_of(question, problems)
            if any(own):
                lacking += 1
                self._lacking.add((task, question.id))
        bad = [f"{ascii(name)[1:-1]} ({why})" for name, why in problems.items() if why]
        if bad:
            self.missing[task] = bad
        if joined := self._tasks[task].joined:
            self._anomalies[
                f"{task}: of {questions} questions, joined with their sound in {joined.files}"
            ] = questions - lacking

    def _problems_of(self, question: MediaQuestion, problems: dict[str, str]) -> list[str]:
        """Check the files of a question, each once; `problems` has the results so far, by name."""
        own = []
        for number, part in _files_of(question):
            name = f"file {number} of {question.id}"
            if not isinstance(part.content, Mapping):
                name = next(iter(_names_of(part)), "") or name
            if name not in problems:
                problems[name] = self._problem(part)
            own.append(problems[name])
        return own

    def _load(self, part: Part) -> bytes:
        """Return the bytes of a sound or a picture; KeyError if there is no such file."""
        content = part.content
        if isinstance(content, bytes):
            return content
        if isinstance(content, Mapping) and content.get("bytes"):
            return bytes(content["bytes"])
        *alternatives, last = _names_of(part)
        for name in alternatives:
            with suppress(KeyError):
                return read_media(self._media.find(name))
        return read_media(self._media.find(last))

    def _problem(self, part: Part) -> str:
        check = check_clip if part.kind == "audio" else check_picture
        try:
            check(self._load(part))
        except KeyError as error:
            return str(error.args[0])
        except DatasetError:
            raise
        except ValueError as error:
            return " ".join(str(error).split())[:100]
        return ""


Reader = Callable[[Conversion, Mapping[str, Records], Path], PublishedQuestions]
"""Reads questions, given a folder for what is unpacked."""


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file, by its ending; DatasetError if it cannot be read."""
    if path.suffix == ".parquet":
        yield from _parquet_records(path)
        return
    try:
        yield from read_in_subprocess(_text_records, path)
    except (ValueError, csv.Error, RecursionError, TypeError) as error:
        raise DatasetError(f"{path.name} cannot be read: {error}") from error


def _text_records(path: Path) -> list[Record]:
    with path.open(encoding=_encoding(path), newline="") as lines:
        if path.suffix in (".csv", ".tsv"):
            # A tab in the header says what stands between the cells.
            delimiter = "\t" if "\t" in lines.readline() else ","
            lines.seek(0)
            return [*csv.DictReader(lines, delimiter=delimiter)]
        if path.suffix == ".txt":
            return [
                {"id": f"{path.stem}-{number}", "file": str(path), "line": line}
                for number, line in enumerate(lines, start=1)
            ]
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in lines if line.strip()]
        entries = json.load(lines)
    if isinstance(entries, dict):
        return [{"id": key, **entry} for key, entry in entries.items()]
    return [*entries]


def _encoding(path: Path) -> str:
    """The encoding of a file of records; lines of text may be in Big5."""
    with suppress(UnicodeDecodeError):
        path.read_text("utf-8-sig")
        return "utf-8-sig"
    return "big5hkscs" if path.suffix == ".txt" else "utf-8-sig"


def _parquet_records(path: Path) -> Iterator[Record]:
    import pyarrow as pa

    try:
        for batch in parquet_batches(path, path.name):
            yield from batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path.name} cannot be read as Parquet: {error}") from error


def read_media(path: Path) -> bytes:
    """Return the bytes of a sound or a picture; ValueError for too large a file."""
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"it has over {_LARGEST:,} bytes, which is the most")
    return as_sendable(path.read_bytes())


def _matches(path: str, patterns: Sequence[str]) -> bool:
    name = PurePosixPath(path).name
    return any(fnmatch(name, pattern) for pattern in patterns)


def _files_of(question: MediaQuestion) -> Iterator[tuple[int, Part]]:
    """The files of a question, with their places among its parts and options."""
    for number, part in enumerate((*question.parts, *question.options)):
        if isinstance(part, Part) and part.kind != "abc":
            yield number, part


def _names_of(part: Part) -> tuple[str, ...]:
    """The names of a part's file, to try in turn; none if the part has bytes without a path."""
    content = part.content
    if isinstance(content, Mapping):
        content = str(content.get("path"))
    if isinstance(content, str):
        return (content,)
    return content if isinstance(content, tuple) else ()
