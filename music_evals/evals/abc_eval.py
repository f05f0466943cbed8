"""ABC-Eval: ten tasks on understanding scores written in ABC, those of LilyBench.

"ABC-Eval: Benchmarking Large Language Models on Symbolic Music Understanding and Instruction Following"
Jiahao Zhao, Yunjia Li, Wei Li, Kazuyoshi Yoshii
https://arxiv.org/abs/2509.23350

inspect eval evals/abc_eval.py@bar_count --model baseline/reader
inspect eval evals/abc_eval.py --model vllm/Qwen/Qwen2.5-7B-Instruct -T dataset=ABC-Eval/csv -T protocol=paper

To compare notations, run `evals/lilybench.py` too: by default both ask the same questions on the same music.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from inspect_ai import Task

from music_evals.datasets_builders.abc_eval.rows import BENCHMARK
from music_evals.evals.score_tasks import ScoreTaskParameters, score_task
from music_evals.evals.tasks import task


@dataclass(frozen=True, slots=True, kw_only=True)
class AbcEvalParameters(ScoreTaskParameters):
    """Parameters of the ten tasks; others are those of LilyBench.

    Args:
        dataset: ``generated`` (LilyBench's default questions, with the scores in ABC), a dataset folder, a folder with
            the authors' CSV files, or ``hf://datasets/ORG/NAME[@REVISION]``.
        protocol: ``strict`` for rows whose answers are confirmed, and answers in exactly the form asked for; ``paper``
            for rows and prompts as published, and replies and figures as LilyBench's code reads them.
        strategy: ``standalone`` for the answer alone in 20 tokens; ``cot`` to think step by step first.
        media: number of samples, from the first on, for which the log shows page and sound; or ``all``.
        prompts: a TOML file with other wording, see ``music_evals/benchmarks/abc_eval/prompts.toml`` and LilyBench's.
    """

    strategy: Literal["standalone", "cot"] = "standalone"


_task = partial(score_task, benchmark=BENCHMARK, notation="abc")


@task
def bar_count(params: AbcEvalParameters) -> Task:
    """Count the measures of a score."""
    return _task("bar_count", params)


@task
def metadata_qa(params: AbcEvalParameters) -> Task:
    """Tell key, metre or note length of a score: four options."""
    return _task("metadata_qa", params)


@task
def bar_sequencing(params: AbcEvalParameters) -> Task:
    """Put measures in order: four, or up to six as published."""
    return _task("bar_sequencing", params)


@task
def next_bar_prediction(params: AbcEvalParameters) -> Task:
    """Choose the measure that follows others: four options."""
    return _task("next_bar_prediction", params)


@task
def metadata_prediction(params: AbcEvalParameters) -> Task:
    """Infer a key, metre or note length that was taken out of a score: four options."""
    return _task("metadata_prediction", params)


@task
def music_captioning(params: AbcEvalParameters) -> Task:
    """Choose the title of a piece: four options."""
    return _task("music_captioning", params)


@task
def composer_recognition(params: AbcEvalParameters) -> Task:
    """Choose the composer of a piece: four options."""
    return _task("composer_recognition", params)


@task
def genre_recognition(params: AbcEvalParameters) -> Task:
    """Choose the style of a piece: four options."""
    return _task("genre_recognition", params)


@task
def emotion_recognition(params: AbcEvalParameters) -> Task:
    """Choose the quadrant of emotion that a piece expresses: four options."""
    return _task("emotion_recognition", params)


@task
def error_detection(params: AbcEvalParameters) -> Task:
    """Find the measures of a score that are wrong."""
    return _task("error_detection", params)
