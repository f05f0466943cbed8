"""MMAR-music: the 206 questions of MMAR that are on music alone.

"MMAR: A Challenging Benchmark for Deep Reasoning in Speech, Audio, Music, and Their Mix"
Ziyang Ma, Yinghao Ma, Yanqiao Zhu, Chen Yang, Yi-Wen Chao, Ruiyang Xu and others
https://arxiv.org/abs/2505.13032

inspect eval evals/mmar.py --model google/gemini-2.5-pro
inspect eval evals/mmar.py --model openai-api/local/qwen3-omni -T dataset=data/mmar -T protocol=paper
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.listening import listening_questions
from music_evals.datasets_builders.questions.question_set import MediaQuestion, Part, Record, Records, question_set
from music_evals.evals.questions import QuestionSetParameters, question_set_task
from music_evals.evals.shared.tasks import task


def read_record(record: Record) -> MediaQuestion | None:
    """Read a line of ``MMAR-meta.jsonl``; questions on speech, other sound and mixtures are left out."""
    if record["modality"] != "music":
        return None
    options = [option for option in record["choices"] if option.strip()]  # two questions have a blank option
    right, parts = options.index(record["answer"]), [Part("audio", record["audio_path"]), record["question"]]
    return MediaQuestion(record["id"], parts, options, right, record["category"], record["sub-category"])


BENCHMARK = question_set("mmar", "1.1.0", {"music": Records("MMAR-meta.jsonl", read_record)}, listening_questions)


@task
def music(params: QuestionSetParameters) -> Task:
    """Answer questions about music that need several steps: two to six options (section 3)."""
    return question_set_task(params, "music", BENCHMARK)
