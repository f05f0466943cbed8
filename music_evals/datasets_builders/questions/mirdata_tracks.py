"""Questions on the tracks of a mirdata dataset: facts say which annotation is asked for, and what
kind of answer that is.

The tracks become records beside links to their sound, which are then read as published files of any
other benchmark: what is missing or damaged is named. A clip that lasts longer than the facts say is
cut, and so are its annotations.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from music_evals.benchmarks import facts_text
from music_evals.datasets_builders.dataset_io import (
    PUBLISHED,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
)
from music_evals.datasets_builders.dataset_io.mirdata_sets import open_mirdata
from music_evals.datasets_builders.questions import rendered_clips
from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Record
from music_evals.datasets_builders.questions.question_set import Composed, Records, question_set
from music_evals.notation.audio.clips import lasts_longer, sendable_clip
from music_evals.notation.cache import cache_folder

T = TypeVar("T")
VERSION = "1.0.0"
_KEY = re.compile(r"([A-G][#b]?)[ :\t]*(maj|min)(?:or)?", re.IGNORECASE)
_MELODY_STEP = 0.1  # seconds between the frames of a melody


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardTask:
    """What is asked of a track: a table ``[mirdata.tasks.NAME]``.

    Args:
        annotation: attribute of mirdata's track.
        kind: of the answer, as `music_evals.scorers.answer_kinds` names it.
        question: what is asked; ``$label`` is a key of an annotation with `threshold`.
        labels: of ``label`` and ``labels``, also as a table from mirdata's names to what is shown;
            by default those that occur.
        threshold: for an annotation that has a number per label: a question per label, whose answer
            is the first of two labels if the number is above it.
        theme: attribute to break scores down by.
        piece: attribute that is equal for clips of one recording.
        stand_in: ``key``, ``beats``, ``tempo`` or ``instrument``: questions on rendered clips, for
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
        ids: a file with the ids of these tracks, a line each.
        most: how many of these tracks are asked about at most, drawn by a hash of their ids.
        published: facts of the source, for `benchmarks.mirdata_datasets`.
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
    published: Mapping[str, Any] | None = None


def read_facts(table: Mapping[str, Any]) -> HeardSet:
    """Read a table ``[mirdata]``; ValueError names an entry that is unknown or missing."""
    tasks = table.get("tasks")
    if not isinstance(tasks, Mapping) or not tasks:
        raise ValueError("[mirdata] has no table [mirdata.tasks.NAME]")
    own = {
        name: _checked(HeardTask, entry, f"mirdata.tasks.{name}") for name, entry in tasks.items()
    }
    return _checked(HeardSet, {**table, "tasks": own}, "mirdata")


