"""A run in shards: planned by what its logs hold already, run by an engine, put together into one log a task.

A run's folder holds ``run.json``, which says what was asked for, ``shards/``, with the logs of shards while they run,
and at the end a log for each task.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import fsspec
from inspect_ai import Task
from inspect_ai.log import list_eval_logs, read_eval_log

from music_evals.shards.merging import Part, check_together, choose, merge, read_parts
from music_evals.shards.running import Asked, Report, Shard, key_of

Engine = Callable[[Sequence[Shard], Report], list[str]]
"""Runs shards, reports samples as they are finished, and returns what is to be said of shards that failed."""

SHARDS: Final = "shards"
RUN: Final = "run.json"


class RunError(ValueError):
    """A folder holds another run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run asks.

    Args:
        model: as Inspect names it.
        model_args: of its provider.
        limit: only so many of each task's samples.
        options: what else Inspect's `eval` takes.
        servers: addresses of servers that serve the model; shards are spread over them.
    """

    model: str
    model_args: Mapping[str, Any]
    limit: int | None
    options: Mapping[str, Any]
    servers: Sequence[str] = ()

    def identity(self) -> dict[str, Any]:
        """What must be the same when a run goes on."""
        return {
            "model": self.model,
            "model arguments": dict(self.model_args),
            "limit": self.limit,
            "max_tokens": self.options.get("max_tokens"),
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    asked: Asked
    ids: Sequence[str | int]  # of the samples that are to be asked
    samples: int  # of the data
    epochs: int


def run_in_shards(
    tasks: Sequence[tuple[Asked, Task]],
    settings: Settings,
    folder: str,
    shards: int,
    engine: Engine,
    begin: Callable[[int], Report],
) -> list[str]:
    """Ask all samples of some tasks in shards, and put their logs together.

    Args:
        tasks: the tasks.
        settings: how to ask.
        folder: path or address of the run's logs; what it holds of this run is not asked again.
        shards: how many at once.
        engine: runs them.
        begin: is called with the number of samples in all, and returns what is told of finished ones.

    Returns:
        What is to be said of shards that did not end in success. The logs of tasks that are whole are there all the
        same; the same call goes on with the others.

    Raises:
        RunError: the folder holds a run with other settings.
        MergeError: the logs of its shards do not belong together, as after an update of the package.
    """
    plans = [_plan(asked, task, settings.limit) for asked, task in tasks]
    place = _Place(folder)
    place.claim(settings)
    there = place.merged()
    todo = [plan for plan in plans if plan.asked.key not in there]
    parts = read_parts(place.shards)
    report = begin(sum(len(plan.ids) * plan.epochs for plan in plans))
    report(sum(len(plan.ids) * plan.epochs for plan in plans if plan.asked.key in there))
    left = [(plan, _left(plan, parts)) for plan in todo]
    report(sum((len(plan.ids) - len(ids)) * plan.epochs for plan, ids in left))
    numbered = place.next_number()
    jobs = [
        Shard(
            numbered + index,
            f"{place.shards}/{numbered + index}",
            settings.model,
            settings.model_args,
            settings.servers[index % len(settings.servers)] if settings.servers else None,
            settings.options,
            tuple((plan.asked, share) for plan, ids in left if (share := _share(ids, index, shards))),
        )
        for index in range(shards)
    ]
    errors = engine([job for job in jobs if job.samples], report)
    parts = read_parts(place.shards)
    for plan in todo:
        mine = [part for part in parts if key_of(part.header) == plan.asked.key]
        if not _left(plan, mine):
            check_together(mine, sizes=False)
            merge(
                mine,
                choose(mine, first=True),
                f"{folder}/{mine[0].name}",
                ids=plan.ids,
                samples=plan.samples,
                limit=settings.limit,
            )
            place.remove(mine)
        elif not errors:
            errors.append(f"{plan.asked.key}: not all samples are in the logs below {place.shards}")
    return errors


def _plan(asked: Asked, task: Task, limit: int | None) -> _Plan:
    ids = [sample.id for sample in task.dataset if sample.id is not None]
    return _Plan(asked, ids[:limit], len(ids), task.epochs or 1)


def _left(plan: _Plan, parts: Sequence[Part]) -> list[str | int]:
    """The ids of the samples that are not all there, in the order of the data."""
    done = choose([part for part in parts if key_of(part.header) == plan.asked.key], first=True)
    epochs = range(1, plan.epochs + 1)
    return [each for each in plan.ids if any(f"{each}_epoch_{epoch}" not in done for epoch in epochs)]


def _share(ids: Sequence[str | int], index: int, shards: int) -> tuple[str | int, ...]:
    """A run of neighbours, which share what servers cache of their prompts."""
    return tuple(ids[index * len(ids) // shards : (index + 1) * len(ids) // shards])


class _Place:
    """The folder of a run, here or elsewhere."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.shards = f"{folder}/{SHARDS}"
        self.files, self.path = fsspec.core.url_to_fs(folder)

    def claim(self, settings: Settings) -> None:
        path, asked = f"{self.path}/{RUN}", settings.identity()
        if self.files.exists(path):
            before = json.loads(self.files.cat_file(path))
            for name, value in asked.items():
                if before.get(name) != value:
                    raise RunError(
                        f"{self.folder} holds a run with {name} {before.get(name)!r}, not {value!r}; "
                        "take another --log-dir, or remove that one"
                    )
        else:
            self.files.makedirs(self.path, exist_ok=True)
            self.files.pipe_file(path, json.dumps(asked, indent=1).encode())

    def merged(self) -> set[str]:
        """The keys of tasks whose logs are whole."""
        logs = list_eval_logs(self.folder, formats=["eval"], recursive=False) if self.files.exists(self.path) else []
        headers = [read_eval_log(info, header_only=True) for info in logs]
        return {key_of(header) for header in headers if header.status == "success"}

    def next_number(self) -> int:
        """After those of the shards that are there; a shard never writes where another did."""
        path = f"{self.path}/{SHARDS}"
        names = (
            [PurePosixPath(name).name for name in self.files.ls(path, detail=False)] if self.files.exists(path) else []
        )
        return max((int(name) for name in names if name.isdigit()), default=0) + 1

    def remove(self, parts: Sequence[Part]) -> None:
        """Remove logs of shards, and their folders if nothing else is in them."""
        for part in parts:
            files, path = fsspec.core.url_to_fs(part.location)
            files.rm_file(path)
        self.files.invalidate_cache()
        left = self.files.exists(f"{self.path}/{SHARDS}")  # an object store has no folder without files
        if left and not list_eval_logs(self.shards, recursive=True):
            self.files.rm(f"{self.path}/{SHARDS}", recursive=True)
