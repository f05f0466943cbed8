"""MMAU-music: the 334 music questions of MMAU test-mini, version v05.15.25.

"MMAU: A Massive Multi-Task Audio Understanding and Reasoning Benchmark"
S Sakshi, Utkarsh Tyagi, Sonal Kumar, Ashish Seth, Ramaneswaran Selvakumar, Oriol Nieto, Ramani Duraiswami,
Sreyan Ghosh, Dinesh Manocha
https://arxiv.org/abs/2410.19168

inspect eval evals/mmau.py --model google/gemini-2.5-pro
inspect eval evals/mmau.py --model openai-api/local/af3 -T dataset=data/mmau -T prompt=paper -T protocol=paper
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.listening import listening_questions
from music_evals.datasets_builders.questions.question_set import MediaQuestion, Part, Record, Records, question_set
from music_evals.evals.questions import QuestionSetParameters, question_set_task
from music_evals.evals.shared.tasks import task


def read_record(record: Record) -> MediaQuestion | None:
    """Read an entry of ``mmau-test-mini.json``; speech and other sound are left out."""
    if record["task"] != "music":
        return None
    options, parts = record["choices"], [Part("audio", record["audio_id"]), record["question"]]
    right = options.index(record["answer"])
    return MediaQuestion(record["id"], parts, options, right, record["category"], record["sub-category"])


BENCHMARK = question_set("mmau", "1.1.0", {"music": Records("mmau-test-mini.json", read_record)}, listening_questions)


@task
def music(params: QuestionSetParameters) -> Task:
    """Answer questions about music: four options (sections 3 and 4)."""
    return question_set_task(params, "music", BENCHMARK)
