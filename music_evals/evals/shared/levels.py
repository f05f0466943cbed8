"""Levels of difficulty: generated datasets of one task, from 1 (the default) to 5, or all in one
task.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from inspect_ai import Task, task_with
from inspect_ai.dataset import MemoryDataset

from music_evals.datasets_builders.dataset_io import GENERATED, DatasetSpec
from music_evals.evals.shared.declared_tasks import error_limit
from music_evals.evals.shared.parameters import condition

Level = Literal[1, 2, 3, 4, 5, "all"]
LEVELS = (1, 2, 3, 4, 5)
LADDER_LEVEL = "ladder_level"  # in the metadata of the samples of level=all


def at_level(benchmark: DatasetSpec, name: str, params: Any) -> DatasetSpec:
    """Return what loads a task's dataset at the level that its parameters name.

    Raises:
        ValueError: the task has no levels, or the data is not generated.
    """
    if params.level == 1:
        return benchmark
    if params.dataset != GENERATED:
        raise ValueError(
            f"level={params.level} is valid with dataset={GENERATED}; dataset is {params.dataset}"
        )
    if name not in benchmark.leveled:
        tasks = ", ".join(benchmark.leveled) or "none"
        raise ValueError(
            f"level={params.level} is not valid for {name}; tasks of {benchmark.name} with levels "
            f"are: {tasks}"
        )
    return replace(benchmark, level=params.level)


def is_of_all_levels(params: Any) -> bool:
    """Whether the parameters of a task ask for the samples of all levels."""
    return getattr(params, "level", 1) == "all"


def all_levels(make: Callable[[Any], Task], params: Any) -> Task:
    """Make a task with the samples of all levels.

    Args:
        make: makes the task of one level.
        params: the parameters, a dataclass with ``level="all"``.
    """
    if getattr(params, "chat", "separate") != "separate":
        raise ValueError(f"level=all is valid with chat=separate; chat is {params.chat}")
    tasks = {level: make(replace(params, level=level)) for level in LEVELS}
    samples = []
    floors = {}
    for level, task in tasks.items():
        for sample in task.dataset:
            sample.id = f"level{level}-{sample.id}"
            sample.metadata = {**(sample.metadata or {}), LADDER_LEVEL: level}
            samples.append(sample)
        floors[f"by_{LADDER_LEVEL}/{level}/accuracy"] = (task.metadata or {})["floors"][""]
    first = tasks[1]
    chance = floors[f"by_{LADDER_LEVEL}/1/accuracy"].get("chance")
    metadata = {
        **(first.metadata or {}),
        "condition": condition(params),
        "floors": {**floors, "": {"chance": chance} if chance else {}},
    }
    return task_with(
        first,
        dataset=MemoryDataset(samples, name=first.dataset.name),
        metadata=metadata,
        fail_on_error=error_limit(len(samples)),
    )
