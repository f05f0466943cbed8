"""A run in shards: planned by what its logs hold already, run by an engine, merged into one log per
task.

A run's folder holds ``run.json`` with the settings, ``shards/`` with the logs of shards while they
run, and at the end a log for each task.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile

import fsspec
from inspect_ai import Task
from inspect_ai.log import list_eval_logs, read_eval_log

from music_evals.notation.secrets import scrub
from music_evals.shards.merging import Part, check_together, choose, merge, read_parts
from music_evals.shards.running import Asked, Report, SampleId, Shard, key_of

Engine = Callable[[Sequence[Shard], Report], list[str]]
"""Runs shards, reports finished samples, and returns the errors of shards that failed."""

SHARDS = "shards"
RUN = "run.json"


class RunError(ValueError):
    """A folder holds another run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run asks."""

    model: str  # as Inspect names it
    model_args: Mapping[str, Any]
    limit: int | None  # only so many of each task's samples
    options: Mapping[str, Any]  # other arguments of Inspect's `eval`
    servers: Sequence[str] = ()  # addresses of servers of the model; shards take turns

    def identity(self) -> dict[str, Any]:
        """Return what must be the same when a run goes on."""
        return {
            "model": self.model,
            "model arguments": json.loads(scrub(json.dumps(dict(self.model_args)))),
            "limit": self.limit,
            "max_tokens": self.options.get("max_tokens"),
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    asked: Asked
    ids: Sequence[SampleId]  # of the samples to ask
    samples: int  # number in the data
    epochs: int

    def unfinished(self, parts: Sequence[Part]) -> list[SampleId]:
        return self.asked.unfinished(self.ids, self.epochs, parts)


def run_in_shards(
    tasks: Sequence[tuple[Asked, Task]],
    settings: Settings,
    folder: str,
    shards: int,
    engine: Engine,
    begin: Callable[[int], Report],
) -> list[str]:
    """Ask all samples of some tasks in shards, and merge their logs.

    Args:
        tasks: the tasks.
        settings: how to ask.
        folder: path or address of the run's logs; samples that its logs hold are not asked again.
        shards: number of shards at once.
        engine: runs the shards.
        begin: called with the number of all samples; returns the function that takes the number of
            finished ones.

    Returns:
        The errors of failed shards. Complete tasks have their logs all the same; the same call goes
        on with the others.

    Raises:
        RunError: the folder holds a run with other settings.
        MergeError: the logs of the shards are not of one run, as after an update of the package.
    """
    plans = []
    for asked, task in tasks:
        ids = [sample.id for sample in task.dataset if sample.id is not None]
        plans.append(_Plan(asked, ids[: settings.limit], len(ids), task.epochs or 1))
    place = _Place(folder)
    place.claim(settings)
    merged = place.merged()
    todo = [plan for plan in plans if plan.asked.key not in merged]
    damaged: list[str] = []  # logs of shards that were killed; their samples are asked again
    parts = read_parts(place.shards, damaged)
    left = [plan.unfinished(parts) for plan in todo]
    total = sum(len(plan.ids) * plan.epochs for plan in plans)
    report = begin(total)
    report(total - sum(len(ids) * plan.epochs for plan, ids in zip(todo, left, strict=True)))
    errors = engine(_shards(todo, left, settings, place, shards), report)
    parts = read_parts(place.shards, damaged)
    for plan in todo:
        logs = plan.asked.parts(parts)
        if not plan.unfinished(logs):
            check_together(logs, sizes=False)
            target, taken = f"{folder}/{logs[0].name}", choose(logs, first=True)
            merge(logs, taken, target, ids=plan.ids, samples=plan.samples, limit=settings.limit)
            place.remove(logs)
        elif not errors:
            errors.append(f"{plan.asked.key}: not all samples are in the logs below {place.shards}")
    return errors


def _shards(
    plans: Sequence[_Plan],
    left: Sequence[Sequence[SampleId]],
    settings: Settings,
    place: "_Place",
    count: int,
) -> list[Shard]:
    """Divide the samples that are left; a shard without any is left out."""
    servers: Sequence[str | None] = settings.servers or [None]
    shards = []
    for index in range(count):
        samples = []
        for plan, ids in zip(plans, left, strict=True):
            # A shard asks neighbouring samples, because servers cache what their prompts share.
            share = ids[index * len(ids) // count : (index + 1) * len(ids) // count]
            if share:
                samples.append((plan.asked, tuple(share)))
        if samples:
            shard = Shard(
                index + 1,
                f"{place.shards}/{uuid4()}",  # a shard never writes where another did
                settings.model,
                settings.model_args,
                servers[index % len(servers)],
                settings.options,
                tuple(samples),
            )
            shards.append(shard)
    return shards


class _Place:
    """The folder of a run, local or remote."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.shards = f"{folder}/{SHARDS}"
        self.files, self.path = fsspec.core.url_to_fs(folder)

    def claim(self, settings: Settings) -> None:
        path, identity = f"{self.path}/{RUN}", settings.identity()
        before = {}
        if self.files.exists(path):
            try:
                before = dict(json.loads(self.files.cat_file(path)))
            except (ValueError, TypeError) as error:
                # Without logs, the first start was stopped while it wrote the file.
                if self.files.exists(f"{self.path}/{SHARDS}"):
                    raise RunError(
                        f"{self.folder}/{RUN} cannot be read ({error}); remove it to go on"
                    ) from None
        if not before:
            self.files.makedirs(self.path, exist_ok=True)
            self.files.pipe_file(path, json.dumps(identity, indent=1).encode())
            return
        for name, value in identity.items():
            if before.get(name) != value:
                raise RunError(
                    f"{self.folder} holds a run with {name} {before.get(name)!r}, not {value!r}; "
                    "take another --log-dir, or remove that one"
                )

    def merged(self) -> set[str]:
        """The keys of tasks that have their merged log."""
        logs = list_eval_logs(self.folder, formats=["eval"], recursive=False)
        keys = set()
        for info in logs:
            with suppress(OSError, ValueError, KeyError, BadZipFile):  # no log, or one that was cut
                header = read_eval_log(info, header_only=True)
                if header.status == "success":
                    keys.add(key_of(header))
        return keys

    def remove(self, parts: Sequence[Part]) -> None:
        """Remove logs of shards, and the folder of shards if it holds no other logs."""
        for part in parts:
            files, path = fsspec.core.url_to_fs(part.location)
            files.rm_file(path)
        self.files.invalidate_cache()
        # An object store has no folder without files.
        exists = self.files.exists(f"{self.path}/{SHARDS}")
        if exists and not read_parts(self.shards, []):
            self.files.rm(f"{self.path}/{SHARDS}", recursive=True)
