"""What is asked about a dataset of mirdata: facts of a benchmark's folder, or of a user's file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from music_evals.datasets_builders.dataset_io import Conversion, DatasetSpec
from music_evals.datasets_builders.questions import rendered_clips
from music_evals.datasets_builders.questions.question_set import (
    Composed,
    MediaQuestion,
    Records,
    question_set,
)

if TYPE_CHECKING:
    from music_evals.datasets_builders.questions.mirdata_tracks import TrackQuestions

VERSION = "1.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardTask:
    """What is asked of a track: a table ``[mirdata.tasks.NAME]``.

    Args:
        annotation: attribute of mirdata's track.
        kind: of the answer, as `music_evals.scorers.answer_kinds` names it.
        question: what is asked; ``$label`` is a key of an annotation with `threshold`.
        labels: of ``label`` and ``labels``, also as a table from mirdata's names to what is shown.
        threshold: for an annotation that has a number per label: a question per label, whose answer
            is the first of two labels if the number is above it.
        theme: attribute to break scores down by.
        piece: attribute that is equal for clips of one recording.
        stand_in: ``key``, ``beat``, ``tempo`` or ``instrument``: questions on rendered clips, for
            the default data.
        programs: of ``instrument``: label → General MIDI programs, counted from 0.
    """

    annotation: str
    kind: str
    question: str
    labels: Sequence[str] | Mapping[str, str] = ()
    threshold: float | None = None
    theme: str = ""
    piece: str = ""
    stand_in: str = ""
    programs: Mapping[str, Sequence[int]] | None = None

    @property
    def shown(self) -> Mapping[str, str]:
        """mirdata's name of a label → what is shown."""
        if isinstance(self.labels, Mapping):
            return self.labels
        return dict(zip(self.labels, self.labels, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardSet:
    """A dataset of mirdata, and the tasks on it: a table ``[mirdata]``.

    Args:
        loader: its name in mirdata.
        version: of the dataset.
        tasks: name → what is asked.
        audio: attribute with the path of a track's sound.
        seconds: of sound that are kept, from the beginning of a track.
        split: name of a split that mirdata has.
        where: attributes of the tracks that are asked about, and their values.
        ids: a file of the benchmark's folder with the ids of these tracks, a line each.
        most: how many of these tracks are asked about at most, drawn by a hash of their ids.
    """

    loader: str
    version: str
    tasks: Mapping[str, HeardTask]
    audio: str = "audio_path"
    seconds: float = 30.0
    split: str = ""
    where: Mapping[str, Any] | None = None
    ids: str = ""
    most: int | None = None


def read_facts(table: Mapping[str, Any]) -> HeardSet:
    """Read a table ``[mirdata]``; ValueError names an entry that is unknown or missing."""
    try:
        tasks = {name: HeardTask(**entry) for name, entry in table["tasks"].items()}
        return HeardSet(**{**table, "tasks": tasks})
    except (KeyError, TypeError) as error:
        raise ValueError(f"[mirdata]: {error}") from error


def mirdata_set(name: str, facts: HeardSet, version: str = VERSION) -> DatasetSpec:
    """Describe the dataset of a benchmark on a dataset of mirdata."""

    def read(conversion: Conversion, *_: object) -> "TrackQuestions":
        from music_evals.datasets_builders.questions.mirdata_tracks import TrackQuestions

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
