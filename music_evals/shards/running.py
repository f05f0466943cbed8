"""One shard of a run: some samples of each of its tasks, asked in this process and logged in a folder of their own.

What is asked once is not asked again: a shard that was killed reads its folder and goes on with the rest. Inspect
writes a log to its file after each twentieth of the samples; what was finished since then is asked again.
"""

import gc
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model

from music_evals.benchmarks import TaskFacts, load
from music_evals.shards.merging import Part, choose, read_parts
from music_evals.solvers.abilities import made_for

Report = Callable[[int], None]
"""Is told of samples that are finished, and how many."""

OBJECTS: Final = (
    100_000  # new objects before Python looks for cycles: Inspect makes thousands a sample, hardly any cyclic
)


class ShardError(RuntimeError):
    """A shard did not end in success."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A task with its arguments, as they can be sent to another process."""

    benchmark: str
    task: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, facts: TaskFacts, arguments: Mapping[str, Any]) -> "Asked":
        """Of a declared task."""
        return cls(facts.benchmark, facts.name, dict(arguments))

    @property
    def key(self) -> str:
        """What logs of it have in common."""
        return f"{load(self.benchmark).tasks[self.task].registry_name} {json.dumps(self.arguments, sort_keys=True)}"

    def make(self) -> Task:
        """Make the task."""
        from music_evals.evals.registry import MODULES

        task: Task = getattr(MODULES[self.benchmark], self.task)(**self.arguments)
        return task


def key_of(log: EvalLog) -> str:
    """Return the `Asked.key` of what a log is of."""
    name = (log.eval.task_registry_name or log.eval.task).rpartition("/")[2]
    return f"{name} {json.dumps(log.eval.task_args_passed, sort_keys=True)}"


@dataclass(frozen=True, slots=True)
class Shard:
    """Some samples of each task, and how to ask them.

    Args:
        number: of the shard.
        folder: path or address of its logs.
        model: as Inspect names it.
        model_args: of its provider.
        base_url: of the server to ask, where it is not the provider's usual one.
        options: what else Inspect's `eval` takes.
        samples: each task, with the ids of its samples.
    """

    number: int
    folder: str
    model: str
    model_args: Mapping[str, Any]
    base_url: str | None
    options: Mapping[str, Any]
    samples: tuple[tuple[Asked, tuple[str | int, ...]], ...]


def run_shard(shard: Shard, report: Report) -> None:
    """Ask what its logs do not hold yet.

    Args:
        shard: the shard.
        report: is called when samples are finished, with their number; first with that of those finished before.

    Raises:
        ShardError: with what Inspect says of it.
    """
    parts = read_parts(shard.folder)
    model = get_model(shard.model, base_url=shard.base_url, **shard.model_args)
    tasks = []
    with made_for(model):
        for asked, ids in shard.samples:
            done = choose([part for part in parts if key_of(part.header) == asked.key], first=True)
            task = asked.make()
            left = _select(task, ids, done)
            report(len(ids) * (task.epochs or 1) - len(left) * (task.epochs or 1))
            if left:
                task.dataset = left
                tasks.append(task)
    if not tasks:
        return
    _follow(report)
    gc.freeze()
    gc.set_threshold(OBJECTS, 20, 100)
    logs = inspect_eval(
        tasks,
        model=model,
        log_dir=shard.folder,
        log_format="eval",
        display="none",
        score_display=False,
        **{"log_realtime": False, **shard.options},
    )
    if failed := [
        f"{log.eval.task}: {log.error.message if log.error else log.status}" for log in logs if log.status != "success"
    ]:
        raise ShardError("; ".join(failed))


def _select(task: Task, ids: Iterable[str | int], done: Mapping[str, Part]) -> MemoryDataset:
    epochs = range(1, (task.epochs or 1) + 1)
    wanted = {each for each in ids if any(f"{each}_epoch_{epoch}" not in done for epoch in epochs)}
    data = task.dataset
    return MemoryDataset(
        [sample for sample in data if sample.id in wanted], data.name, data.location, shuffled=data.shuffled
    )


def _follow(report: Report) -> None:
    @hooks(name="shard", description="counts the samples of a shard")
    class Counting(Hooks):
        async def on_sample_end(self, data: SampleEnd) -> None:
            report(1)
