"""The authors' questions of ZIQI-Eval, from a folder of CSV files.

The folder, or a folder ``ZIQI-Eval`` in it, has ``dev/THEME.csv`` and ``test/THEME.csv`` for the
eleven themes: UTF-8, with the columns id, question, A, B, C, D, answer, subtheme. The same files
are on GitHub (``zcli-charlie/ZIQI-Eval``) and on the Hub (``MYTH-Lab/ZIQI-Eval``).

White space at the ends of fields is trimmed. A row with the same question and options as an earlier
row is marked. All other oddities are kept, and counted in the provenance and on the card.
"""

import csv
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from operator import ne
from pathlib import Path

from music_evals.datasets_builders.dataset_io import (
    PUBLISHED,
    DatasetError,
    list_names,
    make_provenance,
)
from music_evals.datasets_builders.questions.question_rows import LETTERS
from music_evals.datasets_builders.ziqi.rows import (
    NAME,
    SPLITS,
    VERSION,
    Plan,
    Row,
    Rows,
    Theme,
    published_themes,
)
from music_evals.notation.subprocesses import LimitError, allowance_of, map_in_subprocess

COLUMNS = ("id", "question", *LETTERS, "answer", "subtheme")
_INVISIBLE = ("Cc", "Cf")  # Unicode categories: control and format characters
_FOLDER = "ZIQI-Eval"

_Line = tuple[int, list[str]]


class _MalformedRowError(Exception):
    """A row is malformed; the message does not name the place."""


@dataclass(slots=True)
class _Report:
    """Oddities of the rows so far, and the rows themselves to recognise duplicates."""

    odd: Counter[str] = field(default_factory=Counter)  # kind of oddity → number of rows
    # Places of rows that are left out, with reasons.
    skipped: list[str] = field(default_factory=list)
    # File, question and options, untrimmed.
    as_published: set[tuple[str, ...]] = field(default_factory=set)
    # Trimmed question and options → first row.
    first: dict[tuple[str, ...], Row] = field(default_factory=dict)


def build_published(source: Path, *, skip_bad: bool = False, revision: str | None = None) -> Plan:
    """Read the authors' CSV files; the provenance of the plan counts oddities.

    Args:
        source: the folder.
        skip_bad: leave out malformed rows and count them.
        revision: origin of the files for the provenance; by default it is known from their
            checksum.

    Raises:
        DatasetError: files are missing, or a row is malformed.
    """
    folder = source.expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"{source} is not a folder; a folder with dev/*.csv and test/*.csv is needed"
        )
    if (folder / _FOLDER).is_dir():
        folder = folder / _FOLDER
    files = [*product(SPLITS, published_themes())]
    paths = [folder / split / f"{theme.file}.csv" for split, theme in files]
    if missing := [str(path.relative_to(folder)) for path in paths if not path.is_file()]:
        raise DatasetError(
            f"{source} lacks {len(missing)} of {len(files)} files of ZIQI-Eval: "
            f"{list_names(missing)}"
        )
    report = _Report()
    rows: Rows = {}
    contents = map_in_subprocess(_lines, paths, allowance_of, per_process=len(paths))
    for (split, theme), lines in zip(files, contents, strict=True):
        rows.setdefault(theme.config, {}).setdefault(split, []).extend(
            _read(lines, split, theme, skip_bad, report)
        )
    _count_oddities(report)
    anomalies = {anomaly: count for anomaly, count in report.odd.items() if count}
    anomalies |= {f"malformed row left out: {place}": 1 for place in report.skipped}
    return Plan(
        rows,
        make_provenance(
            NAME,
            VERSION,
            PUBLISHED,
            source_revision=revision,
            source_sha256=_checksum(paths),
            anomalies=anomalies,
        ),
    )