def _checked(kind: Callable[..., T], entries: Mapping[str, Any], where: str) -> T:
    """Make a dataclass of a table; a ValueError names an entry that it does not know or lacks."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if unknown := sorted({*entries} - {*names}):
        raise ValueError(f"[{where}]: {unknown[0]!r} is unknown; known are {', '.join(names)}")
    try:
        return kind(**entries)
    except TypeError as error:
        raise ValueError(f"[{where}]: {str(error).partition('() ')[2]}") from error


def mirdata_set(name: str, facts: HeardSet, version: str = VERSION) -> DatasetSpec:
    """Describe the dataset of a benchmark on a dataset of mirdata."""
    tasks = {task: Records((f"{task}.jsonl",), read_record) for task in facts.tasks}
    stand_ins = {task: _stand_in(entry) for task, entry in facts.tasks.items() if entry.stand_in}
    spec = question_set(name, version, tasks, stand_ins)

    def convert(conversion: Conversion) -> Provenance:
        root = cache_folder() / PUBLISHED
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root) as folder:
            _write_records(name, facts, conversion.source, Path(folder))
            records = replace(conversion, source=Path(folder), name=str(conversion.source))
            assert spec.convert is not None
            return spec.convert(records)

    return replace(spec, convert=convert)


def read_record(record: Record) -> MediaQuestion:
    """Read a record that `_write_records` has written; FileNotFoundError if its annotation was
    missing.
    """
    if "missing" in record:
        raise FileNotFoundError(record["missing"])
    parts = [Part("audio", record["sound"]), record["question"]]
    options, right = record["options"], record["right"]
    if record["kind"] == "label" and right is not None:
        right = options.index(right)
    groups = {group: record[group] for group in ("theme", "piece")}
    return MediaQuestion(record["id"], parts, options, right, answer_kind=record["kind"], **groups)


def _stand_in(task: HeardTask) -> Composed:
    if task.programs:
        return partial(
            rendered_clips.instrument_questions,
            programs=task.programs,
            count=5 * len(task.programs),
            question=task.question,
        )
    return {
        "key": rendered_clips.key_questions,
        "beats": rendered_clips.beat_questions,
        "tempo": rendered_clips.tempo_questions,
    }[task.stand_in]


# --- records ---


def _write_records(name: str, facts: HeardSet, source: Path, out: Path) -> None:
    """Write a file of records for each task, and links to the sound beside it."""
    dataset = open_mirdata(facts.loader, facts.version, source, cache_folder() / PUBLISHED)
    try:
        tracks = [*_tracks(name, facts, dataset)]
        if not tracks:
            raise DatasetError(f"{source} has none of the tracks that are asked about")
        for task, entry in facts.tasks.items():
            records = [*_records(facts, entry, tracks, source)]
            for sound in {record["sound"] for record in records if "sound" in record}:
                _put_sound(source / sound, out / sound, facts.seconds)
            text = "".join(f"{json.dumps(record)}\n" for record in records)
            (out / f"{task}.jsonl").write_text(text, encoding="utf-8")
    except (AttributeError, FileNotFoundError, NotImplementedError, KeyError) as error:
        raise DatasetError(f"{source}, as mirdata's {facts.loader}: {error!r:.300}") from error


def _tracks(name: str, facts: HeardSet, dataset: Any) -> Iterator[Any]:
    """The tracks that are asked about, in order of their ids."""
    names = dataset.get_track_splits()[facts.split] if facts.split else dataset.track_ids
    if facts.ids:
        listed = {*facts_text(name, facts.ids).split()}
        names = [track for track in names if track in listed]
    chosen = []
    for track_id in names:
        track = dataset.track(track_id)
        if all(getattr(track, key) == value for key, value in (facts.where or {}).items()):
            chosen.append(track)
    if facts.most:
        chosen.sort(key=lambda track: sha256(track.track_id.encode()).digest())
    yield from sorted(chosen[: facts.most], key=lambda track: str(track.track_id))


def _records(
    facts: HeardSet, task: HeardTask, tracks: Sequence[Any], source: Path
) -> Iterator[dict[str, Any]]:
    """A task's records; a track without a usable annotation has none.

    The record of a track whose annotation is a missing file names that file.
    """
    entries: list[tuple[dict[str, Any], Any]] = []
    for track in tracks:
        groups = {key: _text_of(track, getattr(task, key)) for key in ("theme", "piece")}
        try:
            value = getattr(track, task.annotation)
        except FileNotFoundError as error:
            if not error.filename:
                raise
            yield {"id": track.track_id, "missing": _within(error.filename, source)}
            continue
        sound = _within(getattr(track, facts.audio), source)
        shared = {"kind": task.kind, "sound": sound, **groups}
        for suffix, answer in _answers(task, value, facts.seconds):
            question = task.question.replace("$label", suffix.replace("_", " "))
            own = {**shared, "id": track.track_id, "question": question}
            if suffix:
                own |= {
                    "id": f"{track.track_id}-{suffix}",
                    "theme": suffix,
                    "piece": track.track_id,
                }
            entries.append((own, answer))
    options = _options(task, [answer for _, answer in entries])
    for entry, answer in entries:
        right = "; ".join(answer) if isinstance(answer, list) else answer
        yield {**entry, "options": options, "right": right}


def _text_of(track: Any, attribute: str) -> str | None:
    return str(getattr(track, attribute)) if attribute else None


def _within(path: str, source: Path) -> str:
    """A path within the source; DatasetError for a path that leads out of it."""
    try:
        within = Path(path).relative_to(source)
    except ValueError:
        within = Path("..")
    if ".." in within.parts:
        raise DatasetError(f"{path} is not in {source}")
    return within.as_posix()


def _put_sound(source: Path, target: Path, seconds: float) -> None:
    """Link a file, or write its beginning; nothing for a file that is missing, or there already."""
    if not source.is_file() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if lasts_longer(source, seconds):
        target.write_bytes(sendable_clip(source.read_bytes(), seconds).data)
    else:
        target.symlink_to(source.resolve())


# --- annotations ---


def _answers(task: HeardTask, value: Any, seconds: float) -> Iterator[tuple[str, Any]]:
    """The answers that an annotation gives, each with what its question is about; a text, a list of
    labels, or none if the annotation has no such answer.
    """
    if task.threshold is not None:
        yes, no = task.labels
        for label, share in sorted((value or {}).items()):
            yield label, yes if share > task.threshold else no
        return
    base = task.kind.partition(":")[0]
    answer = None if value is None else _READ[base](value, seconds)
    if base in ("label", "labels") and answer:
        answer = _shown(task.labels, answer)
    if answer:
        yield "", answer


def _shown(labels: Sequence[str] | Mapping[str, str], answer: Any) -> Any:
    """A label, or a list of labels, as they are shown; labels that are not asked for are left
    out.
    """
    names = labels if isinstance(labels, Mapping) else dict(zip(labels, labels, strict=True))
    if not names:
        return answer
    if isinstance(answer, list):
        return [names[label] for label in answer if label in names]
    return names.get(answer)


def _options(task: HeardTask, answers: Iterable[Any]) -> list[str]:
    """The labels of a task: those of its facts, else those that occur."""
    if task.kind not in ("label", "labels"):
        return []
    if task.labels:
        return [*(task.labels.values() if isinstance(task.labels, Mapping) else task.labels)]
    occurring: set[str] = set()
    for answer in answers:
        occurring.update(answer if isinstance(answer, list) else [answer] * bool(answer))
    return sorted(occurring)


def _read_number(value: Any, _: float) -> str:
    """A number; of a tempo with likelihoods, the likeliest."""
    if hasattr(value, "tempos"):
        value = value.tempos[value.confidence.argmax()]
    number = float(value)
    return f"{number:g}" if number > 0 else ""


def _read_key(value: Any, _: float) -> str:
    """A key; several keys are none."""
    values = value if isinstance(value, list) else getattr(value, "keys", [value])
    if len(values) != 1 or not (match := _KEY.fullmatch(values[0].strip())):
        return ""
    tonic, mode = match.groups()
    return f"{tonic[0].upper()}{tonic[1:]} {mode.lower()}or"


def _read_times(value: Any, seconds: float) -> str:
    times = value.times if hasattr(value, "times") else value.intervals[:, 0]
    return " ".join(f"{time:.3f}" for time in times if time < seconds)


def _read_notes(value: Any, seconds: float) -> str:
    from mirdata.annotations import convert_pitch_units

    pitches = convert_pitch_units(value.pitches, value.pitch_unit, "midi")
    rows = []
    for (onset, offset), pitch in zip(value.intervals, pitches, strict=True):
        end = min(offset, seconds)
        if onset < end:
            rows.append(f"{onset:.3f} {end:.3f} {pitch:.2f}")
    return "; ".join(rows)


def _read_melody(value: Any, seconds: float) -> str:
    """The frequency at every tenth of a second, 0 without a voice."""
    import numpy as np

    marks = np.arange(0, min(seconds, value.times[-1]), _MELODY_STEP)
    places = np.searchsorted(value.times, marks).clip(max=len(value.times) - 1)
    frequencies = np.where(value.voicing > 0, value.frequencies, 0.0)[places]
    return "; ".join(f"{time:.1f} {hz:.1f}" for time, hz in zip(marks, frequencies, strict=True))


def _read_text(value: Any, _: float) -> str:
    lines = [value] if isinstance(value, str) else value
    return " ".join(line if isinstance(line, str) else " ".join(line) for line in lines)


_READ: Mapping[str, Callable[[Any, float], Any]] = {
    "label": lambda value, _: str(value),
    "labels": lambda value, _: [*map(str, value)],
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
