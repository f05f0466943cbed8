"""The authors' questions of MSU-Bench: with scores from the Hub, or without scores from GitHub.

- Hub (``Krinos/MSU-Bench``, or a folder with a snapshot of it): the config ``nested`` has a row per
  score, with song_id, abc_notation, pdf, images, and questions with level, question and answer.
  ``flat`` has the same questions; it is not read.
- GitHub (``Congren-Dai/MSU-Bench``): ``msu-bench.xlsx`` has the questions (Link, Level, Question,
  Answer) and ``metadata.xlsx`` the scores (Composer, Title, Link) without music. Models can only
  answer from the title.

The answer ``None`` is a string: the score has no such thing. The paper's test set of 30 scores is
not published: works are assigned to splits from a seed.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pyarrow as pa

from music_evals.datasets_builders.dataset_io import (
    PUBLISHED,
    DatasetError,
    FileCell,
    make_provenance,
)
from music_evals.datasets_builders.dataset_io.bounded import parquet_batches
from music_evals.datasets_builders.msu.rows import (
    DEFAULT_SEED,
    LEVELS,
    NAME,
    VERSION,
    Plan,
    QuestionRow,
    ScoreRow,
    by_split,
    split_works,
)
from music_evals.notation.extras import require

HUB_REPOSITORY = "Krinos/MSU-Bench"
QUESTIONS_FILE = "msu-bench.xlsx"
SCORES_FILE = "metadata.xlsx"

_QUESTION_COLUMNS = ("Link", "Level", "Question", "Answer")
_SCORE_COLUMNS = ("Composer", "Title", "Link")
_FIELD = re.compile(r"^([TC]):[ \t]*(.*)$", re.MULTILINE)


def is_snapshot(folder: Path) -> bool:
    """Whether a folder has the layout of the repository on the Hub."""
    return any(folder.glob("nested/*.parquet")) and any(folder.glob("flat/*.parquet"))


def build_snapshot(folder: Path, *, revision: str | None = None) -> Plan:
    """Read a snapshot of the repository on the Hub.

    Args:
        folder: the snapshot.
        revision: its name for the provenance.

    Raises:
        DatasetError: a question, page or PDF is malformed.
    """
    scores = []
    questions = []
    for number, row in enumerate(_rows(folder, "nested"), start=1):
        place = f"nested, row {number}"
        score = _score(row, place)
        items = _listed(row.get("questions"), place)
        scores.append(score)
        questions += _questions(score["score_id"], [(place, item) for item in items])
    return _plan(scores, questions, source_revision=revision)


def _score(row: Mapping[str, Any], place: str) -> ScoreRow:
    score_id = _text(row, "song_id", place)
    abc = row.get("abc_notation")
    # The first title and composer of the ABC.
    header = dict(reversed(_FIELD.findall((abc or "")[:2000])))
    images = row.get("images") or []
    pages: list[Any] = [image.get("bytes") for image in images if isinstance(image, dict)]
    if len(pages) < len(images) or not all(isinstance(page, bytes) and page for page in pages):
        raise DatasetError(f"{place}: a page has no bytes")
    pdf = row.get("pdf") or None
    if pdf and not pdf.startswith(b"%PDF"):
        raise DatasetError(f"{place}: its pdf is no PDF")
    return ScoreRow(
        score_id=score_id,
        title=header.get("T", "").strip(),
        composer=header.get("C", "").strip(),
        abc=abc,
        images=[FileCell(bytes=page, path=None) for page in pages],
        pdf=pdf,
        musicxml=None,
        source=f"{HUB_REPOSITORY}: {score_id}",
    )


def _listed(questions: Any, place: str) -> list[Any]:
    """A list of questions; some writers of Parquet turn it into a table of lists."""
    if isinstance(questions, dict):
        rows = zip(*questions.values(), strict=True)
        return [dict(zip(questions, values, strict=True)) for values in rows]
    if not isinstance(questions, list):
        raise DatasetError(f"{place}: the score has no questions")
    return questions


def build_spreadsheets(folder: Path) -> Plan:
    """Read the authors' spreadsheets: questions and a list of scores without music.

    DatasetError names the file and row of a missing or malformed value.
    """
    scores = {}
    for place, row in _sheet(folder / SCORES_FILE, _SCORE_COLUMNS):
        score_id = _score_id(row)
        if score_id in scores:
            raise DatasetError(f"{place}: the score {row['Link']} is there already")
        scores[score_id] = ScoreRow(
            score_id=score_id,
            title=_text(row, "Title", place),
            composer=_text(row, "Composer", place),
            abc=None,
            images=[],
            pdf=None,
            musicxml=None,
            source=str(row["Link"]),
        )
    items: dict[str, list[tuple[str, Mapping[str, Any]]]] = {score_id: [] for score_id in scores}
    for place, row in _sheet(folder / QUESTIONS_FILE, _QUESTION_COLUMNS):
        score_id = _score_id(row)
        if score_id not in scores:
            raise DatasetError(f"{place}: {SCORES_FILE} has no score {row['Link']}")
        items[score_id].append((place, {name.lower(): value for name, value in row.items()}))
    questions = chain.from_iterable(starmap(_questions, items.items()))
    contents = (folder / QUESTIONS_FILE).read_bytes() + (folder / SCORES_FILE).read_bytes()
    return _plan(
        list(scores.values()),
        list(questions),
        source_sha256=hashlib.sha256(contents).hexdigest(),
    )


def _score_id(row: Mapping[str, Any]) -> str:
    """The last part of a score's address."""
    return str(row["Link"]).rstrip("/").rpartition("/")[2]


