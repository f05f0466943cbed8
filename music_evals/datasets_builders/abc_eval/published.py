"""The authors' CSV files: their rows as published, the whole tunes among them, and where they contradict themselves.

Columns are ``title``, ``score`` or ``input``, ``choices`` (a list in Python's form, but with line ends in it),
``target``, ``target_index`` (from 0), ``task_description``, and ``error`` for `error_detection`. Rows stay as they are:

- a pickup counts as a bar, and the header names the key, metre or note length that is asked for;
- the answer of `error_detection` is ``target``, one digit per bar, even where the column ``error`` names other bars;
- targets are read as text, so that an order keeps its leading 0, and has as many options as it has digits.

Source: README of the authors' repository.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from music_evals.datasets_builders.abc_eval.abc_texts import split_bars
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.rows import TaskName, TaskRow, task_row

_GPL: Final = "GPL-3.0"
FILES: Final[Mapping[TaskName, tuple[str, str, str]]] = {
    "bar_count": ("Bar_Count_Estimation", "irishman", "MIT"),
    "metadata_qa": ("Metadata_QA", "nottingham", _GPL),
    "bar_sequencing": ("Bar_Sequencing", "nottingham", _GPL),
    "next_bar_prediction": ("Next_Bar_Prediction", "nottingham", _GPL),
    "metadata_prediction": ("Metadata_Prediction", "nottingham", _GPL),
    "music_captioning": ("Music_Captioning", "nottingham", _GPL),
    "composer_recognition": ("Composer_Recognition", "pianist8", "not stated"),
    "genre_recognition": ("Genre_Recognition", "adl", "CC BY 4.0"),
    "emotion_recognition": ("Emotion_Recognition", "emopia", "CC BY-NC-SA 4.0"),
    "error_detection": ("Error_Detection", "irishman", "MIT"),
}
"""Task → its file, the collection of its tunes, and their licence as the README states it."""
_LICENCES: Final = {collection: licence for _, collection, licence in FILES.values()}
_FIELDS: Final = {"key signature": "key", "time signature": "metre", "unit note length": "note_length"}
_ERROR: Final = re.compile(r"(?:in_measure|in_key)_([0-9]{1,3})")
_MOST_CHARACTERS: Final = 10_000_000  # of a field

Table = Sequence[Mapping[str, str]]


def read_tables(folder: Path) -> tuple[dict[TaskName, Table], list[str]]:
    """Read the files of a folder, or of the folder ``csv`` in it: task → rows, and the names of missing files.

    DatasetError if a file lacks a column.
    """
    folder = folder / "csv" if (folder / "csv").is_dir() else folder
    csv.field_size_limit(_MOST_CHARACTERS)
    tables: dict[TaskName, Table] = {}
    missing = []
    for task, (name, *_) in FILES.items():
        path = folder / f"{name}.csv"
        if not path.is_file():
            missing.append(path.name)
            continue
        try:
            with path.open(encoding="utf-8", newline="") as file:
                rows = [{"score": row.get("input", ""), **row} for row in csv.DictReader(file)]
        except (OSError, ValueError, csv.Error) as error:
            raise DatasetError(f"{path} cannot be read as CSV in UTF-8: {error}") from error
        needed = ("title", "choices", "target", "target_index", "task_description")
        if lacking := [column for column in needed if not rows or rows[0].get(column) is None]:
            raise DatasetError(f"{path} lacks the columns {', '.join(lacking)}; the authors' file has them")
        tables[task] = rows
    return tables, missing


def licence_of(piece: str) -> str:
    """Return the licence of a piece, by its collection."""
    return _LICENCES[piece.partition("/")[0]]


def paper_rows(task: TaskName, table: Table) -> list[TaskRow]:
    """Make the rows of a file as published, in its order; DatasetError if one is not of the authors' form."""
    rows = []
    for number, entry in enumerate(table, 1):
        piece, kind, answer = _piece(task, entry["title"]), "", entry["target"].strip()
        options = [] if task in ("bar_count", "error_detection") else options_of(entry["choices"])
        if task in ("metadata_qa", "metadata_prediction"):
            kind = next((kind for name, kind in _FIELDS.items() if name in entry["task_description"]), "")
        if task == "error_detection":
            answer = " ".join(sorted(set(answer))) if answer.isdigit() else "none"
        elif options and task != "bar_sequencing":
            answer = entry["target_index"]
        row = task_row(task, "paper", piece, answer, score=entry["score"], kind=kind, options=options, measure=number)
        rows.append(row)
    return rows


def options_of(choices: str) -> list[str]:
    r"""Read a list of texts in single quotes, with line ends in them.

    Example:
        >>> options_of("['Black Boy', 'Gipsy\\'s Hornpipe']")
        ['Black Boy', "Gipsy's Hornpipe"]
    """
    bare = choices.strip()
    if not (bare.startswith("['") and bare.endswith("']")):
        raise DatasetError(f"choices {choices!r:.100} are not of the authors' form; accepted is ['…', '…']")
    return [option.replace("\\'", "'") for option in bare[2:-2].split("', '")]


class Tune(NamedTuple):
    """A whole tune of the files."""

    id: str
    title: str  # empty if the file has none
    abc: str  # as in the file


def tunes(tables: Mapping[TaskName, Table]) -> Iterator[Tune]:
    """The whole tunes of the files, each once, whose headers are complete."""
    seen: set[str] = set()
    for task in ("bar_count", "metadata_qa", "music_captioning"):
        for entry in tables.get(task, ()):
            key = "".join(entry["score"].split())
            if key not in seen:
                seen.add(key)
                title = "" if task == "bar_count" else entry["title"].replace("\\", "")
                yield Tune(f"{_piece(task, entry['title'])}-{len(seen)}", title, entry["score"])


def _piece(task: TaskName, title: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", title.removesuffix(".abc").removeprefix("Irishman_")).strip("-")
    return f"{FILES[task][1]}/{name or 'untitled'}"


def audit(tables: Mapping[TaskName, Table]) -> dict[str, int]:
    """Count the rows of the files that contradict themselves: what is wrong → number of rows."""
    counts: Counter[str] = Counter()
    for task, table in tables.items():
        name = FILES[task][0]
        for entry in table:
            bars = split_bars(entry["score"])
            target = entry["target"].strip()
            counts[f"{name}: rows"] += 1
            if task == "bar_count":
                counts[f"{name}: target is not the number of parts between bar lines"] += target != str(len(bars))
            elif task == "error_detection":
                stated = {int(number) for number in _ERROR.findall(entry.get("error", ""))}
                counts[f"{name}: target is not the set of the measures in error"] += {int(n) for n in target} != stated
                counts[f"{name}: target_index is not the number of errors"] += True
            else:
                options = options_of(entry["choices"])
                repeated = len(set(options)) < len(options)
                counts[f"{name}: two options are the same"] += repeated
                if task == "bar_sequencing":
                    counts[f"{name}: {len(options)} options"] += 1
                    is_order = sorted(target) == sorted("0123456789"[: len(options)])
                    counts[f"{name}: target is no order of the options"] += not is_order
                elif target:
                    is_right = options[int(entry["target_index"])] == target
                    counts[f"{name}: target is not the option at target_index"] += not is_right
    return {name: count for name, count in counts.items() if count}
