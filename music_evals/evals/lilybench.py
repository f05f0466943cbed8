r"""LilyBench: ten tasks on understanding scores written in LilyPond.

"Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding"
Matteo Spanio, Mohammad Torabi, Andrea Poltronieri, Antonio Rodà
https://arxiv.org/abs/2606.08722

inspect eval evals/lilybench.py@bar_count --model baseline/reader
inspect eval evals/lilybench.py --model vllm/Qwen/Qwen2.5-Coder-14B-Instruct \
  -T dataset=published -T protocol=paper
inspect eval evals/lilybench.py@error_detection --model openai/gpt-4o \
  -T strategy=cot -T max_score_tokens=8000
"""

from functools import partial

from inspect_ai import Task

from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
from music_evals.evals.shared.registration import task
from music_evals.evals.shared.written_scores import ScoreTaskParameters, score_task

_task = partial(score_task, benchmark=BENCHMARK, notation="lilypond")


@task
def bar_count(params: ScoreTaskParameters) -> Task:
    """Count the measures of a score (section 3.2)."""
    return _task("bar_count", params)


@task
def metadata_qa(params: ScoreTaskParameters) -> Task:
    """Tell key, metre or note length of a score: four options (section 3.2)."""
    return _task("metadata_qa", params)


@task
def bar_sequencing(params: ScoreTaskParameters) -> Task:
    """Put four measures in order (section 3.2)."""
    return _task("bar_sequencing", params)


@task
def next_bar_prediction(params: ScoreTaskParameters) -> Task:
    """Choose the measure that follows four others: four options (section 3.2)."""
    return _task("next_bar_prediction", params)


@task
def metadata_prediction(params: ScoreTaskParameters) -> Task:
    """Infer a key, metre or note length that was taken out of a score: four options (section
    3.2).
    """
    return _task("metadata_prediction", params)


@task
def music_captioning(params: ScoreTaskParameters) -> Task:
    """Choose the title of a piece: four options (section 3.2)."""
    return _task("music_captioning", params)


@task
def composer_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the composer of a piece: four options (section 3.2)."""
    return _task("composer_recognition", params)


@task
def genre_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the style of a piece: four options (section 3.2)."""
    return _task("genre_recognition", params)


@task
def emotion_recognition(params: ScoreTaskParameters) -> Task:
    """Choose the quadrant of emotion that a piece expresses: four options (section 3.2)."""
    return _task("emotion_recognition", params)


@task
def error_detection(params: ScoreTaskParameters) -> Task:
    """Find the measures of a score that are wrong (section 3.2)."""
    return _task("error_detection", params)
