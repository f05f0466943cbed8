"""Tables as plain values, for the terminal, as Markdown and as CSV, and reports of them."""

import csv
import io
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from math import hypot, isnan
from typing import Final

import pandas as pd
from rich.table import Table as RichTable
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, with its interval where it has one."""

    value: float  # in the unit in which the table shows it; NaN for one that is undefined
    low: float | None = None  # ends of its 95% interval
    high: float | None = None
    decimals: int = 2  # how many are shown; CSV has all of them
    mark: str = ""  # shown after it, for a note of the table to explain

    def __str__(self) -> str:
        """Return it as shown: the value, its mark and its interval."""
        return f"{self.shown} ({self.interval})" if self.interval else self.shown

    def times(self, scale: float, decimals: int) -> "Figure":
        """Return it in another unit, with as many decimals."""
        low, high = (None if end is None else scale * end for end in (self.low, self.high))
        return replace(self, value=scale * self.value, low=low, high=high, decimals=decimals)

    @property
    def shown(self) -> str:
        """The value and its mark."""
        return self.number + self.mark

    @property
    def number(self) -> str:
        """The value alone."""
        return "undefined" if isnan(self.value) else _written(self.value, self.decimals)

    @property
    def interval(self) -> str:
        """The ends of the interval; nothing where there is none."""
        return self._ends(self.decimals)

    @property
    def short_interval(self) -> str:
        """The ends of the interval, with a decimal less than the value has, for a line of their own."""
        return self._ends(max(self.decimals - 1, 0))

    def _ends(self, decimals: int) -> str:
        if isnan(self.value) or self.low is None or self.high is None:
            return ""
        low, high = _written(self.low, decimals), _written(self.high, decimals)
        # A dash beside a minus is hard to read.
        return f"{low} to {high}" if "−" in low + high else f"{low}–{high}"


def difference(first: Figure, second: Figure) -> Figure:
    """The difference of two independent shares, or of means of such, with an interval where both have one.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
        Medicine 17 (1998), method 10.
    """
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Figure(value, decimals=first.decimals)
    below = hypot(first.value - first.low, second.high - second.value)
    above = hypot(first.high - first.value, second.value - second.low)
    return Figure(value, value - below, value + above, first.decimals)


MEASURED, FLOOR, PUBLISHED = "measured", "floor", "published"
KINDS: Final = ("", MEASURED, FLOOR, PUBLISHED)
"""Kinds of rows and columns, in the order in which they are shown."""

_KIND: Final = {"measured": MEASURED, "floor": FLOOR, "floor:": FLOOR}  # by the first word of what tells it
OWN_COLUMN: Final = re.compile(r"(\S+/.*?(?: \[.*\])?(?: †)?) \((.*)\)")
"""Heading of a column that was measured here: a model, which Inspect names after its provider, and its condition."""

_TEXT_WIDTH: Final = 18  # columns of the terminal that longer text is given at least

Cell = str | Figure | None
"""Text, a number, or nothing known."""


def whole(number: float | None) -> Figure | None:
    """Return a count as a figure without decimals; None where it is not known."""
    return None if number is None else Figure(number, decimals=0)


@cache
def common_notes(table: str) -> list[str]:
    """Return the notes of a table that is alike for all benchmarks."""
    texts = tomllib.loads((files(__package__) / "templates" / "notes.toml").read_text(encoding="utf-8"))
    return [text.strip() for text in texts[table]]


class Footnotes:
    """What marks in a table stand for, numbered as they are first needed."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """Return the mark of a text, the same for the same text."""
        return self._marks.setdefault(text, f"[{len(self._marks) + 1}]")

    def notes(self) -> list[str]:
        """Return the notes that explain the marks."""
        return [f"{mark} {text}" for text, mark in self._marks.items()]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ValueError where a row has another length than the headings, or a column holds text and figures."""

    name: str  # stem of its CSV file
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]  # a cell for every heading; a column holds text or figures, not both
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the shape."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row has {len(row)} cells for {len(self.columns)} columns")
        for index, column in enumerate(self.columns):
            if len({type(row[index]) for row in self.rows if row[index] is not None}) > 1:
                raise ValueError(f"table {self.name}: the column {column!r} holds both text and figures")

    def numeric(self) -> Iterator[bool]:
        """Say of every column whether it holds figures."""
        for index in range(len(self.columns)):
            yield any(isinstance(row[index], Figure) for row in self.rows)

    def kinds_of_rows(self) -> list[str]:
        """Say of every row which of `KINDS` it is; nothing in a table of one kind alone."""
        at, other = (self.columns.index("Source"), PUBLISHED) if "Source" in self.columns else (0, MEASURED)
        kinds = [_KIND.get(str(row[at]).partition(" ")[0], other) for row in self.rows]
        return kinds if len({*kinds}) > 1 else [""] * len(kinds)

    def kinds_of_columns(self) -> list[str]:
        """Say the same of every column that is of a model or a floor; nothing of those that tell rows apart."""
        if "Source" in self.columns or not any(map(OWN_COLUMN.fullmatch, self.columns)):
            return [""] * len(self.columns)
        return [
            MEASURED if OWN_COLUMN.fullmatch(name)
            else FLOOR if name.startswith("floor: ")
            else PUBLISHED if numeric
            else ""
            for name, numeric in zip(self.columns, self.numeric(), strict=True)
        ]  # fmt: skip

    def own_first(self) -> "Table":
        """Return it in the order in which it is shown: what was measured here, floors, and what is published.

        Rows stay with those that are alike in the columns to the left of the model's. CSV has them as they are.
        """
        left = self.columns.index("Model") if "Model" in self.columns else 0
        kinds = self.kinds_of_rows()
        groups = {tuple(row[:left]): place for place, row in reversed([*enumerate(self.rows)])} if any(kinds) else {}
        places = sorted(
            range(len(self.rows)),
            key=lambda place: (groups.get(tuple(self.rows[place][:left]), 0), KINDS.index(kinds[place])),
        )
        of_columns = self.kinds_of_columns()
        across = sorted(range(len(self.columns)), key=lambda place: KINDS.index(of_columns[place]))
        rows = [[self.rows[place][at] for at in across] for place in places]
        return replace(self, columns=[self.columns[at] for at in across], rows=rows)

    def to_rich(self) -> RichTable:
        """Return it for the terminal, with its notes below it; an interval is shown, shortened, under its number."""
        table = RichTable(
            title=Text(self.title), caption=Text("\n".join(self.notes)), title_justify="left", caption_justify="left"
        )
        ordered = self.own_first()
        for index, (column, numeric) in enumerate(zip(ordered.columns, ordered.numeric(), strict=True)):
            if numeric:
                table.add_column(Text(column.replace(" ", "\n")), justify="right", no_wrap=True)
            else:
                longest = max(len(text) for text in (column, *(_shown(row[index]) for row in ordered.rows)))
                table.add_column(Text(column), overflow="fold", min_width=min(longest, _TEXT_WIDTH))
        for row in ordered.rows:
            table.add_row(*[Text(_stacked(cell)) for cell in row])
        return table

    def to_markdown(self, level: int = 2) -> str:
        """Return it as a section: a heading of this level, the table, its notes as a list."""
        ordered = self.own_first()
        lines = [
            _line(ordered.columns),
            _line(["---:" if numeric else "---" for numeric in ordered.numeric()]),
            *(_line([_shown(cell) for cell in row]) for row in ordered.rows),
        ]
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"{'#' * level} {self.title}", "", *lines, *([""] if notes else []), *notes, ""])

    def to_csv(self) -> str:
        """Return it as CSV: every column of figures as three, the value unrounded and the ends of its interval."""
        numeric = list(self.numeric())
        names = [
            (name, f"{name} low", f"{name} high") if numbers else (name,)
            for name, numbers in zip(self.columns, numeric, strict=True)
        ]
        rows = [[_values(cell, numbers) for cell, numbers in zip(row, numeric, strict=True)] for row in self.rows]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(no_formula, chain.from_iterable(names)))
        writer.writerows(chain.from_iterable(row) for row in rows)
        return out.getvalue()


