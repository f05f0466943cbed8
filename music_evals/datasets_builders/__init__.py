"""Builders of datasets: from a source to typed rows to a dataset folder to the Hub.

A benchmark has a module or folder of its name; for questions that are asked as they are published,
that is the module of its tasks (see `questions.question_set`). The module of a dataset ``NAME`` has
``BENCHMARK``, which loads its folders. If it has a function ``build(out, *, source, seed,
overwrite)``, that is ``music-evals build NAME``.
"""

import tomllib
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any


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
