"""One shard of a run: some samples of each task, asked in this process and logged in the shard's
own folder.

A shard that was killed reads its folder and asks the rest. Inspect writes a log to its file after
each twentieth of the samples; samples that were finished since then are asked again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model

from music_evals.benchmarks import load
from music_evals.shards.merging import Part, choose, read_parts, sample_name
from music_evals.solvers.abilities import made_for

SampleId = str | int
Report = Callable[[int], None]
"""Takes the number of samples that were just finished."""


class ShardError(RuntimeError):
    """A shard did not end in success."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A task with its arguments; it can be sent to another process."""

    benchmark: str
    task: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The text that all logs of this task with these arguments share."""
        return (
            f"{load(self.benchmark).tasks[self.task].registry_name} "
            f"{json.dumps(self.arguments, sort_keys=True)}"
        )

    def make(self) -> Task:
        """Make the task."""
        from music_evals.evals.registry import MODULES

        task: Task = getattr(MODULES[self.benchmark], self.task)(**self.arguments)
        return task

    def parts(self, parts: Sequence[Part]) -> list[Part]:
        """Return the logs that are of this task and arguments."""
        return [part for part in parts if key_of(part.header) == self.key]

    def unfinished(
        self, ids: Sequence[SampleId], epochs: int, parts: Sequence[Part]
    ) -> list[SampleId]:
        """Return the ids of samples that the logs lack in some epoch, in the given order."""
        done = choose(self.parts(parts), first=True)
        counts = range(1, epochs + 1)
        return [name for name in ids if any(sample_name(name, n) not in done for n in counts)]


def key_of(log: EvalLog) -> str:
    """Return the `Asked.key` of a log."""
    name = (log.eval.task_registry_name or log.eval.task).rpartition("/")[2]
    return f"{name} {json.dumps(log.eval.task_args_passed, sort_keys=True)}"


@dataclass(frozen=True, slots=True)
class Shard:
    """Some samples of each task, and how to ask them."""

    number: int
    folder: str  # path or address of its logs
    model: str  # as Inspect names it
    model_args: Mapping[str, Any]
    base_url: str | None  # of a server other than the provider's usual one
    options: Mapping[str, Any]  # other arguments of Inspect's `eval`
    samples: tuple[tuple[Asked, tuple[SampleId, ...]], ...]  # each task with the ids of its samples


def run_shard(shard: Shard, report: Report) -> None:
    """Ask the samples that the shard's logs do not hold yet; ShardError if Inspect reports an
    error.

    `report` is first called with the number of samples that were finished before.
    """
    parts = read_parts(shard.folder)
    model = get_model(shard.model, base_url=shard.base_url, **shard.model_args)
    tasks = []
    with made_for(model):
        for asked, ids in shard.samples:
            task = asked.make()
            epochs, data = task.epochs or 1, task.dataset
            left = set(asked.unfinished(ids, epochs, parts))
            samples = [sample for sample in data if sample.id in left]
            report((len(ids) - len(samples)) * epochs)
            if samples:
                task.dataset = MemoryDataset(
                    samples, data.name, data.location, shuffled=data.shuffled
                )
                tasks.append(task)
    if not tasks:
        return

    @hooks(name="shard", description="counts the samples of a shard")
    class Counting(Hooks):
        async def on_sample_end(self, data: SampleEnd) -> None:
            report(1)

    logs = inspect_eval(
        tasks,
        model=model,
        log_dir=shard.folder,
        log_format="eval",
        display="none",
        score_display=False,
        **{"log_realtime": False, **shard.options},
    )
    failed = [log for log in logs if log.status != "success"]
    if failed:
        reasons = (
            f"{log.eval.task}: {log.error.message if log.error else log.status}" for log in failed
        )
        raise ShardError("; ".join(reasons))
