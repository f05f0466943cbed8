"""`music-evals report`: tables, tests and figures from Inspect logs, beside the published numbers."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.progress import Progress

from music_evals.commands.output import failed, list_logs, local_logs, path_of, say

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from music_evals.datasets_builders.dataset_io import FolderKind
    from music_evals.reports.runs import Defaults, Run
    from music_evals.reports.sections import Made
    from music_evals.reports.tables import Table

_PAGE: Final = "report.html"
_TEXT: Final = "report.md"
_RESULTS: Final = "results.json"
_LONG: Final = "results.csv"
_FILES: Final = (".csv", ".md", ".svg")
_HINT: Final = "All tables: --full. A page of tables and figures, and results.json: --out FOLDER"
_TITLE: Final = "Music evaluation report"
_WIDEST: Final = 1000  # columns; more than any table needs
_NARROWEST: Final = 80
_MOST: Final = 3  # logs that are named, each in a line, where not all is shown


class ReportError(Exception):
    """What cannot be read or written; the text names it."""


def report(
    logs: Annotated[list[str], typer.Argument(help="Inspect logs, or folders of them; also addresses such as s3://.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for report.html, report.md, results.json, CSV and SVG files; absent or empty."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show all tables, not the summary alone.")] = False,
    site: Annotated[
        Path | None,
        typer.Option(help="Folder for a leaderboard with the logs, also as a static Space; absent or empty."),
    ] = None,
    eval_results: Annotated[
        Path | None,
        typer.Option(help="Folder for .eval_results files of the models, for `publish-results`; absent or empty."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Address of the folder where the logs are published, to link --eval-results to.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier report, site or results in these folders.")
    ] = False,
) -> None:
    """Show a summary of Inspect logs, or with --full all tables; write a page with --out, a leaderboard with --site."""
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.datasets_builders.dataset_io import DatasetError, check_target, replace_folder
    from music_evals.reports.logs import read_headers
    from music_evals.reports.parts import parts
    from music_evals.reports.results import results
    from music_evals.reports.sections import make_report
    from music_evals.reports.site import write_site
    from music_evals.reports.summary import summary_lines

    console, kind = Console(), _folder_kind()
    try:
        if out is not None:
            check_target(out, kind, overwrite=overwrite)
        if site is not None:
            check_target(site, _site_kind(), overwrite=overwrite)
        if eval_results is not None:
            check_target(eval_results, _results_kind(), overwrite=overwrite)
        _check_apart({"--out": out, "--site": site, "--eval-results": eval_results})
        if source is not None and not source.startswith(("https://", "http://")):
            raise ReportError(f"--source {source} is no address; one that begins with https:// is needed")
        with local_logs(*logs) as paths:
            if not paths:
                raise ReportError(f"there are no Inspect logs in {', '.join(logs)}")
            with _progress("Reading logs") as progress:
                headers, unreadable = read_headers(paths, progress)
            with _progress("Reading samples") as progress:
                made = make_report(headers, _defaults(headers), progress)
            passed_over = [*unreadable, *made.passed_over]
            if not made.sections:
                reasons = "".join(f"\n  {path_of(where)}: {why}" for where, why in passed_over)
                known = ", ".join(part.name for part in parts())
                raise ReportError(f"no log could be used; tables are known for: {known}{reasons}")
            if full:
                for section in made.sections:
                    for table in section.report.tables:
                        _show(console, table)
            else:
                say(console, *summary_lines(made.aggregates, max(console.width, _NARROWEST)))
            of_all = f"{len(passed_over)} of {len(headers) + len(unreadable)} logs"
            for heading, told in (
                (f"Passed over, {of_all}:", passed_over),
                ("Not in all of the report:", made.left_out),
            ):
                list_logs(console, heading, told if full else told[:_MOST])
                if not full and len(told) > _MOST:
                    say(console, f"  … and {len(told) - _MOST} more")
            figures = [name for section in made.sections for name in section.report.figures]
            if out is not None:
                with replace_folder(out, kind, overwrite=overwrite) as folder:
                    for name, text in _files(made, headers, [*passed_over, *made.left_out]).items():
                        (folder / name).write_text(text, encoding="utf-8")
                say(console, f"Wrote {out}")
            elif full and figures:
                say(console, f"Figures, which --out FOLDER writes: {', '.join(figures)}")
            if site is not None:
                with replace_folder(site, _site_kind(), overwrite=overwrite) as folder:
                    write_site(
                        folder, _summed_up(made), results(made.runs, made.aggregates, _made_by()), _about(headers)
                    )
                say(console, f"Wrote {site}; to see its logs, too: python -m http.server --directory {site}")
            if eval_results is not None:
                _write_results(console, made, headers, eval_results, source, overwrite=overwrite)
            if not full:
                say(console, _HINT if out is None and site is None else "All tables: --full")
    except (ReportError, DatasetError, OSError) as error:
        raise failed(error) from error


def _folder_kind() -> "FolderKind":
    from music_evals.datasets_builders.dataset_io import FolderKind

    return FolderKind("a report", _TEXT, contents=(_PAGE, _RESULTS, *(f"*{suffix}" for suffix in _FILES)))


def _site_kind() -> "FolderKind":
    from music_evals.datasets_builders.dataset_io import FolderKind
    from music_evals.reports.site import CARD, LOGS, PAGE, RESULTS

    return FolderKind("a site", RESULTS, '"schema_version"', (CARD, f"{LOGS}/*", PAGE, RESULTS))


def _results_kind() -> "FolderKind":
    from music_evals.datasets_builders.dataset_io import FolderKind
    from music_evals.reports.eval_results import FOLDER

    files = f"*/*/{FOLDER}/*.yaml"
    return FolderKind("results of models", files, contents=(files,))


def _write_results(
    console: Console, made: "Made", headers: Sequence["EvalLog"], out: Path, source: str | None, *, overwrite: bool
) -> None:
    from music_evals.datasets_builders.dataset_io import replace_folder
    from music_evals.reports.eval_results import eval_results

    found = eval_results(made.runs, headers, source)
    list_logs(console, f"No results for the Hub, {len(found.left_out)} of {len(made.runs)} runs:", found.left_out)
    if not found.files:
        raise ReportError("no run is a result for the Hub; nothing was written to " + str(out))
    with replace_folder(out, _results_kind(), overwrite=overwrite) as folder:
        for name, text in found.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    say(console, f"Wrote {out}; to open pull requests with it: music-evals publish-results {out}")


def _check_apart(given: Mapping[str, Path | None]) -> None:
    """Refuse folders of which one lies in the other."""
    folders = {option: path.expanduser().resolve() for option, path in given.items() if path is not None}
    for (one, folder), (other, inner) in permutations(folders.items(), 2):
        if inner.is_relative_to(folder):
            raise ReportError(f"{one} {folder} and {other} {inner} lie in one another; give two folders")


def _defaults(headers: Sequence["EvalLog"]) -> "Defaults":
    """Defaults of the tasks' parameters, where logs do not tell them: those of old, and of runs by Inspect alone."""
    from inspect import signature

    from music_evals.benchmarks import load
    from music_evals.reports.hub_runs import ALONE

    abouts = [header.eval.metadata or {} for header in headers]
    if all("condition" in about and ALONE not in about.get("others", ()) for about in abouts):
        return {}
    from music_evals.evals.registry import MODULES

    return {
        (name, task): {key: found.default for key, found in signature(getattr(module, task)).parameters.items()}
        for name, module in MODULES.items()
        for task in load(name).tasks
    }


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal, which is told how many of how many are done."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(console: Console, table: "Table") -> None:
    """Print a table, wider than the terminal where its numbers would else be cut."""
    shown = table.to_rich()
    needed = console.measure(shown, options=console.options.update(width=_WIDEST)).minimum
    wide = Console(width=max(console.width, needed))
    wide.print(shown)
    wide.print()


