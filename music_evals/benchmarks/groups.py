"""Groups of tasks that are run together, and shown in one table: ``groups.toml``."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from music_evals.benchmarks import TaskFacts, all_tasks


@dataclass(frozen=True, slots=True)
class Column:
    """A task of a group.

    Args:
        title: as reports print it.
        task: what is run.
        parameters: that differ from their defaults.
        metric: that is shown, ``SCORER/METRIC``; by default the task's main one.
        lower_is_better: whether a low value is a good one.
        published: column of the published table with its figures; by default the name of the task.
        table: the published table.
    """

    title: str
    task: TaskFacts
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metric: str = ""
    lower_is_better: bool = False
    published: str = ""
    table: str = "third_party"

    @property
    def figure(self) -> str:
        """The column of published tables with its figures."""
        return self.published or self.task.name


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks in the order of their columns."""

    name: str
    title: str
    columns: Sequence[Column]


@cache
def load_groups() -> Mapping[str, Group]:
    """Return all groups by name.

    >>> [column.title for column in load_groups()["quick"].columns]
    ['MUSE chords, LogicLM', 'ABC-Eval metadata']
    """
    tasks = {task.registry_name: task for task in all_tasks()}
    text = files(__package__).joinpath("groups.toml").read_text(encoding="utf-8")
    groups = {}
    for name, table in tomllib.loads(text).items():
        columns = [Column(**{**entry, "task": tasks[entry["task"]]}) for entry in table["columns"]]
        groups[name] = Group(name, table["title"], columns)
    return groups
