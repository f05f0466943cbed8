r"""SSMR-Bench: theory applied to sheet music, in ABC or as pictures, with four options.

"Synthesizing Sheet Music Problems for Evaluation and Reinforcement Learning"
Zhilin Wang, Zhe Yang, Yun Luo, Yafu Li, Haoran Zhang, Runzhe Zhang, Derek F. Wong, Jizhe Zhou, Yu
Cheng
https://arxiv.org/abs/2509.04059

inspect eval evals/ssmr.py@textual --model vllm/Qwen/Qwen2.5-7B-Instruct -T dataset=published
inspect eval evals/ssmr.py@visual --model openai/gpt-4o \
  -T dataset=published -T prompt=paper -T protocol=paper
"""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Literal

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


def read_record(record: Record, kind: Literal["abc", "image"]) -> MediaQuestion:
    """Read a line of a file of questions, with ABC or with names of pictures."""
    music = record["abc_context"]
    kind_of_question = record["class_name"].removesuffix("Question")
    if kind == "abc" and music:
        music = music.replace("\\n", "\n")  # as the Hub has it
    answers = [
        record[column]
        for column in ("correct_answer", *(f"incorrect_answer{number}" for number in (1, 2, 3)))
    ]
    key = f"{record['question']}\n{music}\n{answers[0]}"
    name = f"{kind_of_question}-{sha256(key.encode()).hexdigest()[:10]}"
    right, *wrong = map(_option, answers)
    parts = [record["question"], *([Part(kind, music)] if music else [])]
    return MediaQuestion.mixed(
        name, parts, right, wrong, theme=record["category"], subtheme=kind_of_question
    )


def _option(answer: str | Mapping[str, Any]) -> str | Part:
    is_picture = not isinstance(answer, str) or answer.endswith((".jpg", ".png"))
    return Part("image", answer) if is_picture else str(answer)


RECORDS = {
    "textual": Records(("[!v]*.jsonl", "*textual*"), partial(read_record, kind="abc")),
    "visual": Records(("vqa_*.jsonl", "*visual*"), partial(read_record, kind="image")),
}
BENCHMARK = question_set("ssmr", "1.3.0", RECORDS)


@task
def textual(params: QuestionSetParameters) -> Task:
    """Answer questions on music in ABC: four options (section 3)."""
    return question_set_task(params, "textual", BENCHMARK)


@task
def visual(params: QuestionSetParameters) -> Task:
    """Answer questions on pictures of music, some with pictures as options (section 3)."""
    return question_set_task(params, "visual", BENCHMARK)
