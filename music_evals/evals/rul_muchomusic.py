r"""RUL-MuChoMusic: facts about recordings, with wrong options that the text does not give away.

"Are you really listening? Boosting Perceptual Awareness in Music-QA Benchmarks"
Yongyi Zang, Sean O'Brien, Taylor Berg-Kirkpatrick, Julian McAuley, Zachary Novack
https://arxiv.org/abs/2504.00369

inspect eval evals/rul_muchomusic.py --model google/gemini-2.5-pro
inspect eval evals/rul_muchomusic.py --model openai-api/local/qwen3-omni \
  -T dataset=published -T prompt=paper
inspect eval evals/rul_muchomusic.py --model google/gemini-2.5-pro \
  -T dataset=published -T options=leave_one_out
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import HUB_SOUND, sound_key
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


def read_record(record: Record) -> MediaQuestion:
    """Read an entry of ``RUL-MuchoMusic.json``.

    Its recording is ``ID.mp3``, or that of the question of MuChoMusic with the same text and
    answer.
    """
    theme = "PI below 0.5" if record["PI"] < 0.5 else "PI from 0.5"
    sound = Part("audio", (record["id"], sound_key(record["question"], record["correct_answer"])))
    parts = [sound, record["question"]]
    return MediaQuestion.mixed(
        record["id"], parts, record["correct_answer"], record["distractors"], theme=theme
    )


RECORDS = Records(("RUL-MuchoMusic.json",), read_record, HUB_SOUND)
BENCHMARK = question_set("rul_muchomusic", "1.4.0", {"muchomusic": RECORDS}, listening_questions)


@task
def muchomusic(params: QuestionSetParameters) -> Task:
    """Answer questions about recordings: five options (sections 3 and 4)."""
    return question_set_task(params, "muchomusic", BENCHMARK)
