r"""AIR-Bench, music: instruments, genres, moods, pitch and velocity of notes, and questions.

"AIR-Bench: Benchmarking Large Audio-Language Models via Generative Comprehension"
Qian Yang, Jin Xu, Wenrui Liu, Yunfei Chu and others
https://arxiv.org/abs/2402.07729

inspect eval evals/air_bench.py --model google/gemini-2.5-pro -T dataset=published
inspect eval evals/air_bench.py --model openai-api/local/qwen2-audio \
  -T dataset=published -T prompt=paper -T protocol=paper
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


def read_record(record: Record) -> MediaQuestion | None:
    """Read an entry of ``Foundation_meta.json``, or a row of lmms-lab's copy, which has its sound;
    questions on speech and other sound are left out.
    """
    skill, source = record["task_name"], record["dataset_name"]
    if not skill.startswith("Music_"):
        return None
    choices = [record.get(f"choice_{letter}") for letter in "abcd"]
    options = [choice for choice in choices if choice]
    path = f"{skill}_{source}/{record['path']}"
    return MediaQuestion(
        str(record["uniq_id"]),
        [Part("audio", record.get("audio") or path), record["question"]],
        options,
        options.index(record["answer_gt"]),
        theme=skill,
        subtheme=source,
        piece=path,
    )


RECORDS = Records(("Foundation_meta.json", "*.parquet"), read_record)
BENCHMARK = question_set("air_bench", "1.0.0", {"music": RECORDS})


@task
def music(params: QuestionSetParameters) -> Task:
    """Answer questions of six kinds about music: up to four options."""
    return question_set_task(params, "music", BENCHMARK)
