"""Tasks that a run is about to make: asked as a laboratory's report states, and what their
published tests fetch.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from typer import BadParameter

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.commands.listing import say_source
from music_evals.commands.output import say
from music_evals.datasets_builders.dataset_io import PUBLISHED
from music_evals.notation.toml_files import read_toml

Chosen = tuple[TaskFacts, Mapping[str, Any]]
"""A task, and parameters of it that a group or a report sets."""
_NOWHERE = {"stated": "not in the report", "not_stated": "anything"}


def as_reported(name: str | None, chosen: list[Chosen]) -> list[Chosen]:
    """Give tasks the parameters that follow from a report, by its name in ``benchmarks/reports``;
    print what it states of each, and what it does not state.
    """
    if name is None:
        return chosen
    folder = files(benchmarks) / "reports"
    names = sorted(path.name.removesuffix(".toml") for path in folder.iterdir())
    if name not in names:
        raise BadParameter(f"{name!r} is none of {', '.join(names)}", param_hint="--like")
    report = read_toml("music_evals.benchmarks", f"reports/{name}.toml")
    say("{title} ({source}): {stated}".format_map(report))
    asked: list[Chosen] = []
    for task, own in chosen:
        about = report["benchmarks"].get(task.benchmark, _NOWHERE)
        say("  {}: {stated}; not stated: {not_stated}".format(task.registry_name, **about))
        asked.append((task, {**own, **about.get("parameters", {})}))
    return asked


def fetchable(chosen: list[Chosen], arguments: Mapping[str, Any]) -> list[Chosen]:
    """Print what the published tests of several benchmarks fetch, before any is fetched; leave out
    the tasks whose recordings the user has to get.
    """
    names = dict.fromkeys(task.benchmark for task, _ in chosen)
    if arguments != {**arguments, "dataset": PUBLISHED} or len(names) == 1:
        return chosen
    fetched = [name for name in names if say_source(name)]
    if not fetched or "stimulus" in arguments:
        return chosen
    return [asked for asked in chosen if asked[0].benchmark in fetched]
