r"""ABC-Eval: ten tasks on understanding scores written in ABC, those of LilyBench.

"ABC-Eval: Benchmarking Large Language Models on Symbolic Music Understanding and Instruction
Following"
Jiahao Zhao, Yunjia Li, Wei Li, Kazuyoshi Yoshii
https://arxiv.org/abs/2509.23350

inspect eval evals/abc_eval.py@bar_count --model baseline/reader
inspect eval evals/abc_eval.py --model vllm/Qwen/Qwen2.5-7B-Instruct \
  -T dataset=published -T protocol=paper

To compare notations, run `evals/lilybench.py` too: by default both ask the same questions on the
same music.
"""

from functools import partial

from inspect_ai import Task

from music_evals.datasets_builders.abc_eval.dataset import BENCHMARK
from music_evals.evals.shared.registration import task
from music_evals.evals.shared.written_scores import ScoreTaskParameters, score_task

_task = partial(score_task, benchmark=BENCHMARK, notation="abc")


@task
def bar_count(params: ScoreTaskParameters) -> Task:
    """Count the measures of a score."""
    return _task("bar_count", params)


@task
def metadata_qa(params: ScoreTaskParameters) -> Task:
    """Tell key, metre or note length of a score: four options."""
    return _task("metadata_qa", params)


@task
def bar_sequencing(params: ScoreTaskParameters) -> Task:
    """Put measures in order: four, or up to six as published."""
    return _task("bar_sequencing", params)


@task
def next_bar_prediction(params: ScoreTaskParameters) -> Task:
    """Choose the measure that follows others: four options."""
    return _task("next_bar_prediction", params)


@task
def metadata_prediction(params: ScoreTaskParameters) -> Task:
    """Infer a key, metre or note length that was taken out of a score: four options."""
    return _task("metadata_prediction", params)


@task
def music_captioning(params: ScoreTaskParameters) -> Task:
    """Choose the title of a piece: four options."""
    return _task("music_captioning", params)


@task
def composer_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the composer of a piece: four options."""
    return _task("composer_recognition", params)


@task
def genre_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the style of a piece: four options."""
    return _task("genre_recognition", params)


@task
def emotion_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the quadrant of emotion that a piece expresses: four options."""
    return _task("emotion_recognition", params)


@task
def error_detection(params: ScoreTaskParameters) -> Task:
    """Find the measures of a score that are wrong."""
    return _task("error_detection", params)
