r"""MusICA: the same questions on chorales by ear, from ABC and from a page.

"Music I Care About: Automated Multimodal Benchmarking of LLM Music Perception Skills on (Almost)
Any Music"
Tomáš Sourada, Katia Vendrame, Jan Hajič jr.
https://arxiv.org/abs/2607.06015

inspect eval evals/musica.py --model google/gemini-2.5-pro -T dataset=/data/musica
inspect eval evals/musica.py@notation --model vllm/Qwen/Qwen2.5-7B-Instruct -T dataset=/data/musica
"""

from inspect_ai import Task

from music_evals.datasets_builders.musica import BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@task
def sound(params: QuestionSetParameters) -> Task:
    """Answer questions about a recording of a chorale: five options."""
    return question_set_task(params, "sound", BENCHMARK)


@task
def notation(params: QuestionSetParameters) -> Task:
    """Answer the same questions from the chorale in ABC."""
    return question_set_task(params, "notation", BENCHMARK)


@task
def pages(params: QuestionSetParameters) -> Task:
    """Answer the same questions from a picture of the chorale."""
    return question_set_task(params, "pages", BENCHMARK)
