"""The questions of MSU-Bench as their authors publish them: with scores from the Hub, or without from GitHub.

On the Hub (``Krinos/MSU-Bench``) the config ``nested`` has a row a score: song_id, abc_notation, pdf, images, and
questions with level, question and answer; ``flat`` has a row a question. The same data may be a folder: a snapshot of
that repository. On GitHub (``Congren-Dai/MSU-Bench``) ``msu-bench.xlsx`` holds the questions (Link, Level, Question,
Answer) and ``metadata.xlsx`` the scores (Composer, Title, Link), without any music: enough to ask by title alone.

The answer ``None`` is a string: there is none of what is asked for. The paper's test set of 30 scores is not
published, so works are assigned to splits from a seed.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.utils.exceptions import InvalidFileException

from music_evals.datasets_builders.dataset_io import DatasetError, FileCell, download, make_provenance
from music_evals.datasets_builders.msu.dataset import (
    DEFAULT_SEED,
    LEVELS,
    NAME,
    PUBLISHED,
    VERSION,
    Plan,
    QuestionRow,
    ScoreRow,
    split_plan,
    split_works,
)

HUB_REPOSITORY: Final = "Krinos/MSU-Bench"
QUESTIONS_FILE: Final = "msu-bench.xlsx"
SCORES_FILE: Final = "metadata.xlsx"

_QUESTION_COLUMNS: Final = ("Link", "Level", "Question", "Answer")
_SCORE_COLUMNS: Final = ("Composer", "Title", "Link")
_FIELD: Final = re.compile(r"^(?P<name>[TC]):[ \t]*(?P<value>.*)$", re.MULTILINE)


def is_snapshot(folder: Path) -> bool:
    """Say whether a folder is laid out like the repository on the Hub."""
    return any(folder.glob("nested/*.parquet")) and any(folder.glob("flat/*.parquet"))


def download_published(revision: str | None = None) -> tuple[Path, str]:
    """Download the authors' repository at a commit, a branch or a tag: its folder, and what it is called."""
    folder = download(HUB_REPOSITORY, revision)
    return folder, f"hf.co/datasets/{HUB_REPOSITORY}@{folder.name}"


def build_snapshot(folder: Path, *, revision: str | None = None, seed: int = DEFAULT_SEED) -> Plan:
    """Read a snapshot of the repository on the Hub, at a revision where that is known; the seed decides the splits.

    DatasetError where a question is malformed, or ``flat`` and ``nested`` do not hold the same questions.
    """
    scores, questions = [], []
    for number, row in enumerate(_rows(folder, "nested"), start=1):
        where = f"nested, row {number}"
        score_id = _text(row, "song_id", where)
        abc = row.get("abc_notation")
        header = _header(abc or "")
        pages: list[Any] = [
            image.get("bytes") if isinstance(image, dict) else None for image in row.get("images") or []
        ]
        if not all(isinstance(page, bytes) and page for page in pages):
            raise DatasetError(f"{where}: a page has no bytes")
        scores.append(
            ScoreRow(
                score_id=score_id,
                title=header.get("T", ""),
                composer=header.get("C", ""),
                abc=abc,
                images=[FileCell(bytes=page, path=None) for page in pages],
                musicxml=None,
                source=f"{HUB_REPOSITORY}: {score_id}",
            )
        )
        questions += _questions(score_id, [(where, item) for item in _items(row.get("questions"), where)])
    nested = Counter((row["score_id"], row["level"], row["question"], row["answer"]) for row in questions)
    flat: Counter[tuple[str, int, str, str]] = Counter()
    for number, row in enumerate(_rows(folder, "flat"), start=1):
        where = f"flat, row {number}"
        song, question, answer = (_text(row, name, where) for name in ("song_id", "question", "answer"))
        flat[song, _level(row.get("level"), where), question, answer] += 1
    if nested != flat:
        first = next(iter((nested - flat) + (flat - nested)))
        raise DatasetError(f"{folder}: nested and flat hold different questions, first {first[2]!r} on {first[0]}")
    return _planned(scores, questions, seed, source_revision=revision)


