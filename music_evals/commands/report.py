"""`music-evals report`: tables, tests and figures from Inspect logs, beside the published
numbers.
"""

import gc
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.progress import Progress
from typer import Argument, Option

from music_evals.commands.output import (
    Overwrite,
    errors_in_a_line,
    failed,
    list_logs,
    logs_folder,
    path_of,
    say,
    show_table,
)

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io import FolderKind
    from music_evals.reports.overview import Overview
    from music_evals.reports.records import Records
    from music_evals.reports.report import Section
    from music_evals.reports.table import Table

_HINT = "All tables: --full. A page of tables and figures, and results.json: --out FOLDER"
_TITLE = "Music evaluation report"
_MOST = 3  # logs that are named, each in a line, where not all is shown


class ReportError(Exception):
    """Something cannot be read or written; the message names it."""


def report(
    logs: Annotated[
        list[str],
        Argument(help="Inspect logs, or folders of them; also addresses such as s3://."),
    ],
    out: Annotated[
        Path | None,
        Option(
            help=(
                "Folder for report.html, report.md, results.json, CSV and SVG files; absent or "
                "empty."
            )
        ),
    ] = None,
    full: Annotated[bool, Option("--full", help="Show all tables, not the summary alone.")] = False,
    site: Annotated[
        Path | None,
        Option(
            help="Folder for a leaderboard with the logs, also as a static Space; absent or empty."
        ),
    ] = None,
    latex: Annotated[
        bool,
        Option("--latex", help="Write the tables as LaTeX, too, by booktabs: --out's latex/."),
    ] = False,
    columns: Annotated[
        str | None,
        Option(
            help=(
                "With --latex: headings of the columns to write, separated by commas without a "
                "space; only of tables that have all of them."
            )
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show a summary of Inspect logs, or with --full all tables; write a page with --out, a
    leaderboard with --site.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.notation.extras import MissingLibraryError
    from music_evals.notation.secrets import SecretError
    from music_evals.reports.overview import make_overview
    from music_evals.reports.records import local_logs
    from music_evals.reports.report import make_report

    folders = {"--out": out, "--site": site}
    try:
        _check_folders({option: path for option, path in folders.items() if path}, overwrite)
        if latex and out is None:
            raise ReportError("--latex is for files; give --out FOLDER as well")
        if columns and not latex:
            raise ReportError("--columns is for --latex; give --latex as well")
        with local_logs(*logs) as paths:
            records = _read(paths)
            if not len(records.runs):
                reasons = [f"\n  {path_of(log)}: {why}" for log, why in records.passed_over]
                raise ReportError(f"no log in {', '.join(logs)} could be used{''.join(reasons)}")
            sections, left_out = make_report(records)
            overview = make_overview(records)
            tables = [overview.table, *chain.from_iterable(section.tables for section in sections)]
            if columns:
                _check_columns(tables, columns)
            for section in sections if full else sections[:1]:
                for table in section.tables:
                    show_table(table)
            of_all = len(records.passed_over) + len(records.headers)
            passed_over = f"Passed over, {len(records.passed_over)} of {of_all} logs:"
            _list_faults(passed_over, records.passed_over, full)
            _list_faults("Not in all of the report:", left_out, full)
            if out is not None:
                files = _files(records, sections, overview)
                files |= {f"{table.name}.csv": table.to_csv() for table in tables}
                if latex:
                    files |= _latex_files(tables, columns)
                _write_report(out, files, overwrite)
            if site is not None:
                _write_site(site, records, sections, overview, overwrite)
            if not full:
                say(_HINT if out is None and site is None else "All tables: --full")
    except (ReportError, DatasetError, SecretError, MissingLibraryError, OSError) as error:
        raise failed(error) from error


def _read(paths: "Sequence[Path]") -> "Records":
    from music_evals.evals.registry import defaults_of
    from music_evals.reports.records import read_records

    gc.set_threshold(100_000)  # what is read stays until the end
    with _progress("Reading logs") as progress:
        return read_records(paths, defaults=defaults_of, progress=progress)


def _list_faults(heading: str, entries: Sequence[tuple[str, str]], full: bool) -> None:
    """List logs with their faults, only the first of them unless all is shown."""
    most = len(entries) if full else _MOST
    list_logs(heading, entries[:most])
    if len(entries) > most:
        say(f"  … and {len(entries) - most} more")


def _write_report(out: Path, files: Mapping[str, str], overwrite: bool) -> None:
    from music_evals.datasets_builders.dataset_io import replace_folder

    with replace_folder(out, _folder_kinds()["--out"], overwrite=overwrite) as target:
        for name, text in files.items():
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).write_text(text, encoding="utf-8")
    say(f"Wrote {out}")


def _write_site(
    site: Path,
    records: "Records",
    sections: "Sequence[Section]",
    overview: "Overview",
    overwrite: bool,
) -> None:
    from music_evals.datasets_builders.dataset_io import replace_folder
    from music_evals.reports.page import draw_figures, html
    from music_evals.reports.site import PAGE, write_site

    about, figures = _about(records), draw_figures(sections)
    with replace_folder(site, _folder_kinds()["--site"], overwrite=overwrite) as target:
        page = html(_TITLE, about, sections, figures, overview, home=PAGE)
        write_site(target, records, about, _made_by(), page)
    say(f"Wrote {site}; to see its logs, too: python -m http.server --directory {site}")


def compare(
    first: Annotated[
        str,
        Argument(help="A model (gpt-4o, or openai/gpt-4o), or a condition (modality=midi)."),
    ],
    second: Annotated[str, Argument(help="Another one.")],
    logs: Annotated[
        list[str] | None, Argument(help="Inspect logs, or folders of them. Default: logs.")
    ] = None,
) -> None:
    """Compare two models, or two conditions, on the questions that both were asked: one paired test
    a task.
    """
    from music_evals.reports.comparisons import compared
    from music_evals.reports.records import local_logs

    with errors_in_a_line(), local_logs(*(logs or [logs_folder()])) as paths:
        records = _read(paths)
        list_logs("Passed over:", records.passed_over[:_MOST])
        show_table(compared(records, first, second))


def _folder_kinds() -> "dict[str, FolderKind]":
    from music_evals.datasets_builders.dataset_io import FolderKind
    from music_evals.reports.site import CARD, LOGS, PAGE, REPORT, RESULTS

    files = ("report.html", "results.json", "*.csv", "*.md", "*.svg", "latex/*.tex")
    return {
        "--out": FolderKind("a report", "report.md", contents=files),
        "--site": FolderKind(
            "a site", RESULTS, '"schema_version"', (CARD, f"{LOGS}/*", PAGE, REPORT, RESULTS)
        ),
    }


def _check_folders(folders: Mapping[str, Path], overwrite: bool) -> None:
    """Refuse a folder that holds something else, or lies within another one."""
    from music_evals.datasets_builders.dataset_io import check_target

    kinds = _folder_kinds()
    for option, folder in folders.items():
        check_target(folder, kinds[option], overwrite=overwrite)
    paths = {option: path.expanduser().resolve() for option, path in folders.items()}
    for (option, folder), (other, inner) in permutations(paths.items(), 2):
        if inner.is_relative_to(folder):
            raise ReportError(
                f"{option} {folder} and {other} {inner} lie in one another; give two folders"
            )


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal; the function takes how many of how many are done."""
    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    task = bar.add_task(what, total=None)

    def advance(done: int, total: int) -> None:
        # Only now, as the bar has a thread, and a process with threads does not copy itself.
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        bar.stop()


def _made_by() -> str:
    return f"music-evals {version('music-evals')}"


def _about(records: "Records") -> list[str]:
    """Lines above all sections."""
    newest = records.runs["created"].max()
    return [
        f"{len(records.headers)} logs, the newest of {newest:%Y-%m-%d}.",
        f"Made by {_made_by()}.",
    ]


def _files(
    records: "Records", sections: "Sequence[Section]", overview: "Overview"
) -> dict[str, str]:
    """Return the files of a report but those of single tables, by name."""
    from music_evals.reports.page import draw_figures, html, markdown
    from music_evals.reports.results import as_csv, as_json

    about = _about(records)
    figures = draw_figures(sections)
    files = {
        "results.json": as_json(records, _made_by()),
        "results.csv": as_csv(records),
        "report.html": html(_TITLE, about, sections, figures, overview),
        "report.md": markdown(_TITLE, about, sections, figures),
    }
    for name, svg in {"overview": overview.figure, **figures}.items():
        if svg:
            files[f"{name}.svg"] = svg
    return files


def _check_columns(tables: "Sequence[Table]", columns: str) -> None:
    """Refuse columns that no table has together, and name those that there are."""
    from music_evals.reports.latex import choose_columns

    headings = _headings(columns)
    if any(choose_columns(table, headings) for table in tables):
        return
    names = {name.casefold() for table in tables for name in table.columns}
    unknown = [name for name in headings if name.strip().casefold() not in names]
    problem = f"no table has {', '.join(unknown)}" if unknown else "no table has all of these"
    there = [f"\n  {table.name}: {', '.join(table.columns)}" for table in tables]
    raise ReportError(
        f"--columns {columns}: {problem}; the tables and their columns are:{''.join(there)}"
    )


def _headings(columns: str) -> list[str]:
    return re.split(r",(?! )", columns)


def _latex_files(tables: "Sequence[Table]", columns: str | None) -> dict[str, str]:
    """Return tables as LaTeX, by name; with columns only the tables that have all of them."""
    from music_evals.reports.latex import choose_columns, latex

    if columns:
        headings = _headings(columns)
        tables = [*filter(None, (choose_columns(table, headings) for table in tables))]
    return {f"latex/{table.name}.tex": latex(table) for table in tables}
