"""The dataset of a benchmark on a dataset of mirdata."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from music_evals.datasets_builders.dataset_io import Conversion, DatasetSpec
from music_evals.datasets_builders.questions import rendered_clips
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

    def read(conversion: Conversion, *_: object) -> "TrackQuestions":
        from music_evals.datasets_builders.questions.mirdata.tracks import TrackQuestions

        return TrackQuestions(name, facts, conversion)

    stand_ins = {task: _stand_in(entry) for task, entry in facts.tasks.items() if entry.stand_in}
    tasks = dict.fromkeys(facts.tasks, Records((), lambda _: None))
    return question_set(name, version, tasks, stand_ins, read)


def _stand_in(task: HeardTask) -> Composed:
    composed: Callable[..., Iterable[MediaQuestion]] = getattr(
        rendered_clips, f"{task.stand_in}_questions"
    )
    if not task.programs:
        return composed
    count = 5 * len(task.programs)
    return partial(composed, programs=task.programs, count=count, question=task.question)
