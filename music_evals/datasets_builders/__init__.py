"""Builders of datasets: from a source to typed rows to a dataset folder to the Hub.

A benchmark has a module or folder of its name; for questions that are asked as they are published,
that is the module of its tasks (see `questions.question_set`). The module of a dataset ``NAME`` has
``BENCHMARK``, which loads its folders. If it has a function ``build(out, *, source, seed,
overwrite)``, that is ``music-evals build NAME``.
"""

import tomllib
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def builder(dataset: str) -> ModuleType:
    """Return the module of a dataset: ``ziqi.dataset`` or ``musictheorybench``.

    >>> builder("ziqi").BENCHMARK.name
    'ziqi'
    """
    module = import_module(f"{__name__}.{dataset}")
    return import_module(f"{module.__name__}.dataset") if hasattr(module, "__path__") else module


@cache
def read_table(path: str) -> dict[str, Any]:
    """Read a TOML file of this folder, such as ``names/ziqi.toml``; do not change the result, which
    is cached.
    """
    table: dict[str, Any] = tomllib.loads(files(__name__).joinpath(path).read_text("utf-8"))
    return table


def group_by(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Group items with the same key; groups and their items stay in order.

    >>> group_by(["do", "re", "si", "mi"], lambda name: name[1])
    {'o': ['do'], 'e': ['re'], 'i': ['si', 'mi']}
    """
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
