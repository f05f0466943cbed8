"""Everything that Inspect finds by name (``music_evals/...``, ``baseline/...``, ``human/...``) from
any folder.

Every ``inspect`` command imports this module, so it loads no heavy library. The tasks of a
benchmark are in the module of its name; importing that module registers its tasks, scorers, metrics
and solvers. A benchmark on a dataset of mirdata has no module: its facts are enough.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from inspect_ai import TaskSource, task_source
from inspect_ai.model import ModelAPI, modelapi

from music_evals import benchmarks
from music_evals.datasets_builders import builder
from music_evals.evals.shared.garbage_collection import collection_paused
from music_evals.evals.shared.registration import parameters_of


def _module(name: str) -> ModuleType:
    from music_evals.evals.shared.mirdata_tasks import mirdata_module

    if "mirdata" in benchmarks.load(name).table:
        return mirdata_module(name)
    return import_module(f"music_evals.evals.{name}")


with collection_paused():
    MODULES: dict[str, ModuleType] = {name: _module(name) for name in benchmarks.names()}
"""Benchmark → the module of its tasks."""


def dataset_module(dataset: str) -> ModuleType:
    """Return the module with a dataset's ``BENCHMARK``: of the builders, or that of the tasks on a
    question set.
    """
    is_built = find_spec(f"music_evals.datasets_builders.{dataset}") is not None
    return MODULES[dataset] if dataset in MODULES and not is_built else builder(dataset)


def defaults_of(benchmark: str, task: str) -> dict[str, Any]:
    """Return the defaults of a task's parameters, which logs of runs by Inspect alone do not
    hold.
    """
    return parameters_of(getattr(MODULES[benchmark], task))


def _register_all_tasks(benchmark: str) -> None:
    """Let ``inspect eval music_evals/muse`` run all tasks of a benchmark, also without a clone."""

    def all_tasks(**params: Any) -> TaskSource:
        tasks = benchmarks.load(benchmark).tasks
        return TaskSource.from_tasks(
            [getattr(MODULES[benchmark], task)(**params) for task in tasks]
        )

    task_source(name=benchmark)(all_tasks)


for _name in MODULES:
    _register_all_tasks(_name)


@modelapi(name="baseline")
def baseline() -> type[ModelAPI]:
    """Provide the baseline models; they are loaded when one is asked for."""
    from music_evals.baselines.provider import BaselineAPI

    return BaselineAPI


@modelapi(name="human")
def human() -> type[ModelAPI]:
    """Provide the answers of people, which `music-evals listen` takes."""
    from music_evals.baselines.human import HumanAPI

    return HumanAPI
