"""Everything that Inspect finds by name (``music_evals/...``, ``baseline/...``) from any folder.

Importing this module registers it. Every ``inspect`` command imports it, so it loads no heavy library. The tasks of
a benchmark are in the module of its name; importing that module registers its tasks, scorers, metrics and solvers.
"""

from importlib import import_module
from types import ModuleType
from typing import Final

from inspect_ai.model import ModelAPI, modelapi

from music_evals import benchmarks

MODULES: Final[dict[str, ModuleType]] = {
    name: import_module(f"music_evals.evals.{name}") for name in benchmarks.names()
}
"""Benchmark → the module of its tasks."""


@modelapi(name="baseline")
def baseline() -> type[ModelAPI]:
    """Provide the baseline models; they are loaded when one is asked for."""
    from music_evals.baselines.provider import BaselineAPI

    return BaselineAPI
