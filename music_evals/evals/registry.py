"""What Inspect finds by name (``music_evals/...``, ``baseline/...``) from any folder: importing registers it.

Each benchmark's tasks stand in the module of `music_evals.evals` that has the benchmark's name; importing it registers
them, and the scorers, metrics and solvers that they use.
"""

from importlib import import_module
from types import ModuleType
from typing import Final

from music_evals import benchmarks
from music_evals.baselines.provider import BaselineAPI

MODULES: Final[dict[str, ModuleType]] = {
    name: import_module(f"music_evals.evals.{name}") for name in benchmarks.names()
}
"""Benchmark → the module of its tasks."""

__all__ = ["MODULES", "BaselineAPI"]
