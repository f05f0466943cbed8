r"""VocalSet: the technique of a singer, in CMI-Bench's split of 1,140 chunks of three seconds.

"CMI-Bench: A Comprehensive Benchmark for Evaluating Music Instruction Following"
Yinghao Ma, Siyou Li, Juntao Yu, Emmanouil Benetos, Akira Maezawa
https://arxiv.org/abs/2506.12285

inspect eval evals/vocalset.py --model google/gemini-2.5-pro -T dataset=published
"""

from pathlib import PurePosixPath

from inspect_ai import Task

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.parameters import task
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task


def read_record(record: Record) -> MediaQuestion | None:
    """Read a line of CMI-Bench's file; those of training and validation are left out.

    Chunks of one recording have one `piece`, and `theme` is the singer.
    """
    if record["split"] != ["test"]:
        return None
    facts = load("vocalset").table["labels"]["technique"]
    (path,) = record["audio_path"]
    chunk = PurePosixPath(path).stem
    return MediaQuestion(
        chunk,
        [Part("audio", path), facts["question"]],
        facts["tags"],
        facts["tags"].index(record["output"].replace("_", " ")),
        theme=chunk.partition("_")[0],
        piece=chunk.rpartition("_")[0],
        answer_kind="label",
    )


RECORDS = Records(("CMI_VocalSet_tech.jsonl",), read_record)
BENCHMARK = question_set("vocalset", "1.0.0", {"technique": RECORDS})


@task
def technique(params: QuestionSetParameters) -> Task:
    """Name the technique of a singer, of ten."""
    return question_set_task(params, "technique", BENCHMARK)
