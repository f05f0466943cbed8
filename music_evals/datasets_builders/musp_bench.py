"""MuSP-Bench: questions on works, from the score as PDF, from a performance, or from both.

Which of the two a question needs is its ``modality``: ``S``, ``P``, ``SP`` for both, and ``S/P``
for either. The latter are asked in all tasks, under one id. Recordings in WAV become MP3, because
requests are limited.
"""

import io
import json
from functools import lru_cache, partial
from pathlib import Path

from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.notation.audio.clips import MP3, file_of, sendable_clip

TASKS = {
    "score": (("S", "S/P"), slice(1)),
    "sound": (("P", "S/P"), slice(1, 2)),
    "both": (("SP", "S/P"), slice(2)),
}
"""Task → the modalities of its questions, and what it shows of score and sound."""
_KINDS = {
    "Short phrase": "stated:name",
    "List": "stated:any",
    "List ordered alphabetically": "stated:any",
}
"""Form, or number, of the answers → their kind, if order counts not, or if they are names."""


def read_record(record: Record, task: str) -> MediaQuestion | None:
    """Read a question of a task; those of other tasks, and without an answer, are left out."""
    modalities, shown = TASKS[task]
    answers = [*map(str, json.loads(record["answers"]))]
    if record["modality"] not in modalities or not answers:
        return None
    path = record["audio"]
    file = record["files"].get(path) if path.endswith(".wav") else None
    music = [Part("image", record["pdf"]), Part("audio", _mp3(file) if file else path)]
    form, number = record["answer_format"], record["answer_quantity"]
    examples = "; ".join(json.loads(record["answer_example"])) or "none"
    contract = f"Form of the answer: {form}. Number: {number}. Example of the form: {examples}"
    return MediaQuestion(
        record["id"],
        [*music[shown], record["question"], contract],
        [],
        json.dumps(answers),
        theme=record["answer_object_type"],
        subtheme=record["modality"],
        piece=record["piece_number"],
        answer_kind=_KINDS.get(number) or _KINDS.get(form, "stated"),
    )


@lru_cache(maxsize=32)
def _mp3(path: Path) -> bytes:
    import soundfile

    clip, _ = sendable_clip(path.read_bytes(), 3600)  # with a sample rate that MP3 may have
    samples, rate = soundfile.read(io.BytesIO(clip), dtype="int16")
    return file_of(samples, rate, MP3)


BENCHMARK = question_set(
    "musp_bench",
    "1.0.0",
    {
        task: Records(("*questions*.csv", "*.parquet"), partial(read_record, task=task))
        for task in TASKS
    },
)
