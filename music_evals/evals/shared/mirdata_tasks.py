"""The tasks of benchmarks that have facts and no module: listening tests on datasets of mirdata."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from inspect_ai import Task

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetSpec
from music_evals.datasets_builders.questions.mirdata.dataset import VERSION, mirdata_set
from music_evals.datasets_builders.questions.mirdata.facts import read_facts
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import registered


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackParameters(QuestionSetParameters):
    """Parameters of a task on a dataset of mirdata.

    Args:
        all_tracks: ask about all tracks, and not only about as many as the benchmark draws.
    """

    all_tracks: bool = False


def mirdata_module(benchmark: str) -> ModuleType:
    """Make the module of a benchmark whose facts have a table ``mirdata``.

    It has the benchmark's tasks, registered with Inspect, and its dataset as ``BENCHMARK``.
    """
    about = benchmarks.load(benchmark)
    module = ModuleType(f"music_evals.evals.{benchmark}", about.title)
    heard = read_facts(about.table["mirdata"])
    drawn = mirdata_set(benchmark, heard)
    whole = mirdata_set(benchmark, replace(heard, most=None), f"{VERSION}+all")
    module.BENCHMARK = drawn  # type: ignore[attr-defined]
    for name, facts in about.tasks.items():
        setattr(module, name, _task((drawn, whole), name, facts))
    return module


def _task(specs: Sequence[DatasetSpec], name: str, facts: benchmarks.TaskFacts) -> object:
    def listen(params: TrackParameters) -> Task:
        return question_set_task(params, name, specs[params.all_tracks])

    listen.__doc__ = f"Name or write {facts.summary}."
    return registered(listen, facts.registry_name)
