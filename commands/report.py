"""`music-evals report`: tables and figures from Inspect logs, beside the published numbers."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console

from music_evals.commands.errors import failed

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from music_evals.reports.tables import Report, Table

_REPORT: Final = "report.md"
_FILES: Final = (".csv", ".svg")
_GENERATION: Final = "lilybench generation"
_WIDEST: Final = 1000  # columns; more than any table needs


class ReportError(Exception):
    """What cannot be read or written; the text names it."""


def report(
    logs: Annotated[list[Path], typer.Argument(help="Inspect logs, or folders of them.")],
    out: Annotated[Path | None, typer.Option(help="Folder for report.md, CSV and SVG files; absent or empty.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report in --out.")] = False,
) -> None:
    """Show tables from Inspect logs beside the published numbers, and write them and figures with --out."""
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.reports import lilybench, lilybench_generation, ziqi

    benchmarks: Mapping[str, Callable[[Sequence[EvalLog]], Report]] = {
        "ziqi": ziqi.report,
        "lilybench": lilybench.report,
        _GENERATION: lilybench_generation.report,
    }
    console = Console()
    try:
        if out is not None:
            _check_target(out, overwrite=overwrite)
        headers, passed_over = _read(logs)
        found_logs = len(headers) + len(passed_over)
        of_each: dict[str, list[EvalLog]] = {}
        for header in headers:
            benchmark = _benchmark(header)
            if benchmark in benchmarks:
                of_each.setdefault(benchmark, []).append(header)
            else:
                passed_over.append((header.location, f"no table is known for {benchmark or header.eval.task}"))
        reports = [benchmarks[name](found) for name, found in of_each.items()]
        tables = [table for one in reports for table in one.tables]
        figures = {name: svg for one in reports for name, svg in one.figures.items()}
        passed_over += [entry for one in reports for entry in one.passed_over]
        if not tables:
            reasons = "".join(f"\n  {_path(where)}: {why}" for where, why in passed_over)
            raise ReportError(f"no log could be used; tables are known for: {', '.join(benchmarks)}{reasons}")
        for table in tables:
            _show(console, table)
        if passed_over:
            console.print(f"Passed over, {len(passed_over)} of {found_logs} logs:", style="yellow")
            for where, why in passed_over:
                console.print(f"  {_path(where)}: {why}", markup=False, highlight=False, soft_wrap=True)
        if out is not None:
            _write(tables, figures, passed_over, out)
            console.print(f"Wrote {out}", markup=False, highlight=False, soft_wrap=True)
        elif figures:
            console.print(f"Figures, which --out FOLDER writes: {', '.join(figures)}", markup=False, highlight=False)
    except (ReportError, OSError) as error:
        raise failed(error) from error


def _read(paths: Sequence[Path]) -> tuple[list["EvalLog"], list[tuple[str, str]]]:
    """Read headers; a file that is named must be a log, one that merely lies in a folder is passed over."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    found: dict[Path, bool] = {}
    for path in paths:
        if not path.exists():
            raise ReportError(f"{path} does not exist")
        if path.is_file():
            found[path.resolve()] = True
        else:
            for info in list_eval_logs(str(path.resolve())):
                found.setdefault(Path(_path(info.name)), False)
    if not found:
        raise ReportError(f"there are no Inspect logs in {', '.join(map(str, paths))}")
    headers, unreadable = [], []
    for path, named in found.items():
        try:
            headers.append(read_eval_log(str(path), header_only=True))
        except Exception as error:  # whatever a reader of zip and JSON meets in a file that is none
            if named:
                raise ReportError(f"{path} is not an Inspect log: {error}") from error
            unreadable.append((str(path), f"it cannot be read: {error}"))
    return headers, unreadable


def _benchmark(header: "EvalLog") -> str:
    """Which report a log belongs to; LilyBench's generation has one of its own."""
    about = header.eval.metadata or {}
    benchmark = str(about.get("benchmark", ""))
    return _GENERATION if (benchmark, about.get("config")) == ("lilybench", "generation") else benchmark


def _path(location: str) -> str:
    return location.removeprefix("file://")


def _show(console: Console, table: "Table") -> None:
    """Print a table, wider than the terminal where its numbers would else be cut."""
    shown = table.to_rich()
    needed = console.measure(shown, options=console.options.update(width=_WIDEST)).minimum
    wide = Console(width=max(console.width, needed))
    wide.print(shown)
    wide.print()


def _check_target(out: Path, *, overwrite: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ReportError(f"{out} is not a folder")
    names = {path.name for path in out.iterdir()}
    if not names:
        return
    if _REPORT not in names or any(name != _REPORT and not name.endswith(_FILES) for name in names):
        raise ReportError(f"{out} holds other things than a report; name a folder that is absent or empty")
    if not overwrite:
        raise ReportError(f"{out} holds a report; --overwrite replaces it")


def _write(
    tables: Sequence["Table"], figures: Mapping[str, str], passed_over: Sequence[tuple[str, str]], out: Path
) -> None:
    """Write the folder beside its place and move it there, so that it is never there in part."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        made, old = Path(beside) / "new", Path(beside) / "old"
        made.mkdir()
        made.joinpath(_REPORT).write_text("\n".join(_markdown(tables, figures, passed_over)), encoding="utf-8")
        for table in tables:
            made.joinpath(f"{table.name}.csv").write_text(table.to_csv(), encoding="utf-8")
        for name, svg in figures.items():
            made.joinpath(f"{name}.svg").write_text(svg, encoding="utf-8")
        if out.exists():
            out.rename(old)
        try:
            made.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise


def _markdown(
    tables: Sequence["Table"], figures: Mapping[str, str], passed_over: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield "# Report\n"
    for table in tables:
        yield table.to_markdown()
        if table.name in figures:
            yield f"![Figure: {table.title}]({table.name}.svg)\n"
    if passed_over:
        yield "## Logs passed over\n"
        yield from (f"- {_path(where)}: {why}" for where, why in passed_over)
        yield ""
