"""What is seen of a build: bars on a terminal, and elsewhere a line at its start and one at its end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

OnPiece = Callable[[str, int], None]
"""Told what was done to a piece, such as "compiling", and the number of pieces, after each."""


def progress_bar(console: Console) -> Progress:
    """Return a bar that is gone when the work is done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)


@contextmanager
def counting_pieces(console: Console) -> Iterator[OnPiece]:
    """Show a bar for each thing that is done to pieces, and yield what to call."""
    with progress_bar(console) as progress:
        tasks = {"": progress.add_task("looking for pieces", total=None)}

        def advance(what: str, pieces: int) -> None:
            progress.update(tasks[""], visible=False)
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=pieces)
            progress.update(tasks[what], advance=1)

        yield advance


@contextmanager
def announced(what: str) -> Iterator[OnPiece]:
    """Tell on standard error that something is made and how long it took, and yield as `counting_pieces` does."""
    console = Console(stderr=True)
    console.print(f"making {what}, once", markup=False, highlight=False, soft_wrap=True)
    started = time.monotonic()
    with counting_pieces(console) if console.is_terminal else nullcontext(lambda *_: None) as advance:
        yield advance
    seconds = time.monotonic() - started
    console.print(f"made {what} in {seconds:.0f} s", markup=False, highlight=False, soft_wrap=True)
