"""What reports of laboratories state of their runs: a file per report in ``reports/``."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from music_evals.benchmarks import TaskFacts

_FOLDER = files(__package__) / "reports"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a report states of its run of a benchmark.

    Args:
        not_stated: what is needed to repeat the run, and is not in the report.
        parameters: of the benchmark's tasks that follow from what is stated.
        stated: what else is stated, in words.
    """

    not_stated: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    stated: str = ""


@dataclass(frozen=True, slots=True)
class LabReport:
    """A report.

    Args:
        title: the model that it presents.
        source: where it was read.
        benchmarks: what it states of each benchmark, by name.
        stated: what it states of all.
    """

    title: str
    source: str
    benchmarks: Mapping[str, Statement]
    stated: str = ""

    def parameters(self, task: TaskFacts) -> Mapping[str, Any]:
        """Return the parameters of a task that follow from the report."""
        statement = self.benchmarks.get(task.benchmark)
        return statement.parameters if statement else {}

    def line(self, task: TaskFacts) -> str:
        """Say in a line how a task is asked, and what the report does not state of it."""
        statement = self.benchmarks.get(task.benchmark)
        if statement is None:
            return f"{task.registry_name}: not in the report"
        words = [f"{name}={value}" for name, value in statement.parameters.items()]
        if statement.stated:
            words.append(f"stated: {statement.stated}")
        words.append(f"not stated: {', '.join(statement.not_stated)}")
        return f"{task.registry_name}: {'; '.join(words)}"


@cache
def load_lab_report(name: str) -> LabReport:
    """Return a report by the name of its file; ValueError names those that there are.

    >>> load_lab_report("qwen3-omni").benchmarks["rul_muchomusic"].parameters
    {'prompt': 'paper'}
    """
    names = sorted(path.name.removesuffix(".toml") for path in _FOLDER.iterdir())
    if name not in names:
        raise ValueError(f"{name!r} is not a report; there are: {', '.join(names)}")
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    statements = {key: Statement(**entry) for key, entry in table["benchmarks"].items()}
    return LabReport(**{**table, "benchmarks": statements})
