"""Checking of task parameters, ahead of any work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

from inspect_ai._util.error import PrerequisiteError


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn a ValueError into an error that Inspect shows as one message, without a traceback."""
    try:
        yield
    except ValueError as error:
        # Inspect reads the message as markup, in which brackets would vanish.
        raise PrerequisiteError(str(error).replace("[", r"\[")) from error


def check_choice(name: str, value: object, accepted: Any) -> None:
    """Check a parameter against a ``Literal``.

    Args:
        name: the parameter's name.
        value: what the user gave.
        accepted: the ``Literal`` type that lists what is valid.

    Raises:
        ValueError: naming parameter, value and the valid values.

    Example:
        >>> from typing import Literal
        >>> check_choice("shots", "many", Literal["zero", "few"])
        Traceback (most recent call last):
        ValueError: shots='many' is not valid; valid values are: zero, few
    """
    if value not in get_args(accepted):
        raise ValueError(f"{name}={value!r} is not valid; valid values are: {', '.join(get_args(accepted))}")


def check_type(name: str, value: object, accepted: type) -> None:
    """Check a parameter's type, telling true from 1.

    Raises:
        ValueError: naming parameter, value and the type.

    Example:
        >>> check_type("seed", "one", int)
        Traceback (most recent call last):
        ValueError: seed='one' is not valid; a value of type int is needed
    """
    if type(value) is not accepted:
        raise ValueError(f"{name}={value!r} is not valid; a value of type {accepted.__name__} is needed")
