"""Tables of text and estimates, and the one place where numbers are formatted: terminal, Markdown,
CSV.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from itertools import chain
from math import ceil, isfinite, isnan, log10
from typing import Any

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from music_evals.notation.toml_files import read_toml
from music_evals.reports.sanitize import no_formula
from music_evals.scorers.metrics.estimates import Estimate

Cell = str | Estimate | None
"""Text, a number, or nothing."""

Rows = list[list[Cell]]

MEASURED, FLOOR, PUBLISHED = "measured", "floor", "published"
KINDS = ("", MEASURED, FLOOR, PUBLISHED)
"""Kinds of rows, in the order in which they are shown."""

P_DECIMALS = 4
"""Decimals of p-values, and of no other figure."""
_LEAST_P = 0.001  # that is shown as it is
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)
_LONGEST_PIECE = 24  # columns of the terminal that a text without a place to break it may take
_PIECES = re.compile(r"[^\s/_=@,;-]*[\s/_=@,;-]?")
"""Parts of a text between which a line may end."""


@cache
def _words() -> dict[str, Any]:
    return read_toml(__package__, "templates/notes.toml")


@cache
def notes(table: str) -> tuple[str, ...]:
    """Return the notes of a table by its name in ``templates/notes.toml``; none if it has none."""
    texts = _words().get(table, ())
    return tuple(text.strip().format_map(_words()["columns"]) for text in texts)


def floor_notes(kinds: Iterable[str]) -> list[str]:
    """Return a sentence for each kind of floor, in the order of ``templates/notes.toml``."""
    wanted = {*kinds}
    return [
        f"{FLOOR.capitalize()} {kind}: {words}"
        for kind, words in _words()["floors"].items()
        if kind in wanted
    ]


def count(number: float | None) -> Estimate | None:
    """Return a count as a cell; None if it is not known."""
    return None if number is None or isnan(number) else Estimate(number, decimals=0)


def number(cell: Estimate) -> str:
    """Return the value alone, with a true minus."""
    if isnan(cell.value):
        return "undefined"
    if cell.decimals == P_DECIMALS and cell.value < _LEAST_P:
        return "<0.001"
    return _digits(cell, cell.value)


def interval(cell: Estimate) -> str:
    """Return what it is, the ends of the interval, the number of items and the share of unread
    replies: ``20–38; n 60; 2% unread``.

    What is not known is left out, and so is a share of 0.
    """
    parts = [cell.name] if cell.name else []
    if cell.low is not None and cell.high is not None and not isnan(cell.value):
        low, high = (_digits(cell, end) for end in (cell.low, cell.high))
        parts.append(f"{low} to {high}" if "−" in low + high else f"{low}–{high}")
    if cell.n is not None:
        parts.append(f"n {cell.n}")
    if cell.unread:
        parts.append(f"{share(cell.unread)} unread")
    return "; ".join(parts)


def shown_decimals(cell: Estimate) -> int:
    """Return the number of decimals that a number is shown with, by the width of its interval."""
    if cell.low is None or cell.high is None or not cell.high > cell.low:
        return cell.decimals
    return min(cell.decimals, max(0, ceil(1 - log10(cell.high - cell.low))))


def share(value: float) -> str:
    """Return a share in whole percent.

    >>> share(0.074), share(0.002), share(0.0)
    ('7%', '<1%', '0%')
    """
    return "<1%" if 0 < value < 0.005 else f"{rounded(100 * value, 0)}%"


def rounded(value: float, decimals: int) -> str:
    """Return a number with so many decimals, and a true minus; 0 never has one.

    This is the only place that rounds. Halves go away from 0, as readers round, also where the
    float is a trace below the half.

    >>> rounded(32.5, 0), rounded(100 * 0.285, 0), rounded(-0.04, 1)
    ('33', '29', '0.0')
    """
    if not isfinite(value):
        return str(value)
    exact = Decimal(f"{value:.9f}").quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
    return f"{exact + 0:f}".replace("-", "−")


def text(cell: Cell) -> str:
    """Return a cell in one line.

    >>> text(Estimate(28.34, 20.1, 38, 60, decimals=1)), text(None)
    ('28 (20–38; n 60)', '-')
    """
    if not isinstance(cell, Estimate):
        return "-" if cell is None else cell
    ends = f" ({interval(cell)})" if interval(cell) else ""
    return f"{number(cell)}{cell.mark}{ends}"


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        name: stem of its CSV file.
        title: shown above it.
        columns: headings.
        rows: a cell per heading; a column holds text or estimates, not both.
        notes: shown below it.
        kinds: the kind of each row, of `KINDS`; by default all rows are alike.
        is_drawn: whether a figure goes with it.
        most_shown: how many rows are shown, the first ones; the CSV file has all. None for all.
        optional: columns that a narrow terminal leaves out, the first ones first.
        in_lines: whether a row is a line on a terminal, without rules between columns.

    Raises:
        ValueError: a row has another length than the headings, or a column holds both text and
            estimates.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    kinds: Sequence[str] = ()
    is_drawn: bool = False
    most_shown: int | None = None
    optional: Sequence[str] = ()
    in_lines: bool = False

    def __post_init__(self) -> None:
        """Check the shape."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.name}: a row has {len(row)} cells for {len(self.columns)} columns"
                )
        for column, cells in zip(self.columns, self._by_column(), strict=True):
            if len({type(cell) for cell in cells if cell is not None}) > 1:
                raise ValueError(
                    f"table {self.name}: the column {column!r} holds both text and estimates"
                )

    def _by_column(self) -> list[list[Cell]]:
        return [[row[place] for row in self.rows] for place in range(len(self.columns))]

    def shown_notes(self) -> list[str]:
        """Return the notes; one that explains a mark, and begins with it, only where a cell has the
        mark.
        """
        cells = chain.from_iterable(self.rows)
        marks = (cell.mark if isinstance(cell, Estimate) else cell for cell in cells)
        words = "".join(filter(None, marks))
        return [note for note in self.notes if note[0] not in "†‡" or note[0] in words]

    def is_numeric(self) -> list[bool]:
        """Say of every column whether it holds estimates."""
        return [any(isinstance(cell, Estimate) for cell in cells) for cells in self._by_column()]

    def without(self, *names: str) -> "Table":
        """Return the table without columns."""
        return self.only(*(name for name in self.columns if name not in names))

    def only(self, *names: str) -> "Table":
        """Return the table with these columns alone, in the order that they have."""
        places = [place for place, name in enumerate(self.columns) if name in names]
        columns = [self.columns[place] for place in places]
        rows = [[row[place] for place in places] for row in self.rows]
        return replace(self, columns=columns, rows=rows)

    def measured_first(self) -> "Table":
        """Return what is shown, in this order: measured rows, floors, published rows."""
        kinds = self.kinds or [""] * len(self.rows)
        places = range(len(kinds))[: self.most_shown]
        order = sorted(places, key=lambda place: KINDS.index(kinds[place]))
        rows, kinds = [self.rows[place] for place in order], [kinds[place] for place in order]
        return replace(self, rows=rows, kinds=kinds)

    def to_rich(self, width: int) -> RichTable:
        """Return the rows for a terminal of so many columns: an interval is under its number; text
        is folded between words, and behind signs such as ``/``.
        """
        table = RichTable(box=box.HEAVY_HEAD)
        if self.in_lines:
            table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        ordered = self.measured_first()
        numeric = ordered.is_numeric()
        widths = fitted_widths(self._widths(), width - self._rules())
        for column, is_number, least in zip(self.columns, numeric, widths, strict=True):
            table.add_column(
                Text(self._heading(column, is_number)),
                justify="right" if is_number else "left",
                overflow="fold",
                min_width=int(least),  # `no_wrap` alone lets a narrow terminal cut a number
                max_width=int(least),
            )
        for row in ordered.rows:
            texts = [
                self._cell(cell) if is_number else fold(self._cell(cell), int(least))
                for cell, is_number, least in zip(row, numeric, widths, strict=True)
            ]
            table.add_row(*map(Text, texts))
        return table

    def width(self, *, is_folded: bool) -> int:
        """Return how many columns of a terminal it needs, with or without folded text."""
        return sum(widths[is_folded] for widths in self._widths()) + self._rules()

    def _rules(self) -> int:
        """Columns of a terminal between those of the table."""
        number = len(self.columns)
        return 2 * (number - 1) if self.in_lines else 3 * number + 1

    def _heading(self, column: str, is_number: bool) -> str:
        return column.replace(" ", "\n") if is_number and not self.in_lines else column

    def _cell(self, cell: Cell) -> str:
        if not self.in_lines:
            return _stacked(cell)
        return "" if cell is None else text(cell)

    def _widths(self) -> list[tuple[int, int]]:
        """The width of each column, and its least one, where text is folded."""
        widths = []
        for column, numeric, cells in zip(
            self.columns, self.is_numeric(), self._by_column(), strict=True
        ):
            texts = [self._heading(column, numeric), *map(self._cell, cells)]
            natural = max(map(len, "\n".join(texts).splitlines()), default=1)
            pieces = max(map(len, _PIECES.findall(" ".join(texts))), default=1)
            widths.append((natural, natural if numeric else min(pieces, natural, _LONGEST_PIECE)))
        return widths

    def to_markdown(self) -> str:
        """Return it as a section: a heading, the table, its notes as a list."""
        ordered = self.measured_first()
        lines = [f"### {self.title}", "", _line(ordered.columns)]
        lines.append(_line(["---:" if numeric else "---" for numeric in ordered.is_numeric()]))
        lines += [_line(map(text, row)) for row in ordered.rows]
        if notes := self.shown_notes():
            lines += ["", *(f"- {note}" for note in notes)]
        return "\n".join([*lines, ""])

    def to_csv(self) -> str:
        """Return it as CSV; a column of estimates becomes four: the value, unrounded, ``low``,
        ``high`` and ``n``.
        """
        numeric = self.is_numeric()
        headings = []
        for name, is_number in zip(self.columns, numeric, strict=True):
            headings += [f"{name}{end}" for end in (_ENDS if is_number else _ENDS[:1])]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(no_formula, headings))
        for row in self.rows:
            values = map(_values, row, numeric)
            writer.writerow(chain.from_iterable(values))
        return out.getvalue()


