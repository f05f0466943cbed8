"""What the build commands show: a bar while they work, and what they left out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from textwrap import shorten
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_REASON: Final = 160  # characters of a reason; convert-ly's may hold whole tracebacks


def progress_bar(console: Console) -> Progress:
    """Return a bar that is gone when the work is done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)


@contextmanager
def counting_pieces(console: Console, what: str) -> Iterator[tuple[Callable[[], None], Callable[[int], None]]]:
    """Show a bar for a source whose number of pieces is known once it is read.

    Args:
        console: where it is shown.
        what: what is done to each piece then, such as ``compiling``.

    Yields:
        what to call after each piece, and what to call with their number before that.
    """
    with progress_bar(console) as progress:
        task = progress.add_task("reading", total=None)
        yield partial(progress.advance, task), lambda pieces: progress.update(task, description=what, total=pieces)


def left_out_lines(left_out: Mapping[str, str]) -> list[str]:
    """List what was left out, with the reasons; nothing where nothing was.

    Example:
        >>> left_out_lines({"BachJS/one": "too old"})
        ['Left out, 1:', '  BachJS/one: too old']
    """
    lines = [f"  {name}: {shorten(why, _REASON)}" for name, why in left_out.items()]
    return [f"Left out, {len(lines)}:", *lines] if lines else []
