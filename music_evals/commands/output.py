"""What the commands show: plain lines, tables, errors; and how a build ends."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import BadParameter, Option

from music_evals.datasets_builders.progress import counting_pieces
from music_evals.notation.extras import install
from music_evals.reports.sanitize import plain

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io import DatasetSpec, Provenance
    from music_evals.reports.table import Table as ReportTable

_REASON = 160  # characters of a reason; convert-ly's may hold whole tracebacks

Out = Annotated[Path, Option(help="Folder to write; must be absent or empty.")]
FreeOnly = Annotated[
    bool,
    Option(
        "--free-only", help="Leave out pieces of Mutopia that state no free licence; to publish."
    ),
]
Engines = Annotated[
    Literal["processes", "ray"],
    Option(help="What does the work: processes of this machine, or a Ray cluster."),
]
Address = Annotated[str | None, Option(help="Of the Ray cluster; by default the one at hand.")]
PublishedSource = Annotated[
    str | None,
    Option(
        help=(
            "The published data: 'published' to fetch it, a folder with a copy, or "
            "hf://datasets/ORG/NAME."
        )
    ),
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace what is there already.")]
Seed = Annotated[int | None, Option(help="Seed of generated rows.")]
TaskArguments = Annotated[
    list[str] | None,
    Option("-T", help="Parameter of the task, as name=value.", envvar="INSPECT_EVAL_TASK_ARGS"),
]


def program() -> str:
    """Return how this program was started, for the next command: ``music-evals``, its path, `python
    -m music_evals`, or the words before it of ``uvx``.
    """
    script = Path(sys.argv[0])
    words = sys.orig_argv
    if script.name == "__main__.py" and "music_evals" in words:
        return shlex.join(words[: words.index("music_evals") + 1])
    if shutil.which("music-evals") == str(script) and "UV" not in os.environ:
        return "music-evals"
    parent = Path(f"/proc/{os.getppid()}/cmdline")
    started = parent.read_text(errors="replace").split("\0") if parent.is_file() else []
    if "music-evals" in started and "uv" in Path(started[0]).name:
        options = started[1 : started.index("music-evals")]
        tool = ["uvx", *options[options.index("uvx") + 1 :]] if "uvx" in options else started[:1]
        return shlex.join([*tool, "music-evals"])
    return shlex.quote(str(script)) if script.name == "music-evals" else "music-evals"


def logs_folder() -> str:
    """Return the folder of logs by default: that of Inspect's variable, or ``logs``."""
    return os.environ.get("INSPECT_LOG_DIR") or "logs"


