"""The authors' CSV files: their rows as published, the whole tunes among them.

Columns are ``title``, ``score`` or ``input``, ``choices`` (a list in Python's form, with line ends
in its texts), ``target``, ``target_index`` (from 0), ``task_description``, and ``error`` for
`error_detection`. Rows stay as they are:

- A pickup counts as a bar, and the header names the key, metre or note length that is asked for.
- The answer of `error_detection` is ``target``, even where ``error`` names other bars: the numbers
  of the bars without anything between them, up to 10, and 0 for the header.
- Targets are read as text, so that an order keeps its leading 0. It has four to six options.

Source: README of the authors' repository.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.default_pieces import Source
from music_evals.datasets_builders.lilybench.rows import TaskName, TaskRow, task_row
from music_evals.notation.subprocesses import read_in_subprocess

FILES: Mapping[TaskName, tuple[str, str]] = {
    "bar_count": ("Bar_Count_Estimation", "irishman"),
    "metadata_qa": ("Metadata_QA", "nottingham"),
    "bar_sequencing": ("Bar_Sequencing", "nottingham"),
    "next_bar_prediction": ("Next_Bar_Prediction", "nottingham"),
    "metadata_prediction": ("Metadata_Prediction", "nottingham"),
    "music_captioning": ("Music_Captioning", "nottingham"),
    "composer_recognition": ("Composer_Recognition", "pianist8"),
    "genre_recognition": ("Genre_Recognition", "adl"),
    "emotion_recognition": ("Emotion_Recognition", "emopia"),
    "error_detection": ("Error_Detection", "irishman"),
}
"""Task → its file, and the collection of its tunes."""
_LICENCES = {
    "irishman": "MIT",
    "nottingham": "GPL-3.0",
    "pianist8": "not stated",
    "adl": "CC BY 4.0",
    "emopia": "CC BY-NC-SA 4.0",
}
"""Collection → its licence, as the README states it."""
_FIELDS = {
    "key signature": "key",
    "time signature": "metre",
    "unit note length": "note_length",
}
_COLUMNS = ("title", "score", "choices", "target", "target_index", "task_description")
_BARS = re.compile("10|[0-9]")
_MOST_CHARACTERS = 10_000_000  # of a field

Table = Sequence[Mapping[str, str]]


def read_tables(folder: Path) -> tuple[dict[TaskName, Table], dict[TaskName, str]]:
    """Read the files of a folder, or of the folder ``csv`` in it: task → rows, and task → name of
    its missing file.

    DatasetError if a file cannot be read, or lacks a column.
    """
    folder = folder / "csv" if (folder / "csv").is_dir() else folder
    tables = {}
    missing = {}
    for task, (name, _) in FILES.items():
        path = folder / f"{name}.csv"
        if path.is_file():
            tables[task] = _read_table(path)
        else:
            missing[task] = path.name
    return tables, missing


def _read_table(path: Path) -> Table:
    try:
        rows = read_in_subprocess(_rows, path)
    except (OSError, ValueError, csv.Error) as error:
        raise DatasetError(f"{path} cannot be read as CSV in UTF-8: {error}") from error
    if any(None in map(row.get, _COLUMNS) for row in rows):
        raise DatasetError(f"{path} has a row that lacks one of the columns {', '.join(_COLUMNS)}")
    return rows


def _rows(path: Path) -> list[dict[str, Any]]:
    csv.field_size_limit(_MOST_CHARACTERS)
    with path.open(encoding="utf-8", newline="") as file:
        return [{"score": row.get("input"), **row} for row in csv.DictReader(file)]


def licence_of(piece: str) -> str:
    """Return the licence of a piece, by its collection."""
    return _LICENCES[piece.partition("/")[0]]


def paper_rows(task: TaskName, table: Table) -> list[TaskRow]:
    """Make the rows of a file as published, in its order; DatasetError if one is not of the
    authors' form.
    """
    rows = []
    for number, entry in enumerate(table, 1):
        answer = entry["target"].strip()
        options = []
        if task == "error_detection":
            answer = " ".join(_BARS.findall(answer)) or "none"
        elif task != "bar_count":
            options = options_of(entry["choices"])
            answer = answer if task == "bar_sequencing" else entry["target_index"]
        kinds = [kind for name, kind in _FIELDS.items() if name in entry["task_description"]]
        asks_for_field = kinds and task in ("metadata_qa", "metadata_prediction")
        rows.append(
            task_row(
                task,
                "paper",
                _piece(task, entry["title"]),
                answer,
                score=entry["score"],
                kind=kinds[0] if asks_for_field else "",
                options=options,
                measure=number,
            )
        )
    return rows


def options_of(choices: str) -> list[str]:
    r"""Read a list of texts in single quotes, with line ends in them; DatasetError for another
    text.

    A backslash escapes a quote or a backslash; elsewhere, as at the end of a text, it is the
    continuation of ABC.

    Example:
        >>> options_of("['Black Boy', 'Gipsy\\'s Hornpipe']")
        ['Black Boy', "Gipsy's Hornpipe"]
    """
    bare = choices.strip()
    if not (bare.startswith("['") and bare.endswith("']")):
        raise DatasetError(
            f"choices {choices!r:.100} are not of the authors' form; accepted is ['…', '…']"
        )
    return [re.sub(r"\\(['\\])", r"\1", option) for option in bare[2:-2].split("', '")]


def tunes(tables: Mapping[TaskName, Table]) -> Iterator[Source]:
    """Yield the whole tunes with complete headers, each once; a title is empty if the file has
    none.
    """
    seen = set()
    for task in ("bar_count", "metadata_qa", "music_captioning"):
        for entry in tables.get(task, ()):
            if entry["score"] in seen:
                continue
            seen.add(entry["score"])
            title = "" if task == "bar_count" else entry["title"].replace("\\", "")
            name = f"{_piece(task, entry['title'])}-{len(seen)}"
            yield Source(name, "", title, abc=entry["score"])


def _piece(task: TaskName, title: str) -> str:
    name = re.sub(
        r"[^A-Za-z0-9]+", "-", title.removesuffix(".abc").removeprefix("Irishman_")
    ).strip("-")
    return f"{FILES[task][1]}/{name or 'untitled'}"
