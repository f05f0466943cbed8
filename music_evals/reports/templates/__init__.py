"""Templates of pages, and the notes below tables that are alike for all benchmarks."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def notes(table: str) -> tuple[str, ...]:
    """Return the notes of a table by its name in ``notes.toml``; none if it has none."""
    texts = tomllib.loads((files(__package__) / "notes.toml").read_text(encoding="utf-8"))
    return tuple(text.strip() for text in texts.get(table, ()))
