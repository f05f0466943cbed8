r"""MMAR-music: the 206 questions of MMAR that are on music alone.

"MMAR: A Challenging Benchmark for Deep Reasoning in Speech, Audio, Music, and Their Mix"
Ziyang Ma, Yinghao Ma, Yanqiao Zhu, Chen Yang, Yi-Wen Chao, Ruiyang Xu and others
https://arxiv.org/abs/2505.13032

inspect eval evals/mmar.py --model google/gemini-2.5-pro
inspect eval evals/mmar.py --model openai-api/local/qwen3-omni \
  -T dataset=published -T protocol=paper
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import choice_record, tags_of
from music_evals.datasets_builders.questions.listening import listening_questions
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
    """Read an entry of MMAR; questions on speech, other sound and mixtures are left out."""
    if record["modality"] != "music":
        return None
    entry = choice_record(record)
    # Two questions have a blank last option.
    options = [option for option in entry["choices"] if option.strip()]
    return MediaQuestion(
        entry["id"],
        [entry["sound"] or Part("audio", entry["audio_path"]), entry["question"]],
        options,
        entry["right"],
        theme=entry["category"],
        subtheme=entry.get("sub-category") or entry.get("subcategory"),
        tags=tags_of(entry, "language"),
    )


RECORDS = Records(("MMAR-meta.jsonl", "MMAR-meta.json", "*.parquet"), read_record)
BENCHMARK = question_set("mmar", "1.4.0", {"music": RECORDS}, listening_questions)


@task
def music(params: QuestionSetParameters) -> Task:
    """Answer questions about music that need several steps: two to six options (section 3)."""
    return question_set_task(params, "music", BENCHMARK)
