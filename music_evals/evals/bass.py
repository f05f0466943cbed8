r"""BASS: who performs in a song and how, which attribute dominates it, and its lyrics.

"BASS: Benchmarking Audio LMs for Musical Structure and Semantic Reasoning"
Min Jang, Orevaoghene Ahia, Nazif Tamer, Sachin Kumar, Yulia Tsvetkov, Noah A. Smith
https://arxiv.org/abs/2602.04085

inspect eval evals/bass.py --model google/gemini-2.5-pro -T dataset=/data/bass
inspect eval evals/bass.py@collaboration --model openai-api/local/af3 -T dataset=/data/bass
"""

import ast
import re
from dataclasses import dataclass
from functools import partial

from inspect_ai import Task

from music_evals.benchmarks import load
from music_evals.datasets_builders.dataset_io import text_sha256
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task

_FORM = re.compile(r"(?:Respond with|Answer only)[^\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BassParameters(QuestionSetParameters):
    """Parameters of BASS: songs are sent complete."""

    seconds: int = 600


def read_record(record: Record, task: str) -> MediaQuestion | None:
    """Read a question; those of other tasks, and those with an answer that is none of their labels,
    are left out.

    ``[kinds]`` in ``benchmark.toml`` has the kind of an answer, and the labels, for each of the
    authors' tasks.
    """
    facts = load("bass").table["kinds"][task].get(record["task"])
    if facts is None:
        return None
    kind, *labels = facts
    right = record["answer"]
    text = _FORM.sub("", record["question"]).strip()
    if kind == "text":
        right = _lyrics(right)
        text = text.partition("\n")[0] if "Section" in record["task"] else "Transcribe the lyrics."
    if meanings := record.get("answer_choices_with_descriptions"):
        # The source names the right attribute first.
        labels = sorted(record["answer_choices"])
        text = "\n".join([text, *(f"{label}: {meanings[label]}" for label in labels)])
    if labels and right not in labels:
        return None
    paths = record.get("audio_paths") or [record["audio"]]
    return MediaQuestion(
        f"{record['audio'].removesuffix('.wav')}-{text_sha256(text)[:8]}",
        [*(Part("audio", path) for path in paths), text],
        labels,
        labels.index(right) if labels else right,
        theme=record["task"],
        piece="; ".join(paths),
        answer_kind=kind,
    )


def _lyrics(answer: str) -> str:
    """The words of a section, or of a list of sections, as Python writes them."""
    sections = ast.literal_eval(answer)
    if isinstance(sections, dict):
        sections = [sections]
    return "\n".join(section["lyrics"] for section in sections)


RECORDS = {
    task: Records(("*.parquet", "*_*.json"), partial(read_record, task=task))
    for task in ("collaboration", "attributes", "lyrics")
}
BENCHMARK = question_set("bass", "1.0.0", RECORDS)


@task
def collaboration(params: BassParameters) -> Task:
    """Count the artists of a song, time their parts, and say how they perform."""
    return question_set_task(params, "collaboration", BENCHMARK)


@task
def attributes(params: BassParameters) -> Task:
    """Name the attribute that dominates a song, or the song that has most of it."""
    return question_set_task(params, "attributes", BENCHMARK)


@task
def lyrics(params: BassParameters) -> Task:
    """Write the lyrics of a section or of a song."""
    return question_set_task(params, "lyrics", BENCHMARK)
