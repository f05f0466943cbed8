"""Reports as one document: a page of HTML that needs no other file and no network, and Markdown
beside its files.

The page has no scripts, and its policy lets it load nothing: figures and CSV files are in it as
data. All text is escaped. The first table of a section is open, the others are folded.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from music_evals.reports.overview import Overview
from music_evals.reports.plots import table_figure
from music_evals.reports.report import Section
from music_evals.reports.table import Table, interval, number
from music_evals.scorers.metrics.estimates import Estimate

# What tells a reader that a number must not be compared with a published one.
_NOT_PUBLISHED = re.compile(r"(†|\bgenerated\b[\w.-]*)")
# Columns that are shown within the model's cell.
_UNDER_MODEL = (
    "Source",
    "Condition",
    "Asked with",
)
_BEHIND = ("Data", "On data", "Logs")  # and those that a click shows there
_AFTER_A_MARK = re.compile(r"(?<=[/_])")
_ADDRESS = re.compile(r"https?://\S+")


def environment() -> Environment:
    """Return what fills the templates of pages: all text is escaped, and an unknown name is an
    error.
    """
    pages = Environment(
        loader=PackageLoader("music_evals.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= {
        "marked": _marked,
        "data": _data,
        "address": _ADDRESS.fullmatch,
        "laid_out": _laid_out,
        "number": number,
        "interval": interval,
    }
    pages.tests["estimate"] = lambda cell: isinstance(cell, Estimate)
    return pages


def html(
    title: str,
    about: Sequence[str],
    sections: Sequence[Section],
    figures: Mapping[str, str],
    overview: Overview | None = None,
    home: str = "",
) -> str:
    """Lay a report out as one page of HTML.

    Args:
        title: of the page.
        about: lines above the sections.
        sections: of the report; with an overview the first one is the summary.
        figures: name of a table → its figure, as SVG.
        overview: what the summary shows before a click.
        home: address of the leaderboard that the page belongs to.
    """
    template = environment().get_template("report.html")
    return template.render(
        title=title, about=about, sections=sections, figures=figures, overview=overview, home=home
    )


def markdown(
    title: str, about: Sequence[str], sections: Sequence[Section], figures: Mapping[str, str]
) -> str:
    """Lay a report out as Markdown, which shows the files of its figures."""

    def lines() -> Iterator[str]:
        yield f"# {title}\n"
        yield from (f"{line}\n" for line in about)
        for section in sections:
            yield f"## {section.title}\n"
            for table in section.tables:
                yield table.to_markdown()
                if table.name in figures:
                    words = re.sub(r"([\\\[\]])", r"\\\1", table.title)
                    yield f"![Figure: {words}]({table.name}.svg)\n"

    # What looks like a tag would be one, or be lost, where Markdown is turned to HTML.
    return "\n".join(lines()).replace("<", "&lt;")


def draw_figures(sections: Sequence[Section]) -> dict[str, str]:
    """Draw the figures of the tables that have one: name → SVG; none without matplotlib."""
    tables = [table for section in sections for table in section.tables if table.is_drawn]
    return {table.name: svg for table in tables if (svg := table_figure(table))}


def _laid_out(table: Table) -> dict[str, Any]:
    """Arrange a table for the page: no empty columns; how a model was asked, and on which data, is
    in its cell.
    """
    ordered, names = table.measured_first(), list(table.columns)
    inner = (*_UNDER_MODEL, *_BEHIND) if "Model" in names else ()
    heads = []
    for place, (name, numeric) in enumerate(zip(names, table.is_numeric(), strict=True)):
        if name not in inner and any(row[place] is not None for row in ordered.rows):
            heads.append((name, "number" if numeric else "text"))
    rows = []
    for kind, row in zip(ordered.kinds, ordered.rows, strict=True):
        cells = dict(zip(names, row, strict=True))
        under, behind = (
            [str(cells[name]) for name in names if name in shown and cells[name] is not None]
            for shown in (_UNDER_MODEL, _BEHIND)
        )
        details = {"Model": (", ".join(under), behind)}
        rows.append((kind, [(cells[name], details.get(name)) for name, _ in heads]))
    return {"heads": heads, "rows": rows}


@cache
def _marked(words: str) -> Markup:
    """Mark in a text what tells that a number is not of the published test, and let long names
    break.
    """
    marked = Markup()
    for place, part in enumerate(_NOT_PUBLISHED.split(words)):
        shown = Markup("<wbr>").join(_AFTER_A_MARK.split(part))
        marked += Markup("<mark>{}</mark>").format(shown) if place % 2 else shown
    return marked


def _data(content: str, media_type: str) -> str:
    """Return the address of a file that is within the page."""
    return f"data:{media_type};base64,{base64.b64encode(content.encode()).decode()}"
