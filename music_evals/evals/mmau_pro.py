r"""MMAU-Pro, music: the questions of MMAU-Pro on music alone, some with several recordings.

"MMAU-Pro: A Challenging and Comprehensive Benchmark for Holistic Evaluation of Audio General
Intelligence"
Sonal Kumar, Šimon Sedláček, Vaibhavi Lokegaonkar and others
https://arxiv.org/abs/2508.13992

inspect eval evals/mmau_pro.py --model google/gemini-2.5-pro -T dataset=published
inspect eval evals/mmau_pro.py --model openai-api/local/af3 -T dataset=/data/mmau-pro
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import choice_record
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import CompleteParameters, question_set_task
from music_evals.evals.shared.registration import task


def read_record(record: Record) -> MediaQuestion | None:
    """Read a row of ``test.parquet``; other categories and open questions are left out."""
    if record["category"] != "music" or len(record["choices"] or ()) < 2:
        return None
    entry = choice_record(record)
    paths = record["audio_path"]
    return MediaQuestion(
        str(record["id"]),
        [*(Part("audio", path) for path in paths), entry["question"]],
        entry["choices"],
        entry["right"],
        theme=record.get("sub-cat"),
        piece="; ".join(paths),
        tags=["recordings: one" if len(paths) == 1 else "recordings: several"],
    )


BENCHMARK = question_set("mmau_pro", "1.0.0", {"music": Records(("test.parquet",), read_record)})


@task
def music(params: CompleteParameters) -> Task:
    """Answer questions about one or more recordings of music (section 3)."""
    return question_set_task(params, "music", BENCHMARK)
