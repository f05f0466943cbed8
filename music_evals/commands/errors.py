"""How every verb ends when it cannot do what was asked."""

import typer
from rich.console import Console


def failed(error: Exception) -> typer.Exit:
    """Print an error as one message, and return the exit with status 1 that is to be raised.

    >>> failed(ValueError("no such folder")).exit_code
    1
    """
    Console(stderr=True).print(f"Error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(1)
