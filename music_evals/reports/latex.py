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
from music_evals.reports.table import Cell, Table, interval, notes, number, text
from music_evals.scorers.metrics.estimates import Estimate

TEXT_WIDTH = 468.0
"""Points between the margins of a page."""
COLUMN_WIDTH = 344.0
"""Points that a table of up to `FEW` columns takes at most."""
FEW = 4
_FIRST = 3  # columns that stay, however wide
_INTERVALS = "intervals"
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
    others = [name for name in table.columns if name.casefold() not in wanted]
    return table.without(*others) if len(table.columns) - len(others) == len(wanted) else None


def latex(table: Table, width: float = TEXT_WIDTH) -> str:
    """Return a table as LaTeX, which needs the packages array, booktabs and threeparttable.

    Text is folded. If that is not enough, the table's optional columns are left out, then
    intervals, then columns from the right.

    Args:
        table: of the report.
        width: points that it takes at most.
    """
    ordered = table.measured_first()
    left_out: list[str] = []
    for step in ("", *table.optional, _INTERVALS, *reversed(table.columns[_FIRST:])):
        left_out += [step] * bool(step)
        shown = ordered.without(*left_out)
        widths = _widths(shown, _INTERVALS not in left_out)
        spare = width - sum(least for _, least in widths)
        if spare >= 0:
            break
    wanted = sum(natural - least for natural, least in widths)
    share = min(1.0, spare / max(wanted, 1.0))
    return _template().render(
        table=shown,
        numeric=shown.is_numeric(),
        widths=[least + share * (natural - least) - _GAP for natural, least in widths],
        left_out=left_out,
        has_intervals=_INTERVALS not in left_out,
        on_screens=_ON_SCREENS,
    )


def _widths(table: Table, has_intervals: bool) -> list[tuple[float, float]]:
    """The width of each column, and its least one, where text is folded."""
    widths = []
    for place, (heading, is_number) in enumerate(
        zip(table.columns, table.is_numeric(), strict=True)
    ):
        cells = [_shown(row[place], has_intervals) for row in table.rows]
        if is_number:
            natural = least = _width([*cells, *_WORDS.split(heading)])
        else:
            natural = _width([*cells, heading])
            least = _width(_PIECES.split(" ".join([*cells, heading])))
        widths.append((natural, least))
    return widths


def _shown(cell: Cell, has_interval: bool) -> str:
    """A cell as it is shown."""
    if not isinstance(cell, Estimate):
        return text(cell)
    return number(cell) + cell.mark + _interval(cell) * has_interval


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
