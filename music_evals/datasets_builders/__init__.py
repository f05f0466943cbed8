"""Source to typed rows to a dataset folder to the Hub: a module or folder a benchmark, of the same name.

The module of a dataset ``NAME`` holds ``BENCHMARK``, by which its folders are loaded. Where it holds a function
``build(out, *, source, seed, overwrite)`` too, ``music-evals build NAME`` is that function.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from importlib.resources import files
from multiprocessing import get_context
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def builder(dataset: str) -> ModuleType:
    """Return the module of a dataset: ``ziqi.dataset``, ``musictheorybench``, or ``lilybench.generation.dataset``.

    >>> builder("lilybench-generation").BENCHMARK.name
    'lilybench-generation'
    """
    module = import_module(f"{__name__}.{dataset.replace('-', '.')}")
    return import_module(f"{module.__name__}.dataset") if hasattr(module, "__path__") else module


@cache
def read_table(path: str) -> dict[str, Any]:
    """Read a TOML file of this folder, such as ``names/ziqi.toml``; nobody may change what comes back."""
    found: dict[str, Any] = tomllib.loads(files(__name__).joinpath(path).read_text("utf-8"))
    return found


def in_processes(function: Callable[..., T], *columns: Sequence[Any], few: int, chunksize: int = 1) -> Iterator[T]:
    """Call a function as `map` does, by a process a core where there are more rows than `few`.

    The processes are spawned, because forks of one with threads (Inspect's) can hang; each takes seconds to start.

    >>> [list(in_processes(abs, [-1, 2, -3], few=few)) for few in (2, 5)]
    [[1, 2, 3], [1, 2, 3]]
    """
    if len(columns[0]) <= few:
        yield from map(function, *columns)
        return
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield from pool.map(function, *columns, chunksize=chunksize)
