"""Tables as LaTeX for a paper: booktabs, notes under the table by threeparttable, never wider than
the text.

Numbers have their interval in small type, without n and unread replies. Widths are estimated from
the letters of Computer Modern at 10 pt, a little too wide rather than too narrow.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from music_evals.reports.table import Cell, Table, interval, notes, number, text
from music_evals.scorers.metrics.estimates import Estimate

TEXT_WIDTH = 469.0
"""Points between the margins of a page."""
COLUMN_WIDTH = 345.0
"""Points that a table of up to `FEW` columns takes at most."""
FEW = 4
_FIRST = 3  # columns that stay, however wide
_INTERVALS = "intervals"
_GAP = 12.0  # points beside a column
_INNER = 3.5  # points between a number and its interval
_SMALL, _SMALLEST = 0.86, 0.8  # \footnotesize and \scriptsize
_LETTERS = {"ijlI.,;:'|! ": 2.9, "frst()[]-/": 4.0, "mwMW%@=−+<>→…": 9.5}
_CAPITAL, _OTHER = 7.5, 5.4
_WIDTHS = {letter: width for letters, width in _LETTERS.items() for letter in letters}
_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "†": r"\textdagger{}",
        "‡": r"\textdaggerdbl{}",
        "…": r"\dots{}",
        "–": "--",
        "−": "$-$",
        "·": r"$\cdot$",
        "×": r"$\times$",
        "→": r"$\to$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "±": r"$\pm$",
        "∞": r"$\infty$",
        "α": r"$\alpha$",
        "κ": r"$\kappa$",
        "τ": r"$\tau$",
        "²": r"$^2$",
        "[": "{[}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
_BREAKS = re.compile(r"(?<=[/_=@])(?=\S)")
_PIECES = re.compile(r"(?<=[/_=@ -])")
_WORDS = re.compile(r" |(?<=-)")  # of headings, a line each
_EMPHASIS, _CODE = re.compile(r"\*([^*]+)\*"), re.compile(r"`([^`]+)`")
_FOLDED = r">{{\raggedright\arraybackslash}}p{{{:.1f}pt}}"
_ON_SCREENS = frozenset((*notes("unread"), *notes("unread_text"), *notes("unread_likelihood")))
"""Notes on what a table on paper leaves out."""


def choose_columns(table: Table, headings: Sequence[str]) -> Table | None:
    """Return a table with these columns in this order, whatever their case; None if it lacks one.

    Args:
        table: of the report.
        headings: of the columns.
    """
    places = {name.casefold(): place for place, name in enumerate(table.columns)}
    wanted = [places.get(heading.strip().casefold(), -1) for heading in headings]
    if -1 in wanted:
        return None
    rows = [[row[place] for place in wanted] for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in wanted], rows=rows)


def latex(table: Table, width: float = TEXT_WIDTH) -> str:
    """Return a table as LaTeX, which needs the packages array, booktabs and threeparttable.

    Columns that say the same in all rows become a note. If it is too wide, its type is smaller and
    text is folded; then its optional columns are left out, then intervals, then columns from the
    right.

    Args:
        table: of the report.
        width: points that it takes at most.
    """
    shown, notes = _constants_as_notes(table.measured_first())
    left_out: list[str] = []
    columns = _columns(shown)
    steps = [*table.optional, _INTERVALS, *reversed(shown.columns[_FIRST:])]
    for step in dict.fromkeys(steps):
        if sum(column.least(_SMALL) for column in columns) <= width:
            break
        left_out.append(step)
        columns = [column for column in _columns(shown) if column.heading not in left_out]
        if _INTERVALS in left_out:
            columns = [replace(column, intervals=[""] * len(shown.rows)) for column in columns]
    lines = [*_tabular(shown, columns, width), *_notes(shown, columns, notes)]
    if left_out:
        lines.insert(0, f"% Left out, to fit the width: {', '.join(left_out)}")
    return "\n".join([*lines, r"\end{threeparttable}", r"\end{table}", ""])


@dataclass(frozen=True)
class _Column:
    """A column of a table."""

    heading: str
    cells: Sequence[Cell]
    is_number: bool
    intervals: Sequence[str]

    @property
    def has_intervals(self) -> bool:
        """Whether a number is shown with an interval."""
        return any(self.intervals)

    def natural(self, factor: float) -> float:
        """Return its width in points if no cell is folded; type is smaller by a factor."""
        if not self.is_number:
            return factor * max(map(_width, [self.heading, *map(text, self.cells)])) + _GAP
        words = factor * max(map(_width, _WORDS.split(self.heading)))
        numbers = factor * max(map(_width, map(_number, self.cells)))
        if self.has_intervals:
            numbers += _INNER + _SMALLEST * max(map(_width, self.intervals))
        return max(words, numbers) + _GAP

    def least(self, factor: float) -> float:
        """Return its width in points if text is folded where it can be."""
        if self.is_number:
            return self.natural(factor)
        pieces = _PIECES.split(" ".join([self.heading, *map(text, self.cells)]))
        return factor * max(_width(piece.strip()) for piece in pieces) + _GAP

    def title(self) -> str:
        """Return the heading; that of a number has a word per line."""
        if not self.is_number:
            return _escaped(self.heading)
        words = r"\\".join(map(_escaped, _WORDS.split(self.heading)))
        stacked = rf"\shortstack[r]{{{words}}}"
        return rf"\multicolumn{{2}}{{r}}{{{stacked}}}" if self.has_intervals else stacked

    def cell(self, row: int) -> str:
        """Return a cell."""
        value = self.cells[row]
        if not self.is_number:
            return _BREAKS.sub(r"\\allowbreak ", _escaped(text(value)))
        shown = _escaped(_number(value))
        if not self.has_intervals:
            return shown
        return rf"{shown} & {{\scriptsize {_escaped(self.intervals[row])}}}"


def _columns(table: Table) -> list[_Column]:
    cells = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    intervals = [[*map(_interval, column)] for column in cells]
    return [*map(_Column, table.columns, cells, table.is_numeric(), intervals)]


def _constants_as_notes(table: Table) -> tuple[Table, list[str]]:
    """A table without columns of text that say the same in all rows, and what these say."""
    names, notes = [], []
    for column in _columns(table)[_FIRST - 1 :]:
        values = {*map(text, column.cells)}
        if column.is_number or len(values) > 1 or len(column.cells) < 2:
            continue
        names.append(column.heading)
        if values != {text(None)}:
            notes.append(f"{column.heading}: {values.pop()}.")
    return table.without(*names), notes


def _tabular(table: Table, columns: Sequence[_Column], most: float) -> list[str]:
    """The lines up to the end of the tabular, whose text is folded if it would be wider."""
    factor = 1.0
    if sum(column.natural(factor) for column in columns) > most:
        factor = _SMALL
    size = "" if factor == 1 else r"\footnotesize"
    rows = []
    for place in range(len(table.rows)):
        if place and table.kinds[place] != table.kinds[place - 1]:
            rows.append(r"\midrule")
        rows.append(rf"{' & '.join(column.cell(place) for column in columns)} \\")
    return [
        r"\begin{table}",
        r"\centering",
        r"\begin{threeparttable}",
        rf"\caption{{{_escaped(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"{size}\begin{{tabular}}{{{''.join(_specs(columns, factor, most))}}}",
        r"\toprule",
        rf"{' & '.join(column.title() for column in columns)} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _specs(columns: Sequence[_Column], factor: float, most: float) -> list[str]:
    """The types of the columns; those of text share what room the numbers leave."""
    leasts = [column.least(factor) for column in columns]
    spare = [column.natural(factor) - least for column, least in zip(columns, leasts, strict=True)]
    share = (most - sum(leasts)) / max(sum(spare), 1.0)
    specs = []
    for column, least, more in zip(columns, leasts, spare, strict=True):
        spec = "l" if share >= 1 else _FOLDED.format(least + share * more - _GAP)
        if column.is_number:
            spec = "r@{~}l" if column.has_intervals else "r"
        specs.append(spec)
    return specs


def _notes(table: Table, columns: Sequence[_Column], constants: Sequence[str]) -> list[str]:
    """The notes as they are under a table on paper: numbers of items are said once."""
    lines = [*constants]
    if any(column.has_intervals for column in columns):
        lines.append("In small type: 95% intervals.")
    own = [note for note in table.shown_notes() if note not in _ON_SCREENS]
    counts = []
    for column in columns:
        numbers = {cell.n for cell in column.cells if isinstance(cell, Estimate) and cell.n}
        if numbers:
            ends = sorted({min(numbers), max(numbers)})
            counts.append(f"{column.heading} {'–'.join(map(str, ends))}")
    if counts:
        lines.append(f"Number of items: {'; '.join(counts)}.")
    items = [rf"\item {_emphasised(_escaped(note))}" for note in [*own, *lines]]
    return [r"\begin{tablenotes}\footnotesize", *items, r"\end{tablenotes}"] if items else []


def _number(cell: Cell) -> str:
    return number(cell) + cell.mark if isinstance(cell, Estimate) else text(None)


def _interval(cell: Cell) -> str:
    """The ends of an interval; nothing without one."""
    return interval(replace(cell, n=None, unread=None)) if isinstance(cell, Estimate) else ""


def _width(words: str) -> float:
    """The width of a text in points, at 10 pt."""
    return sum(_WIDTHS.get(sign, _CAPITAL if sign.isupper() else _OTHER) for sign in words)


def _escaped(words: str) -> str:
    return " ".join(words.split()).translate(_SIGNS)


def _emphasised(words: str) -> str:
    """A note whose marks of Markdown are LaTeX's."""
    return _CODE.sub(r"\\texttt{\1}", _EMPHASIS.sub(r"\\emph{\1}", words))
