r"""SongFormBench: the sections of 300 songs, by their boundaries and labels.

"SongFormer: Scaling Music Structure Analysis with Heterogeneous Supervision"
Chunbo Hao, Ruibin Yuan, Jixun Yao, Qixin Deng, Xinyi Bai, Yanbo Wang, Wei Xue, Lei Xie
https://arxiv.org/abs/2510.02797

inspect eval evals/songformbench.py --model google/gemini-2.5-pro
inspect eval evals/songformbench.py@cn --model google/gemini-2.5-pro -T dataset=published
"""

from dataclasses import dataclass

from inspect_ai import Task

from music_evals.datasets_builders.songformbench import BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@dataclass(frozen=True, slots=True, kw_only=True)
class SongFormBenchParameters(QuestionSetParameters):
    """Parameters of SongFormBench: songs of up to ten minutes are sent complete."""

    seconds: int = 600


@task
def harmonixset(params: SongFormBenchParameters) -> Task:
    """Name the sections of songs of HarmonixSet, 200."""
    return question_set_task(params, "harmonixset", BENCHMARK)


@task
def cn(params: SongFormBenchParameters) -> Task:
    """Name the sections of Chinese songs, 100."""
    return question_set_task(params, "cn", BENCHMARK)
