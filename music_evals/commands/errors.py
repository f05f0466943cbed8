"""How every verb ends when it cannot do what was asked."""

import typer
from rich.console import Console


def failed(error: Exception) -> typer.Exit:
    """Print an error as one message, and return what is to be raised.

    Args:
        error: what went wrong; its text names the thing and what is accepted.

    Returns:
        The exit with status 1.

    Example:
        >>> failed(ValueError("no such folder")).exit_code
        1
    """
    Console(stderr=True).print(f"Error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(1)