def failed(error: Exception) -> typer.Exit:
    """Print an error as one message, and return the exit with status 1 that is to be raised.

    >>> failed(ValueError("no such folder")).exit_code
    1
    """
    reason = str(error)
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):
        place = f" ({error.filename2 or error.filename})" if error.filename else ""
        reason = f"the disk is full{place}; free some space, or give a folder on another disk"
    text = "\n".join(map(plain, f"Error: {reason}".splitlines()))
    Console(stderr=True).print(text, style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(1)


@contextmanager
def errors_in_a_line() -> Iterator[None]:
    """Print an error in what was given, or of files and network, and leave with status 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise failed(error) from error


@contextmanager
def building(out: Path, *, overwrite: bool) -> Iterator[Console]:
    """Check a dataset's folder before any work, and end with one line: where it was written, or
    what went wrong.
    """
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import DatasetError, check_target
    from music_evals.notation.lilypond.compiler import LilyPondError
    from music_evals.notation.lilypond.sandbox import SandboxError

    console = Console()
    try:
        check_target(out, overwrite=overwrite)
        yield console
    except (DatasetError, LilyPondError, SandboxError, OSError) as error:
        raise failed(error) from error
    say(f"Wrote {out}")


def build_as_it_is(
    benchmark: "DatasetSpec", out: Path, source: str | None, *, overwrite: bool
) -> None:
    """Build a dataset without further options, and print its numbers of rows."""
    from music_evals.datasets_builders.dataset_io import build_dataset

    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            provenance = build_dataset(benchmark, out, source, on_piece=advance)
        say_counts(provenance.counts)


def plain_name(name: str) -> str:
    """A benchmark or task in any case, also as `inspect eval` names it: evals/muse.py@syncopation.

    >>> [*map(plain_name, ("MUSE", "evals/muse.py@syncopation", "music_evals/ziqi"))]
    ['muse', 'muse_syncopation', 'ziqi']
    """
    plain = name.lower().removeprefix("music_evals/").removeprefix("evals/")
    return plain.replace(".py@", "_").removesuffix(".py").replace("-", "_")


def say(*lines: str) -> None:
    """Print lines as they are, but for control characters."""
    for line in lines:
        Console().print(plain(line), markup=False, highlight=False, soft_wrap=True)


def show_table(table: "ReportTable") -> None:
    """Print a table as wide as the terminal: columns are left out, and no letter of a number.

    First those go that the table calls optional, then others from the right; the first three and
    the first with numbers stay. A table in lines loses its optional columns before text is folded.
    """
    console = Console()
    left_out = []
    first_number = [*table.is_numeric(), True].index(True)
    others = [name for name in table.columns[3:] if name not in table.columns[first_number:][:1]]
    shown = table
    for name in dict.fromkeys([*table.optional, *reversed(others)]):
        is_optional = name in table.optional
        is_folded = not (table.in_lines and is_optional)
        if shown.width(is_folded=is_folded) <= console.width:
            break
        left_out += [name] * (name in table.columns)
        shown = table.without(*left_out)
    width = max(console.width, shown.width(is_folded=True))
    console.print(Text(table.title, style="bold"))
    Console(width=width).print(shown.to_rich(width))
    console.print(*map(Text, table.shown_notes()), sep="\n")
    if left_out:
        say(f"Not shown at this width: {', '.join(left_out)}.")
    say("")


def say_counts(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print the numbers of rows of a dataset, one line per config."""
    for config, splits in counts.items():
        say(f"{config}: " + ", ".join(f"{rows} rows in {split}" for split, rows in splits.items()))


def say_gaps(provenance: "Provenance") -> None:
    """Print which files are missing in a source, and what is odd in it."""
    if provenance.missing:
        Console().print("Built without these files, which the source lacks:", style="yellow")
        for config, names in provenance.missing.items():
            where = f"{config}: " if config else ""
            say(*(f"  {where}{name}" for name in names))
    if provenance.anomalies:
        Console().print("Odd in the source, and as often as the number says:", style="yellow")
        say(*(f"  {anomaly}: {count}" for anomaly, count in provenance.anomalies.items()))


def cluster() -> ModuleType:
    """Import the module that needs Ray, or say how to install Ray."""
    try:
        from music_evals.shards import cluster as module
    except ModuleNotFoundError as error:
        raise BadParameter(
            f"needs {error.name}: {install('cluster')}", param_hint="--engine"
        ) from error
    return module


def path_of(location: str) -> str:
    """Return the path of a log, by its location."""
    return location.removeprefix("file://")


def list_logs(heading: str, entries: Sequence[tuple[str, str]]) -> None:
    """Print the locations of logs with what is to be said of each, where there are any."""
    if entries:
        Console().print(heading, style="yellow")
    say(*(f"  {path_of(where)}: {why}" for where, why in entries))


def refuse_with_published(**options: object) -> None:
    """Raise BadParameter for an option that was given though the published data leaves no
    choice.
    """
    for name, value in options.items():
        if value:
            raise BadParameter(
                "is not for --source published, which is taken whole",
                param_hint=f"--{name.replace('_', '-')}",
            )


def table(*columns: str, text: int = 1) -> Table:
    """Return a table of so many columns of text, and numbers behind them."""
    result = Table(*columns)
    for column in result.columns[text:]:
        column.justify = "right"
    return result


def left_out_lines(left_out: Mapping[str, str]) -> list[str]:
    """List what was left out, with the reasons; nothing where nothing was.

    >>> left_out_lines({"BachJS/one": "too old"})
    ['Left out, 1:', '  BachJS/one: too old']
    """
    lines = [f"  {name}: {shorten(why, _REASON)}" for name, why in left_out.items()]
    return [f"Left out, {len(lines)}:", *lines] if lines else []
