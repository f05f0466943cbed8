"""What is asked about a dataset of mirdata: facts of a benchmark's folder, or of a user's file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
