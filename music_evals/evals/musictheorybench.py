r"""MusicTheoryBench: four-option questions of music theory, on knowledge and on reasoning.

"ChatMusician: Understanding and Generating Music Intrinsically with LLM"
Ruibin Yuan, Hanfeng Lin, Yi Wang, Zeyue Tian, Shangda Wu, Tianhao Shen, Ge Zhang and others
https://arxiv.org/abs/2402.16153

inspect eval evals/musictheorybench.py --model baseline/chance
inspect eval evals/musictheorybench.py@reasoning --model openai/gpt-4o \
  -T dataset=published -T shots=five
"""

from inspect_ai import Task

from music_evals.datasets_builders.musictheorybench import BENCHMARK
from music_evals.evals.shared.question_banks import QuestionParameters, question_task
from music_evals.evals.shared.registration import task


@task
def knowledge(params: QuestionParameters) -> Task:
    """Answer questions of musical knowledge (section 4)."""
    return question_task(params, "knowledge", BENCHMARK)


@task
def reasoning(params: QuestionParameters) -> Task:
    """Answer questions that have theory applied to what is given (section 4)."""
    return question_task(params, "reasoning", BENCHMARK)
