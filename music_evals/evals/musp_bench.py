r"""MuSP-Bench: questions of musicians on 24 works, from the score, a performance, or both.

"MuSP-Bench: Advanced Multimodal Benchmarking of Music Understanding across Score and Performance"
Milan Liessens Dujardin, Song-Ze Yu, Kevin Miao
https://arxiv.org/abs/2608.28212

inspect eval evals/musp_bench.py --model google/gemini-2.5-pro -T dataset=published
"""

from dataclasses import dataclass
from typing import Literal

from inspect_ai import Task

from music_evals.datasets_builders.musp_bench import BENCHMARK
from music_evals.evals.shared.question_sets import CompleteParameters, question_set_task
from music_evals.evals.shared.registration import task


@dataclass(frozen=True, slots=True, kw_only=True)
class MuspParameters(CompleteParameters):
    """Parameters of MuSP-Bench.

    Args:
        pages: ``pdf``, or ``images`` for an image per page.
    """

    pages: Literal["pdf", "images"] = "pdf"


@task
def score(params: MuspParameters) -> Task:
    """Answer questions on a work from its score, a PDF."""
    return question_set_task(params, "score", BENCHMARK)


@task
def sound(params: MuspParameters) -> Task:
    """Answer questions on a work from a performance."""
    return question_set_task(params, "sound", BENCHMARK)


@task
def both(params: MuspParameters) -> Task:
    """Answer questions on a work from its score and a performance."""
    return question_set_task(params, "both", BENCHMARK)
