"""Questions on the tracks of a mirdata dataset, from the annotations that facts name.

A clip that lasts longer than the facts say is cut, and so are its annotations. What is missing or
damaged is named as in any published questions.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from music_evals.benchmarks import facts_text
from music_evals.datasets_builders.dataset_io import PUBLISHED, Conversion, DatasetError
from music_evals.datasets_builders.dataset_io.mirdata_sets import open_mirdata
from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Records
from music_evals.datasets_builders.questions.mirdata.facts import HeardSet, HeardTask
from music_evals.datasets_builders.questions.published_questions import (
    PublishedQuestions,
    read_media,
)
from music_evals.notation.audio.clips import sendable_clip
from music_evals.notation.cache import cache_folder

_KEY = re.compile(r"[A-G][#b]? (major|minor)")
_MELODY_STEP = 0.1  # seconds between the frames of a melody


_LACKING = (AttributeError, FileNotFoundError, KeyError, NotImplementedError, TypeError)
"""What mirdata raises if a dataset has no such annotation or split, or lacks its metadata."""


class TrackQuestions(PublishedQuestions):
    """The questions of each task on the tracks of a dataset in a folder, in mirdata's layout."""

    def __init__(
        self, name: str, facts: HeardSet, conversion: Conversion, tasks: Mapping[str, Records]
    ) -> None:
        folder, cache = conversion.source, cache_folder() / PUBLISHED
        self._facts = facts
        self._folder = folder
        self._dataset = open_mirdata(facts.loader, facts.version, folder, cache)
        self._without: dict[str, list[str]] = {}  # task → annotations that are missing
        try:
            tracks = _tracks(name, facts, self._dataset)
            self._by_task = {task: [*self._read(task, tracks)] for task in facts.tasks}
        except _LACKING as error:
            raise DatasetError(f"{folder}, as mirdata's {facts.loader}: {error}") from error
        super().__init__(conversion, tasks, folder)

    def _record_files(self) -> dict[str, list[Path]]:
        return {task: [Path(self._dataset.index_path)] for task in self._facts.tasks}

    def _collect_media(self) -> None:
        """Nothing is indexed: mirdata says where each file is."""

    def _questions(self, task: str) -> Iterator[MediaQuestion]:
        yield from self._by_task[task]

    def _load(self, part: Part) -> bytes:
        path = self._folder / str(part.content)
        if not path.is_file():
            raise KeyError("missing")
        return sendable_clip(read_media(path), self._facts.seconds).data

    def _check(self, task: str) -> None:
        super()._check(task)
        if without := self._without.get(task):
            self.missing[task] += [f"{path} (missing)" for path in without]

    def _read(self, name: str, tracks: Sequence[Any]) -> Iterator[MediaQuestion]:
        """A task's questions; a track without a usable annotation has none."""
        task = self._facts.tasks[name]
        options = [*task.shown.values()]
        for track in tracks:
            try:
                value = getattr(track, task.annotation)
            except FileNotFoundError as error:
                if not error.filename:
                    raise
                self._without.setdefault(name, []).append(self._within(error.filename))
                continue
            sound = Part("audio", self._within(getattr(track, self._facts.audio)))
            for label, answer in _answers(task, value, self._facts.seconds):
                question = task.question.replace("$label", label.replace("_", " "))
                right = options.index(answer) if task.kind == "label" else answer
                yield MediaQuestion(
                    "-".join(filter(None, [track.track_id, label])),
                    [sound, question],
                    options,
                    right,
                    theme=label or _text_of(track, task.theme),
                    piece=track.track_id if label else _text_of(track, task.piece),
                    answer_kind=task.kind,
                )

    def _within(self, path: str) -> str:
        """A path within the folder; DatasetError for a path that leads out of it."""
        within = Path(path).relative_to(self._folder)
        if ".." in within.parts:
            raise DatasetError(f"{path} is not in {self._folder}")
        return within.as_posix()


def _text_of(track: Any, attribute: str) -> str | None:
    return str(getattr(track, attribute)) if attribute else None


def _tracks(name: str, facts: HeardSet, dataset: Any) -> list[Any]:
    """The tracks that are asked about, in order of their ids."""
    names = dataset.get_track_splits()[facts.split] if facts.split else dataset.track_ids
    if facts.ids:
        names = {*facts_text(name, facts.ids).split()}.intersection(names)
    tracks = [dataset.track(track_id) for track_id in names]
    for key, value in (facts.where or {}).items():
        tracks = [track for track in tracks if getattr(track, key) == value]
    if not tracks:
        raise DatasetError(f"{dataset.data_home} has none of the tracks that are asked about")
    tracks.sort(key=lambda track: sha256(track.track_id.encode()).digest())
    return sorted(tracks[: facts.most], key=lambda track: str(track.track_id))


# --- annotations ---


def _answers(task: HeardTask, value: Any, seconds: float) -> Iterator[tuple[str, str]]:
    """The answers that an annotation gives, each with the label that its question is about."""
    if task.threshold is not None:
        yes, no = task.shown.values()
        for label, share in sorted(value.items()):
            yield label, yes if share > task.threshold else no
        return
    base = task.kind.partition(":")[0]
    if base in ("label", "labels") and value:
        names = [value] if base == "label" else value
        answer = "; ".join(task.shown[name] for name in names if name in task.shown)
    else:
        answer = "" if value is None else _READ[base](value, seconds)
    if answer:
        yield "", answer


def _read_number(value: Any, _: float) -> str:
    """A number; of a tempo with likelihoods, the likeliest."""
    if hasattr(value, "tempos"):
        value = value.tempos[value.confidence.argmax()]
    return f"{float(value):g}" if float(value) > 0 else ""


def _read_key(value: Any, _: float) -> str:
    """A key; several keys are none."""
    keys = getattr(value, "keys", value)
    text = " ".join((keys if isinstance(keys, str) else "|".join(keys)).split())
    return text if _KEY.fullmatch(text) else ""


def _read_times(value: Any, seconds: float) -> str:
    return " ".join(f"{time:.3f}" for time in value.times if time < seconds)


def _read_notes(value: Any, seconds: float) -> str:
    from mirdata.annotations import convert_pitch_units

    pitches = convert_pitch_units(value.pitches, value.pitch_unit, "midi")
    notes = zip(*value.intervals.clip(max=seconds).T, pitches, strict=True)
    return "; ".join(f"{on:.3f} {off:.3f} {pitch:.2f}" for on, off, pitch in notes if on < off)


def _read_melody(value: Any, seconds: float) -> str:
    """The frequency at every tenth of a second, 0 without a voice."""
    rows: list[str] = []
    for time, hz in zip(value.times, value.frequencies * (value.voicing > 0), strict=True):
        if len(rows) * _MELODY_STEP - 1e-9 <= time < seconds:
            rows.append(f"{len(rows) * _MELODY_STEP:.1f} {hz:.1f}")
    return "; ".join(rows)


def _read_text(value: Any, _: float) -> str:
    lines = [[value]] if isinstance(value, str) else value
    return " ".join(" ".join(words) for words in lines)


_READ: Mapping[str, Callable[[Any, float], str]] = {
    "number": _read_number,
    "key": _read_key,
    "times": _read_times,
    "all_times": _read_times,
    "beats": _read_times,
    "notes": _read_notes,
    "melody": _read_melody,
    "text": _read_text,
}
"""Kind of an answer, without its argument → reads it from an annotation, in the first seconds."""
