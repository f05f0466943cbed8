"""Progress of a build: bars on a terminal; elsewhere one line at the start and one at the end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

OnPiece = Callable[[str, int], None]
"""Called after every piece with the work on it, such as "compiling", and the number of pieces."""


def progress_bar(console: Console) -> Progress:
    """Return a bar that disappears when the work is done."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )


def download_bar(console: Console) -> Progress:
    """Return a bar of bytes that disappears when they are there."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def counting_pieces(console: Console) -> Iterator[OnPiece]:
    """Show a bar for every kind of work on pieces; call the value of the context after every
    piece.
    """
    with progress_bar(console) as progress:
        tasks = {"": progress.add_task("looking for pieces", total=None)}

        def advance(work: str, pieces: int) -> None:
            progress.update(tasks[""], visible=False)
            if work not in tasks:
                tasks[work] = progress.add_task(work, total=pieces)
            progress.update(tasks[work], advance=1)

        yield advance


@contextmanager
def announced(name: str) -> Iterator[OnPiece]:
    """Print to standard error that something is generated and how long it took; like
    `counting_pieces` otherwise.
    """
    console = Console(stderr=True)
    console.print(f"making {name}, once", markup=False, highlight=False, soft_wrap=True)
    started = time.monotonic()
    with (
        counting_pieces(console) if console.is_terminal else nullcontext(lambda *_: None)
    ) as advance:
        yield advance
    seconds = time.monotonic() - started
    console.print(f"made {name} in {seconds:.0f} s", markup=False, highlight=False, soft_wrap=True)