def _plan(
    scores: Sequence[ScoreRow], questions: Sequence[QuestionRow], **source: str | None
) -> Plan:
    answers = [row["answer"] for row in questions]
    anomalies = {
        "scores without ABC": sum(not row["abc"] for row in scores),
        "scores without pages": sum(not row["images"] for row in scores),
        "answers that are the word None, kept": answers.count("None"),
    }
    anomalies = {anomaly: count for anomaly, count in anomalies.items() if count}
    provenance = make_provenance(
        NAME, VERSION, PUBLISHED, seed=DEFAULT_SEED, anomalies=anomalies, **source
    )
    splits = split_works(scores, DEFAULT_SEED)
    return Plan(by_split(scores, splits), by_split(questions, splits), provenance)


def _questions(score_id: str, items: Iterable[tuple[str, Mapping[str, Any]]]) -> list[QuestionRow]:
    """Rows of the questions of a score; `items` are places in the source and questions."""
    numbers: Counter[int] = Counter()
    rows = []
    for place, item in items:
        level = _level(item.get("level"), place)
        numbers[level] += 1
        row = QuestionRow(
            id=f"{score_id}-level{level}-{numbers[level]}",
            score_id=score_id,
            level=level,
            kind=None,
            question=_text(item, "question", place),
            answer=_text(item, "answer", place),
            answer_type=None,
        )
        rows.append(row)
    return sorted(rows, key=lambda row: row["level"])


def _rows(folder: Path, config: str) -> Iterator[Mapping[str, Any]]:
    """Read the Parquet files of a config, a few rows at a time: pages and PDFs have megabytes."""
    for path in sorted(folder.glob(f"{config}/*.parquet")):
        try:
            for batch in parquet_batches(path, str(path)):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"{path} cannot be read as Parquet: {error}") from error


def _sheet(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if not path.is_file():
        raise DatasetError(f"{path} is missing")
    openpyxl = require("openpyxl", "scores")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (
        OSError,
        BadZipFile,
        openpyxl.utils.exceptions.InvalidFileException,
        KeyError,
        ValueError,
    ) as error:
        raise DatasetError(f"{path} cannot be read as a spreadsheet: {error}") from error
    rows = book.worksheets[0].iter_rows(values_only=True)
    header = next(rows, ())
    if header != columns:
        raise DatasetError(
            f"{path.name} has the columns {', '.join(map(str, header))}; needed are "
            f"{', '.join(columns)}"
        )
    for number, row in enumerate(rows, start=2):
        place = f"{path.name}, row {number}"
        if len(row) != len(columns) or not all(map(_is_filled, row)):
            raise DatasetError(f"{place}: a cell is empty; every column is needed")
        yield place, dict(zip(columns, row, strict=True))


def _is_filled(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _text(row: Mapping[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    if not _is_filled(value):
        raise DatasetError(f"{place}: {name} is empty")
    return str(value).strip()


def _level(value: Any, place: str) -> int:
    try:
        level = int(str(value).lower().removeprefix("level").strip())
    except ValueError:
        level = 0
    if level not in LEVELS:
        raise DatasetError(f"{place}: the level is {value!r}; 1, 2, 3 or 4 is needed")
    return level
