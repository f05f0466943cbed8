"""The authors' questions and scores of MSU-Bench, ``Krinos/MSU-Bench`` on the Hub.

In a snapshot of it, the config ``nested`` has a row per score, with song_id, abc_notation, pdf,
images, and questions with level, question and answer. ``flat`` has the same questions; it is not
read.

The answer ``None`` is a string: the score has no such thing. The paper's test set of 30 scores is
not published: works are assigned to splits from a seed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

HUB_REPOSITORY = "Krinos/MSU-Bench"
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
    for number, row in enumerate(_rows(folder), start=1):
        place = f"nested, row {number}"
        score = _score(row, place)
        items = _listed(row.get("questions"), place)
        scores.append(score)
        questions += _questions(score["score_id"], place, items)
    answers = [row["answer"] for row in questions]
    anomalies = {
        "scores without ABC": sum(not row["abc"] for row in scores),
        "scores without pages": sum(not row["images"] for row in scores),
        "answers that are the word None, kept": answers.count("None"),
    }
    provenance = make_provenance(
        NAME,
        VERSION,
        PUBLISHED,
        seed=DEFAULT_SEED,
        anomalies={anomaly: count for anomaly, count in anomalies.items() if count},
        source_revision=revision,
    )
    splits = split_works(scores, DEFAULT_SEED)
    return Plan(by_split(scores, splits), by_split(questions, splits), provenance)


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


def _questions(score_id: str, place: str, items: Sequence[Mapping[str, Any]]) -> list[QuestionRow]:
    """Rows of the questions of a score."""
    numbers: Counter[int] = Counter()
    rows = []
    for item in items:
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


def _rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Read the Parquet files of ``nested``, a few rows at a time: pages and PDFs have megabytes."""
    for path in sorted(folder.glob("nested/*.parquet")):
        try:
            for batch in parquet_batches(path, str(path)):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"{path} cannot be read as Parquet: {error}") from error


def _text(row: Mapping[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    text = "" if value is None else str(value).strip()
    if not text:
        raise DatasetError(f"{place}: {name} is empty")
    return text


def _level(value: Any, place: str) -> int:
    try:
        level = int(str(value).lower().removeprefix("level").strip())
    except ValueError:
        level = 0
    if level not in LEVELS:
        raise DatasetError(f"{place}: the level is {value!r}; 1, 2, 3 or 4 is needed")
    return level