def _lines(path: Path) -> list[_Line]:
    """The fields of each row, with the number of its last line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, fields) for fields in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        where = f"{path.parent.name}/{path.name}"
        raise DatasetError(f"{where} cannot be read as CSV in UTF-8: {error}") from error


def _read(
    lines: Sequence[_Line] | LimitError,
    split: str,
    theme: Theme,
    skip_bad: bool,
    report: _Report,
) -> Iterator[Row]:
    where = f"{split}/{theme.file}.csv"
    if isinstance(lines, LimitError):
        raise DatasetError(f"{where} cannot be read as CSV in UTF-8: {lines}")
    header = tuple(lines[0][1]) if lines else ()
    if header != COLUMNS:
        raise DatasetError(
            f"{where} has the columns {', '.join(header)}; needed are {', '.join(COLUMNS)}"
        )
    ids = set()
    for number, (line, fields) in enumerate(lines[1:], start=1):
        try:
            row = _row(fields, split, theme, report)
            if row["id"] in ids:
                raise _MalformedRowError(f"the id {fields[0]} is there already")
            ids.add(row["id"])
            content = (where, *fields[1:6])
            yield _marked(row, content in report.as_published, theme, report)
            report.as_published.add(content)
        except _MalformedRowError as error:
            place = f"{where}, row {number} (ends in line {line})"
            if not skip_bad:
                raise DatasetError(f"{place}: {error}; --skip-bad leaves such rows out") from error
            report.skipped.append(f"{place}: {error}")


def _row(fields: Sequence[str], split: str, theme: Theme, report: _Report) -> Row:
    if len(fields) != len(COLUMNS):
        raise _MalformedRowError(f"{len(fields)} columns, {len(COLUMNS)} are needed")
    trimmed = [field.strip() for field in fields]
    cells = dict(zip(COLUMNS, trimmed, strict=True))
    if empty := [name for name, value in cells.items() if not value]:
        raise _MalformedRowError(f"column {empty[0]} is empty")
    if cells["answer"] not in tuple(LETTERS):
        raise _MalformedRowError(f"the answer is {cells['answer'][:40]!r}; A, B, C or D is needed")
    if cells["subtheme"] not in theme.subthemes:
        raise _MalformedRowError(
            f"unknown sub-theme {cells['subtheme'][:40]!r}; {theme.en} has "
            f"{', '.join(theme.subthemes)}"
        )
    if not cells["id"].isdecimal():
        raise _MalformedRowError(f"the id is {cells['id'][:40]!r}; a number is needed")
    odd = report.odd
    odd["fields with white space at an end, which was trimmed"] += sum(map(ne, fields, trimmed))
    odd["rows with control or invisible characters, kept"] += any(
        unicodedata.category(character) in _INVISIBLE and character not in "\n\r\t"
        for character in "".join(trimmed)
    )
    return {
        "id": f"{theme.file}-{split}-{int(cells['id']):04d}",
        "question": cells["question"],
        "options": [cells[letter] for letter in LETTERS],
        "answer": cells["answer"],
        "theme_zh": theme.zh,
        "theme_en": theme.en,
        "subtheme_zh": cells["subtheme"],
        "subtheme_en": theme.subthemes[cells["subtheme"]],
        "language": "zh",
        "duplicate_of": None,
    }


def _marked(row: Row, exact: bool, theme: Theme, report: _Report) -> Row:
    """Mark a row that repeats an earlier row; `exact`: in the same file and with the same white
    space.
    """
    earlier = report.first.setdefault((row["question"], *row["options"]), row)
    if earlier is row:
        return row
    if exact:
        kind = f"duplicates within {theme.en}, to the character"
    elif earlier["id"].startswith(f"{theme.file}-dev"):
        kind = "duplicates of a row of dev"
    elif earlier["id"].startswith(f"{theme.file}-"):
        kind = f"duplicates within {theme.en}, but for white space"
    else:
        kind = "duplicates of a row of another theme"
    report.odd[f"{kind}, marked"] += 1
    report.odd["duplicates whose answer differs from the first one's, kept"] += (
        earlier["answer"] != row["answer"]
    )
    return {**row, "duplicate_of": earlier["id"]}


def _count_oddities(report: _Report) -> None:
    """Count the oddities of rows that are not duplicates."""
    odd = report.odd
    by_content: dict[tuple[str, ...], list[str]] = {}
    for row in report.first.values():
        options, right = row["options"], row["options"][LETTERS.index(row["answer"])]
        odd["rows with two options alike, kept"] += len(set(options)) < len(options)
        odd["rows whose right answer stands under two letters, kept"] += options.count(right) > 1
        by_content.setdefault((row["question"], *sorted(options)), []).append(right)
    for answers in by_content.values():
        reordered = "rows with the question and options of another, in another order"
        odd[f"{reordered}, kept"] += len(answers) - 1
        odd[f"{reordered}, but another answer, kept"] += len(set(answers)) - 1


def _checksum(paths: Sequence[Path]) -> str:
    """SHA-256 of the names and bytes of files, in order."""
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