def of_frame(name: str, title: str, frame: pd.DataFrame, notes: Sequence[str] = ()) -> Table:
    """Make a table of a data frame of cells; what is missing in it is not known."""
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return Table(name, title, tuple(frame.columns), cells, tuple(notes))


@dataclass(frozen=True, slots=True)
class Report:
    """Tables; location and reason of each log passed over; and figures, whose names begin with their table's."""

    tables: Sequence[Table]
    passed_over: Sequence[tuple[str, str]] = ()
    figures: Mapping[str, str] = field(default_factory=dict, repr=False)  # stem of an SVG file -> its text


def _shown(cell: Cell) -> str:
    return "-" if cell is None else str(cell)


def _stacked(cell: Cell) -> str:
    """As `_shown`, the interval in a line of its own and shorter, so that wide tables find room in a terminal."""
    return f"{cell.shown}\n{cell.short_interval}" if isinstance(cell, Figure) and cell.interval else _shown(cell)


def _written(value: float, decimals: int) -> str:
    """A number with a true minus, which an end just below 0 keeps, and 0 never has."""
    return f"{value + 0.0:.{decimals}f}".replace("-", "−")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _values(cell: Cell, numeric: bool) -> tuple[str | float | None, ...]:
    if isinstance(cell, Figure):
        return cell.value, cell.low, cell.high
    return (None, None, None) if numeric else (cell and no_formula(cell),)


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