def _summed_up(made: "Made") -> list["Run"]:
    """The runs that the summary is of: without those whose figures it cannot use."""
    odd = {where for section in made.sections if section.name == "summary" for where, _ in section.report.passed_over}
    return [run for run in made.runs if run.location not in odd]


def _made_by() -> str:
    from importlib.metadata import version

    return f"music-evals {version('music-evals')}"


def _about(headers: Sequence["EvalLog"], more: str = "") -> list[str]:
    """What is said of all of a report, a line each."""
    from music_evals.reports.basis import newest

    return [f"{len(headers)} logs, the newest of {newest(headers):%Y-%m-%d}{more}.", f"Made by {_made_by()}."]


def _files(made: "Made", headers: Sequence["EvalLog"], passed_over: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the files of a report, by name; what the numbers rest on comes last."""
    from music_evals.reports.basis import basis_report
    from music_evals.reports.page import Section, html, markdown
    from music_evals.reports.results import as_csv, results

    models = sorted({header.eval.model for header in headers})
    about = _about(headers, f"; models: {', '.join(models)}")
    basis = Section("basis", "What the numbers rest on", basis_report(headers, passed_over))
    complete = [*made.sections, basis]
    found = results(made.runs, made.aggregates, _made_by())
    return {
        _RESULTS: found.model_dump_json(indent=1),
        _LONG: as_csv(found),
        _PAGE: html(_TITLE, about, complete),
        _TEXT: markdown(_TITLE, about, complete),
        **{f"{table.name}.csv": table.to_csv() for section in complete for table in section.report.tables},
        **{f"{name}.svg": svg for section in complete for name, svg in section.report.figures.items()},
    }
