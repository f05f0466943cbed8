"""The tasks of benchmarks that have facts and no module: listening tests on datasets of mirdata."""

from types import ModuleType

from inspect_ai import Task

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetSpec
from music_evals.datasets_builders.questions.mirdata.dataset import mirdata_set
from music_evals.datasets_builders.questions.mirdata.facts import read_facts
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import registered


def mirdata_module(benchmark: str) -> ModuleType:
    """Make the module of a benchmark whose facts have a table ``mirdata``.

    It has the benchmark's tasks, registered with Inspect, and its dataset as ``BENCHMARK``.
    """
    about = benchmarks.load(benchmark)
    module = ModuleType(f"music_evals.evals.{benchmark}", about.title)
    spec = mirdata_set(benchmark, read_facts(about.table["mirdata"]))
    module.BENCHMARK = spec  # type: ignore[attr-defined]
    for name, facts in about.tasks.items():
        setattr(module, name, _task(spec, name, facts))
    return module


def _task(spec: DatasetSpec, name: str, facts: benchmarks.TaskFacts) -> object:
    def listen(params: QuestionSetParameters) -> Task:
        return question_set_task(params, name, spec)

    listen.__doc__ = f"Name or write {facts.summary}."
    return registered(listen, facts.registry_name)
