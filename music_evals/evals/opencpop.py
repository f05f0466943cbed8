r"""Opencpop: the words of the 206 phrases of its five test songs, sung in Mandarin.

"Opencpop: A High-Quality Open Source Chinese Popular Song Corpus for Singing Voice Synthesis"
Yu Wang, Xinsheng Wang, Pengcheng Zhu, Jie Wu, Hanzhao Li, Heyang Xue and others
https://arxiv.org/abs/2201.07429

inspect eval evals/opencpop.py --model google/gemini-2.5-pro -T dataset=/data/opencpop
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


def read_record(record: Record) -> MediaQuestion:
    """Read a line of ``segments/test.txt``, such as ``2044001628|words|phonemes|…``."""
    name, words, *_ = record["line"].split("|")
    return MediaQuestion(
        name,
        [Part("audio", f"segments/wavs/{name}.wav"), "Which words are sung?"],
        [],
        words,
        piece=name[:4],
        answer_kind="text:cer",
    )


BENCHMARK = question_set("opencpop", "1.0.0", {"phrases": Records(("test.txt",), read_record)})


@task
def phrases(params: QuestionSetParameters) -> Task:
    """Write the words of a phrase that is sung in Mandarin, without accompaniment."""
    return question_set_task(params, "phrases", BENCHMARK)
