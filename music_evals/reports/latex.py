"""Tables as LaTeX for a paper: booktabs, notes under the table by threeparttable, never wider than
the text.

``templates/table.tex`` is the layout. Numbers have their interval in small type, without n and
unread replies. Widths are estimated from the letters of Computer Modern, rather too wide than too
narrow.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

from jinja2 import Template

from music_evals.notation.toml_files import read_toml
from music_evals.reports.page import environment
from music_evals.reports.table import Cell, Table, fitted_widths, interval, notes, number, text
from music_evals.scorers.metrics.estimates import Estimate

TEXT_WIDTH = 345.0
"""Points between the margins of a page of LaTeX's class article."""
_GAP, _LETTER, _CAPITAL = 12.0, 4.6, 1.9  # points: beside a column, a letter, more for a capital
_WORDS = re.compile(r" |(?<=-)")  # of the heading of a number, a line each
_PIECES = re.compile(r" |(?<=[/_=@-])")
_BREAKS = re.compile(r"(?<=[/_=@])(?=\S)")
_EMPHASIS = re.compile(r"\*([^*]+)\*")
_SIGNS = str.maketrans(read_toml(__package__, "templates/latex.toml"))
_ON_SCREENS = (*notes("unread"), *notes("unread_text"), *notes("unread_likelihood"))


def choose_columns(table: Table, headings: Iterable[str]) -> Table | None:
    """Return a table with these columns alone, whatever their case; None if it lacks one."""
    wanted = {heading.strip().casefold() for heading in headings}
    names = [name for name in table.columns if name.casefold() in wanted]
    return table.only(*names) if len(names) == len(wanted) else None


def latex(table: Table) -> str:
    """Return a table as LaTeX, which needs the packages array, booktabs and threeparttable.

    Text is folded. Columns of numbers that do not fit go on below, behind the columns that name the
    rows; if these leave no room, the table's optional columns are left out.

    Args:
        table: of the report; it takes `TEXT_WIDTH` at most.
    """
    shown, left_out = table.measured_first(), list[str]()
    for name in table.optional:
        if max(map(_least, _blocks(shown))) <= TEXT_WIDTH:
            break
        left_out += [name] * (name in shown.columns)
        shown = shown.without(name)
    blocks = []
    for block in _blocks(shown):
        widths = [each - _GAP for each in fitted_widths(_widths(block), TEXT_WIDTH)]
        blocks.append((block, block.is_numeric(), widths))
    return _template().render(table=shown, blocks=blocks, left_out=left_out, on_screens=_ON_SCREENS)


def _least(table: Table) -> float:
    return sum(least for _, least in _widths(table))


def _blocks(table: Table) -> list[Table]:
    """The parts of a table below each other: its columns of text up to the first number, with as
    many others as fit.
    """
    first = [*table.is_numeric(), True].index(True)
    names, others = table.columns[:first], [*table.columns[first:]]
    if _least(table) <= TEXT_WIDTH or not others:
        return [table]
    blocks, own = [], others[:1]
    for name in others[1:]:
        if _least(table.only(*names, *own, name)) > TEXT_WIDTH:
            blocks.append(own)
            own = []
        own = [*own, name]
    return [table.only(*names, *block) for block in [*blocks, own]]


def _widths(table: Table) -> list[tuple[float, float]]:
    """The width of each column, and its least one, where text is folded."""
    widths = []
    for place, (heading, is_number) in enumerate(
        zip(table.columns, table.is_numeric(), strict=True)
    ):
        cells = [_shown(row[place]) for row in table.rows]
        if is_number:
            natural = least = _width([*cells, *_WORDS.split(heading)])
        else:
            natural = _width([*cells, heading])
            least = _width(_PIECES.split(" ".join([*cells, heading])))
        widths.append((natural, least))
    return widths


def _shown(cell: Cell) -> str:
    """A cell as it is shown."""
    if not isinstance(cell, Estimate):
        return text(cell)
    return number(cell) + cell.mark + _interval(cell)


def _interval(cell: Estimate) -> str:
    return interval(replace(cell, n=None, unread=None))


def _width(words: Sequence[str]) -> float:
    """The width of the widest text in points, with the gaps beside it."""
    return _GAP + max(
        len(word) * _LETTER + sum(map(str.isupper, word)) * _CAPITAL for word in words
    )


def _escaped(words: str) -> str:
    return " ".join(words.split()).translate(_SIGNS)


@cache
def _template() -> Template:
    pages = environment().overlay(
        autoescape=False,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
    )
    pages.filters |= {
        "tex": _escaped,
        "breakable": partial(_BREAKS.sub, r"\\allowbreak "),
        "emphasised": partial(_EMPHASIS.sub, r"\\emph{\1}"),
        "lines": _WORDS.split,
        "ends": _interval,
    }
    return pages.get_template("table.tex")
