"""Reports as one document: a page of HTML that needs no other file and no network, and Markdown beside its files.

The page has no scripts. Its policy lets it load nothing; figures and CSV files lie in it as data. All text is escaped.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from defusedxml import ElementTree
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from music_evals.reports.tables import Cell, Report

_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
# What tells a reader that a number is not to be set beside a published one.
_APART: Final = re.compile(r"(†|\bgenerated\b[\w.-]*)")
_FEW_WORDS, _ONE_WORD = 20, 40  # characters
_ADDRESS: Final = re.compile(r"https?://\S+")


class Section(NamedTuple):
    """A part of a report: its anchor, of letters, digits and hyphens; its heading; its tables and figures.

    `apart` are sentences on what sets its measured numbers apart from published ones.
    """

    name: str
    title: str
    report: Report
    apart: Sequence[str] = ()


class Drawing(NamedTuple):
    """A figure: stem of its file, what it shows, and its text."""

    name: str
    title: str
    svg: str


def html(title: str, about: Sequence[str], sections: Sequence[Section]) -> str:
    """Lay a report out as one page of HTML, with what is said of all of it, a line each, above its sections."""
    environment = Environment(
        loader=PackageLoader("music_evals.reports"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"apart": _apart, "data": _data, "address": _ADDRESS.fullmatch}
    environment.tests |= {"measured": _is_measured, "short": _is_short}
    template = environment.get_template("report.html")
    return template.render(title=title, about=about, sections=sections, shown_with=_shown_with)


def markdown(title: str, about: Sequence[str], sections: Sequence[Section]) -> str:
    """Lay a report out as Markdown, which shows the files of its figures."""
    # What looks like a tag would be one, or be lost, where Markdown is turned to HTML.
    return "\n".join(_lines(title, about, sections)).replace("<", "&lt;")


def _lines(title: str, about: Sequence[str], sections: Sequence[Section]) -> Iterator[str]:
    yield f"# {title}\n"
    yield from (f"{line}\n" for line in about)
    for section in sections:
        yield f"## {section.title}\n"
        yield from (f"**{sentence}**\n" for sentence in section.apart)
        yield from map(_picture, _shown_with(section.report))
        for table in section.report.tables:
            yield table.to_markdown(level=3)
            yield from map(_picture, _shown_with(section.report, table.name))


def _picture(drawing: Drawing) -> str:
    text = re.sub(r"([\\\[\]])", r"\\\1", drawing.title)
    return f"![Figure: {text}]({drawing.name}.svg)\n"


def _shown_with(report: Report, table: str = "") -> list[Drawing]:
    """The figures of a table, or those that belong to none."""
    return [
        Drawing(name, ElementTree.fromstring(svg).findtext(f".//{_TITLE}") or name, svg)
        for name, svg in report.figures.items()
        if _table_of(name, report) == table
    ]


def _table_of(figure: str, report: Report) -> str:
    """The table that a figure belongs to: its name is that of the figure, or begins it; nothing where there is none."""
    names = [table.name for table in report.tables if f"{figure}_".startswith(f"{table.name}_")]
    return max(names, key=len, default="")


def _is_measured(row: Sequence[Cell]) -> bool:
    """Whether a row was measured here, in a table of published ones too."""
    return any(isinstance(cell, str) and cell.startswith("measured") for cell in row)


def _is_short(text: str) -> bool:
    """Whether a text is kept in one line: few words, or one that is not too long."""
    return len(text) <= (_FEW_WORDS if " " in text else _ONE_WORD)


def _apart(text: str) -> Markup:
    """Mark within a text what tells that a number is not to be set beside a published one."""
    parts = _APART.split(text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _data(text: str, media_type: str) -> str:
    """Return the address of a file that lies within the page."""
    return f"data:{media_type};base64,{base64.b64encode(text.encode()).decode()}"
