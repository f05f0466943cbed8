"""The wording of the prompts: ``prompts.toml`` of a benchmark, any part of which another wording of
the benchmark, or a user's own file, can replace.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from music_evals.benchmarks import facts_text

Prompts = Mapping[str, Any]
"""Nested tables of prompt texts, as they stand in the TOML file."""
WORDINGS = ("second", "third")
"""Other wordings that come with each benchmark, as tables of its ``wordings.toml``."""


def load_prompts(benchmark: str, override: str | None = None, table: str = "") -> Prompts:
    """Load a benchmark's prompts; one of `WORDINGS`, or a TOML file with the same tables, replaces
    what it has of them.

    Args:
        benchmark: whose prompts they are.
        override: the wording, or the path of the file.
        table: the table that is asked with, if the others are not.

    Raises:
        ValueError: if the file cannot be read, has a key that the benchmark does not know, or a
            text uses a placeholder that its default does not use; or if the wording has nothing of
            the table, because that is worded by others.

    >>> load_prompts("muse")["chord_quality"]["final"].splitlines()[-1]
    'Final Answer: X'
    """
    defaults = _defaults(benchmark, "prompts.toml")
    if override is None:
        return _stripped(defaults)
    if override in WORDINGS:
        own = _defaults(benchmark, "wordings.toml")[override]
        if table in defaults and table not in own:
            raise ValueError(
                f"prompts={override} is not valid with the prompts '{table}', whose form is others'"
            )
        return _stripped(_merged(defaults, own, where=f"the {override} wording of {benchmark}"))
    path = Path(override).expanduser()
    try:
        own = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"prompts={override} is none of {', '.join(WORDINGS)}, and cannot be read as a TOML "
            f"file ({error})"
        ) from error
    return _stripped(_merged(defaults, own, where=f"prompts={override}"))


def load_answer_wording() -> Prompts:
    """Load what all benchmarks ask with ``-T answer=schema``, and of a model that reads replies.

    >>> load_answer_wording()["schema"]["en"]["values"]["number"]
    'a whole number'
    """
    return _stripped(
        tomllib.loads((files(__package__) / "answers.toml").read_text(encoding="utf-8"))
    )


def _defaults(benchmark: str, file: str) -> Mapping[str, Any]:
    """The benchmark's file; where it `extends` another benchmark's, in the place of what that
    has.
    """
    own = tomllib.loads(facts_text(benchmark, file))
    base = own.pop("extends", None)
    if base is None:
        return own
    return _merged(_defaults(base, file), own, where=f"{file} of {benchmark}")


def _stripped(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _stripped(value) if isinstance(value, dict) else value.strip()
        for key, value in table.items()
    }


def _merged(defaults: Mapping[str, Any], own: Mapping[str, Any], where: str) -> dict[str, Any]:
    merged = dict(defaults)
    for key in sorted(set(own) - set(defaults)):
        accepted = ", ".join(map(repr, defaults))
        raise ValueError(f"{where}: unknown key {key!r}; known are {accepted}")
    for key, value in own.items():
        default, inside = defaults[key], f"{where}{'.' if ': ' in where else ': '}{key}"
        if type(value) is not type(default):
            kind = "table" if isinstance(default, dict) else "text"
            raise ValueError(f"{inside} is {type(value).__name__}; a {kind} is needed")
        if isinstance(default, dict):
            merged[key] = _merged(default, value, inside)
        else:
            _check_placeholders(value, default, inside)
            merged[key] = value
    return merged


def _check_placeholders(text: str, default: str, where: str) -> None:
    template, placeholders = Template(text), Template(default).get_identifiers()
    if not template.is_valid():
        raise ValueError(
            f"{where} holds a '$' that begins no placeholder; write '$$' for a dollar sign"
        )
    unknown = sorted(set(template.get_identifiers()) - set(placeholders))
    if unknown:
        accepted = ", ".join(f"${name}" for name in placeholders) or "none"
        raise ValueError(
            f"{where} uses ${unknown[0]}; the placeholders of this text are: {accepted}"
        )
