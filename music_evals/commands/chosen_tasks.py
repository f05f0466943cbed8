"""Tasks that a run is about to make: asked as a laboratory's report states, and what their
published tests fetch.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from typer import BadParameter

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.commands.listing import say_source
from music_evals.commands.output import say
from music_evals.datasets_builders.dataset_io import PUBLISHED

Chosen = tuple[TaskFacts, Mapping[str, Any]]
"""A task, and parameters of it that a group or a report sets."""
_NOWHERE = {"not_stated": "anything, because the benchmark is not in the report"}


def as_reported(name: str | None, chosen: list[Chosen]) -> list[Chosen]:
    """Give tasks the parameters that follow from a report, by its name in ``benchmarks/reports``;
    print what it states of each, and what it does not state.
    """
    if name is None:
        return chosen
    folder = files(benchmarks) / "reports"
    texts = {path.name.removesuffix(".toml"): path.read_text("utf-8") for path in folder.iterdir()}
    if name not in texts:
        names = ", ".join(sorted(texts))
        raise BadParameter(f"{name!r} is not a report; there are: {names}", param_hint="--like")
    report = tomllib.loads(texts[name])
    say(f"{report['title']} ({report['source']}): {report['stated']}")
    asked = []
    for task, own in chosen:
        about = report["benchmarks"].get(task.benchmark, _NOWHERE)
        stated = f"{about['stated']}; " if "stated" in about else ""
        say(f"  {task.registry_name}: {stated}not stated: {about['not_stated']}")
        asked.append((task, {**own, **about.get("parameters", {})}))
    return asked


def fetchable(chosen: list[Chosen], arguments: Mapping[str, Any]) -> list[Chosen]:
    """Print what the published tests of several benchmarks fetch, before any is fetched; leave out
    the tasks whose recordings the user has to get.
    """
    names = dict.fromkeys(task.benchmark for task, _ in chosen)
    is_published = arguments.get("dataset") == PUBLISHED and "stimulus" not in arguments
    if not is_published or len(names) == 1:
        return chosen
    for name in names:
        say_source(name)
    remaining = [
        (task, own)
        for task, own in chosen
        if not benchmarks.dataset_facts(task.benchmark).published[1].by_hand
    ]
    return remaining or chosen
