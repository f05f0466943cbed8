r"""Music-AVQA on sound alone: counting and comparing the instruments of a performance.

"Learning to Answer Questions in Dynamic Audio-Visual Scenarios"
Guangyao Li, Yake Wei, Yapeng Tian, Chenliang Xu, Ji-Rong Wen, Di Hu
https://arxiv.org/abs/2203.14072

inspect eval evals/music_avqa.py --model google/gemini-2.5-pro -T dataset=/data/music-avqa
"""

import json

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

YES_NO = ["yes", "no"]
NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "more than ten",
]


def read_record(record: Record) -> MediaQuestion | None:
    """Read an entry of ``avqa-test.json``; questions that need the picture are left out."""
    if not record["type"].startswith('["Audio",'):
        return None
    template = record["question_content"].strip().replace("<Object>", "{}")
    instruments = json.loads(record["templ_values"].replace("_", " "))
    answer = record["anser"]
    labels = YES_NO if answer in YES_NO else NUMBERS
    return MediaQuestion(
        str(record["question_id"]),
        [Part("audio", record["video_id"]), template.format(*instruments)],
        labels,
        labels.index(answer),
        theme=template.format("…", "…"),
        piece=record["video_id"],
        answer_kind="label",
    )


BENCHMARK = question_set(
    "music_avqa", "1.0.0", {"sound": Records(("avqa-test.json",), read_record)}
)


@task
def sound(params: QuestionSetParameters) -> Task:
    """Count or compare the instruments of a performance: yes or no, or a number."""
    return question_set_task(params, "sound", BENCHMARK)
