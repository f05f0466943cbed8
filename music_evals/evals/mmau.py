r"""MMAU-music: the 334 music questions of MMAU test-mini, version v05.15.25.

"MMAU: A Massive Multi-Task Audio Understanding and Reasoning Benchmark"
S Sakshi, Utkarsh Tyagi, Sonal Kumar, Ashish Seth, Ramaneswaran Selvakumar, Oriol Nieto, Ramani
Duraiswami, Sreyan Ghosh, Dinesh Manocha
https://arxiv.org/abs/2410.19168

inspect eval evals/mmau.py --model google/gemini-2.5-pro
inspect eval evals/mmau.py --model openai-api/local/af3 \
  -T dataset=published -T prompt=paper -T protocol=paper
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
    """Read an entry of test-mini; speech, other sound, and the test without answers are left
    out.
    """
    entry = choice_record(record)
    if entry["task"] != "music" or entry["right"] is None:
        return None
    return music_question(entry)


def music_question(entry: Record) -> MediaQuestion:
    """Make the question of an entry, as `choice_record` returns it."""
    sound = entry["sound"] or Part("audio", entry["audio_id"])
    return MediaQuestion(
        entry["id"],
        [sound, entry["question"]],
        entry["choices"],
        entry["right"],
        theme=entry["category"],
        subtheme=entry["sub-category"],
        tags=tags_of(entry, "difficulty"),
    )


RECORDS = Records(("mmau-test-mini.json", "*.parquet"), read_record)
BENCHMARK = question_set("mmau", "1.4.0", {"music": RECORDS}, listening_questions)


@task
def music(params: QuestionSetParameters) -> Task:
    """Answer questions about music: four options (sections 3 and 4)."""
    return question_set_task(params, "music", BENCHMARK)
