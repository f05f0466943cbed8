"""Tasks that a run is about to make: asked as a report states, and what their published tests
fetch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typer import BadParameter

from music_evals.benchmarks import TaskFacts, dataset_facts, format_bytes
from music_evals.benchmarks.lab_reports import load_lab_report
from music_evals.commands.output import say
from music_evals.datasets_builders.dataset_io import PUBLISHED

Chosen = tuple[TaskFacts, Mapping[str, Any]]
"""A task, and parameters of it that a group or a report sets."""


def as_reported(name: str | None, chosen: Sequence[Chosen]) -> list[Chosen]:
    """Give tasks the parameters that a report states; print what it does not state."""
    if name is None:
        return [*chosen]
    try:
        report = load_lab_report(name)
    except ValueError as error:
        raise BadParameter(str(error), param_hint="--like") from None
    heading = f"As {report.title} was asked ({report.source})"
    say(f"{heading}: {report.stated}" if report.stated else heading)
    say(*(f"  {report.line(task)}" for task in dict.fromkeys(task for task, _ in chosen)))
    return [(task, {**own, **report.parameters(task)}) for task, own in chosen]


def fetchable(chosen: Sequence[Chosen], arguments: Mapping[str, Any]) -> list[Chosen]:
    """Print what the published tests of several benchmarks fetch, before any is fetched; leave out
    the tasks whose recordings the user has to get.

    Without recordings (``stimulus``) no task is left out.
    """
    names = dict.fromkeys(task.benchmark for task, _ in chosen)
    sources = {name: dataset_facts(name).published[1] for name in names}
    by_hand = {name: source.by_hand for name, source in sources.items() if source.by_hand}
    is_of_one = len(names) == 1 or len(by_hand) == len(names)
    if arguments.get("dataset") != PUBLISHED or is_of_one:
        return [*chosen]
    if "stimulus" in arguments:
        by_hand = {}
    say("Published tests, fetched once:")
    sizes = {}
    for name in [name for name in names if name not in by_hand]:
        remotes = sources[name].remotes
        parts = dict.fromkeys(f"{remote.size}, {remote.terms}" for remote in remotes)
        say(f"  {sources[name].title}: {'; '.join(parts)}")
        sizes |= {remote.place + remote.address: remote.bytes or 0 for remote in remotes}
    unknown = [*sizes.values()].count(0)
    say(f"  in all {format_bytes(sum(sizes.values()))}, and {unknown} sources of unknown size")
    for name, reason in by_hand.items():
        own = [task.registry_name for task, _ in chosen if task.benchmark == name]
        say(f"Left out: {', '.join(own)}: {reason}; ask with -T dataset=FOLDER")
    return [(task, own) for task, own in chosen if task.benchmark not in by_hand]