def fitted_widths(widths: Sequence[tuple[float, float]], room: float) -> list[float]:
    """Share room between columns, given the width of each and its least one, which all get."""
    spare = room - sum(least for _, least in widths)
    wanted = sum(natural - least for natural, least in widths)
    share = max(0.0, min(1.0, spare / max(wanted, 1)))
    return [least + share * (natural - least) for natural, least in widths]


def fold(words: str, width: int) -> str:
    """Return a text in lines of so many letters, which end between words or behind signs.

    >>> fold("baseline/chance", 10)
    'baseline/\\nchance'
    """
    lines = [""]
    for piece in _PIECES.findall(words):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(map(str.rstrip, lines))


_ENDS = ("", " low", " high", " n")
"""What headings of CSV have behind the name of a column of estimates."""


def _stacked(cell: Cell) -> str:
    """A cell with what it is, and its interval, in lines below, so that wide tables fit in a
    terminal.
    """
    if not isinstance(cell, Estimate):
        return text(cell)
    ends = interval(replace(cell, name=""))
    return "\n".join(filter(None, [number(cell) + cell.mark, cell.name, ends]))


def _digits(cell: Estimate, value: float) -> str:
    """A number of a cell, with no decimals that its interval makes void."""
    return rounded(value, shown_decimals(cell))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _values(cell: Cell, is_number: bool) -> tuple[str | float | None, ...]:
    if isinstance(cell, Estimate):
        return cell.value, cell.low, cell.high, cell.n
    return (None,) * 4 if is_number else (cell and no_formula(cell),)
