"""Builders of datasets: from a source to typed rows to a dataset folder to the Hub.

A benchmark has a module or folder of its name; for questions that are asked as they are published,
that is the module of its tasks (see `questions.question_set`). The module of a dataset ``NAME`` has
``BENCHMARK``, which loads its folders. If it has a function ``build(out, *, source, seed,
overwrite)``, that is ``music-evals build NAME``.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from music_evals.notation.grouping import group_by as group_by
from music_evals.notation.toml_files import read_toml

AnyRow = Mapping[str, Any]
"""A row of any dataset: column → value."""


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
    return read_toml(__name__, path)
