"""MMAU, test: 9,000 questions on music, speech and other sound, whose answers only the authors
have.

"MMAU: A Massive Multi-Task Audio Understanding and Reasoning Benchmark"
S Sakshi, Utkarsh Tyagi, Sonal Kumar, Ashish Seth, Ramaneswaran Selvakumar, Oriol Nieto, Ramani
Duraiswami, Sreyan Ghosh, Dinesh Manocha
https://arxiv.org/abs/2410.19168

inspect eval evals/mmau_test.py --model google/gemini-2.5-pro -T dataset=published
music-evals export logs/LOG.eval --as mmau --out submission.json
"""

from dataclasses import replace

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import choice_record, tags_of
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Record,
    Records,
    question_set,
)
from music_evals.evals.mmau import music_question
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


def read_record(record: Record) -> MediaQuestion:
    """Read an entry of the test; an answer that a copy may have is left out."""
    entry = choice_record({**record, "answer": None})
    question = music_question(entry)
    return replace(question, tags=[*question.tags, *tags_of(entry, "task")])


RECORDS = Records(("mmau-test.json", "*.parquet"), read_record)
BENCHMARK = question_set("mmau_test", "1.1.0", {"questions": RECORDS})


@task
def questions(params: QuestionSetParameters) -> Task:
    """Answer questions whose answers are not public (section 3); the replies are not scored."""
    return question_set_task(params, "questions", BENCHMARK)
