"""The parameters of tasks, checked against their types; see `evals.shared.registration`."""

import dataclasses
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click
from pydantic import ConfigDict, TypeAdapter, ValidationError

P = TypeVar("P")
_NO_CONDITION = ("dataset", "media", "allow_partial")
"""Parameters that change no answer, or that a log records otherwise."""


class ParameterError(click.ClickException, ValueError):
    """A task cannot be run as asked; Inspect's command line shows the message alone."""


def check_parameters(parameters: Callable[..., P], arguments: Mapping[str, Any]) -> P:
    """Make a dataclass of parameters from the arguments of a user.

    Raises:
        ValueError: naming the parameter, its value and what is accepted.

    Example:
        >>> @dataclasses.dataclass
        ... class Params:
        ...     shots: Literal["zero", "few"] = "zero"
        ...     seed: int = 0
        >>> check_parameters(Params, {"seed": 7})
        Params(shots='zero', seed=7)
        >>> check_parameters(Params, {"shots": "many"})
        Traceback (most recent call last):
        ValueError: shots='many' is not valid; valid values are: zero, few
    """
    hints = get_type_hints(parameters)
    for name, value in arguments.items():
        if name not in hints:
            raise ValueError(f"there is no parameter {name}; there are: {', '.join(hints)}")
        if not _fits(value, hints[name]):
            raise ValueError(f"{name}={value!r} is not valid; {_accepted(hints[name])}")
    return parameters(**arguments)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type, telling true from 1."""
    try:
        result = TypeAdapter(hint, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError:
        return False
    return type(result) is type(value)  # for Literal[1], pydantic makes 1 of true


def _accepted(hint: Any) -> str:
    """What a parameter with a type hint accepts, in words."""
    choices: list[str] = []
    types = []
    for arm in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(arm) is Literal:
            choices += map(str, get_args(arm))
        elif arm is not NoneType:
            types.append(arm.__name__ if isinstance(arm, type) else str(arm))
    if not choices:
        return f"a value of type {' or '.join(types)} is needed"
    valid = f"valid values are: {', '.join(choices)}"
    return f"{valid} and whole numbers" if "int" in types else valid


def check_positive(**values: int | None) -> None:
    """Check that numbers, where there are any, are above 0; a ValueError names the parameter and
    its value.
    """
    for name, value in values.items():
        if value is not None and value < 1:
            raise ValueError(f"{name}={value} is not valid; a number above 0 is needed")


def check_lilypond(what_for: str) -> None:
    """Check that LilyPond is installed and can be confined; the ValueError begins with what needs
    it.
    """
    from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
    from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement

    try:
        available_confinement()
        lilypond_version()
    except (SandboxError, LilyPondError) as error:
        raise ValueError(f"{what_for}: {error}") from error


def condition(params: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, in order, without those of data and
    media.

    Example:
        >>> @dataclasses.dataclass
        ... class Params:
        ...     dataset: str = "generated"
        ...     shots: str = "zero"
        ...     seed: int = 0
        >>> condition(Params(dataset="data/muse", shots="few"))
        {'shots': 'few'}
    """
    return {
        field.name: getattr(params, field.name)
        for field in dataclasses.fields(params)
        if field.name not in _NO_CONDITION and getattr(params, field.name) != field.default
    }