def build_spreadsheets(folder: Path, *, seed: int = DEFAULT_SEED) -> Plan:
    """Read the authors' spreadsheets: questions and a list of the scores, but no music; the seed decides the splits.

    DatasetError names file and row of what is missing or malformed.
    """
    scores: dict[str, ScoreRow] = {}
    for where, row in _sheet(folder / SCORES_FILE, _SCORE_COLUMNS):
        score_id = str(row["Link"]).rstrip("/").rpartition("/")[2]
        if score_id in scores:
            raise DatasetError(f"{where}: the score {row['Link']} is there already")
        scores[score_id] = ScoreRow(
            score_id=score_id,
            title=_text(row, "Title", where),
            composer=_text(row, "Composer", where),
            abc=None,
            images=[],
            musicxml=None,
            source=str(row["Link"]),
        )
    asked: dict[str, list[tuple[str, Mapping[str, Any]]]] = {score_id: [] for score_id in scores}
    for where, row in _sheet(folder / QUESTIONS_FILE, _QUESTION_COLUMNS):
        score_id = str(row["Link"]).rstrip("/").rpartition("/")[2]
        if score_id not in asked:
            raise DatasetError(f"{where}: {SCORES_FILE} has no score {row['Link']}")
        asked[score_id].append((where, {name.lower(): value for name, value in row.items()}))
    questions = [row for score_id, items in asked.items() for row in _questions(score_id, items)]
    digest = hashlib.sha256()
    for name in (QUESTIONS_FILE, SCORES_FILE):
        digest.update((folder / name).read_bytes())
    return _planned(list(scores.values()), questions, seed, source_sha256=digest.hexdigest())


def _planned(scores: Sequence[ScoreRow], questions: Sequence[QuestionRow], seed: int, **about: str | None) -> Plan:
    anomalies = {
        "scores without ABC": sum(not row["abc"] for row in scores),
        "scores without pages": sum(not row["images"] for row in scores),
        "answers that are the word None, kept": sum(row["answer"] == "None" for row in questions),
    }
    odd = {what: count for what, count in anomalies.items() if count}
    provenance = make_provenance(NAME, VERSION, PUBLISHED, seed=seed, anomalies=odd, **about)
    return split_plan(scores, questions, split_works(scores, seed), provenance)


def _questions(score_id: str, items: Iterable[tuple[str, Mapping[str, Any]]]) -> list[QuestionRow]:
    """Rows of a score's questions, given with their places in the source."""
    numbers: Counter[int] = Counter()
    rows = []
    for where, item in items:
        level = _level(item.get("level"), where)
        numbers[level] += 1
        rows.append(
            QuestionRow(
                id=f"{score_id}-level{level}-{numbers[level]}",
                score_id=score_id,
                level=level,
                kind=None,
                question=_text(item, "question", where),
                answer=_text(item, "answer", where),
                answer_type=None,
            )
        )
    return sorted(rows, key=lambda row: row["level"])


def _rows(folder: Path, config: str) -> Iterator[Mapping[str, Any]]:
    """Read a config's Parquet files a few rows at a time: pages and PDFs are megabytes each."""
    for path in sorted(folder.glob(f"{config}/*.parquet")):
        try:
            file = pq.ParquetFile(path)
            wanted = [name for name in file.schema_arrow.names if name != "pdf"]
            for batch in file.iter_batches(batch_size=4, columns=wanted):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"{path} cannot be read as Parquet: {error}") from error


def _items(given: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of questions, which some writers of Parquet turn into a table of lists."""
    if isinstance(given, dict):
        return [dict(zip(given, values, strict=True)) for values in zip(*given.values(), strict=True)]
    if isinstance(given, list):
        return given
    raise DatasetError(f"{where}: the score has no questions")


def _sheet(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if not path.is_file():
        raise DatasetError(f"{path} is missing")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (OSError, BadZipFile, InvalidFileException, KeyError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read as a spreadsheet: {error}") from error
    rows = book.worksheets[0].iter_rows(values_only=True)
    header = tuple(next(rows, ()))
    if header != tuple(columns):
        raise DatasetError(
            f"{path.name} has the columns {', '.join(map(str, header))}; needed are {', '.join(columns)}"
        )
    for number, row in enumerate(rows, start=2):
        where = f"{path.name}, row {number}"
        if len(row) != len(columns) or any(cell is None or not str(cell).strip() for cell in row):
            raise DatasetError(f"{where}: a cell is empty; every column is needed")
        yield where, dict(zip(columns, row, strict=True))


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if value is None or not str(value).strip():
        raise DatasetError(f"{where}: {name} is empty")
    return str(value).strip()


def _level(value: Any, where: str) -> int:
    try:
        level = int(str(value).lower().removeprefix("level").strip())
    except ValueError:
        level = 0
    if level not in LEVELS:
        raise DatasetError(f"{where}: the level is {value!r}; 1, 2, 3 or 4 is needed")
    return level


def _header(abc: str) -> dict[str, str]:
    """Title and composer of ABC; the first of each."""
    fields = [(match["name"], match["value"].strip()) for match in _FIELD.finditer(abc[:2000])]
    return dict(reversed(fields))
