"""The dataset of a benchmark on a dataset of mirdata."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from music_evals.datasets_builders.dataset_io import Conversion, DatasetSpec
from music_evals.datasets_builders.questions import listening
from music_evals.datasets_builders.questions.mirdata.facts import HeardSet, HeardTask
from music_evals.datasets_builders.questions.question_set import (
    Composed,
    MediaQuestion,
    Records,
    question_set,
)

if TYPE_CHECKING:
    from music_evals.datasets_builders.questions.mirdata.tracks import TrackQuestions

VERSION = "1.0.0"


def mirdata_set(name: str, facts: HeardSet, version: str = VERSION) -> DatasetSpec:
    """Describe the dataset of a benchmark on a dataset of mirdata."""

    def read(conversion: Conversion, tasks: Mapping[str, Records], _: Path) -> "TrackQuestions":
        from music_evals.datasets_builders.questions.mirdata.tracks import TrackQuestions

        return TrackQuestions(name, facts, conversion, tasks)

    stand_ins = {task: _stand_in(entry) for task, entry in facts.tasks.items() if entry.stand_in}
    return question_set(
        name, version, dict.fromkeys(facts.tasks, Records((), lambda _: None)), stand_ins, read
    )


def _stand_in(task: HeardTask) -> Composed:
    composed: Callable[..., Iterable[MediaQuestion]] = getattr(
        listening, f"{task.stand_in}_questions"
    )
    if not task.programs:
        return composed
    return partial(
        composed, programs=task.programs, count=5 * len(task.programs), question=task.question
    )
