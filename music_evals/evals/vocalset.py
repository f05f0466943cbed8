r"""VocalSet: the technique of a singer, in CMI-Bench's split of 1,140 chunks of three seconds.

"CMI-Bench: A Comprehensive Benchmark for Evaluating Music Instruction Following"
Yinghao Ma, Siyou Li, Juntao Yu, Emmanouil Benetos, Akira Maezawa
https://arxiv.org/abs/2506.12285

inspect eval evals/vocalset.py --model google/gemini-2.5-pro -T dataset=published
"""

from inspect_ai import Task

from music_evals.datasets_builders.tagging import VOCALSET as BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@task
def technique(params: QuestionSetParameters) -> Task:
    """Name the technique of a singer, of ten."""
    return question_set_task(params, "technique", BENCHMARK)
