"""LilyBench: ten tasks on understanding scores written in LilyPond.

"Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding"
Matteo Spanio, Mohammad Torabi, Andrea Poltronieri, Antonio Rodà
https://arxiv.org/abs/2606.08722

inspect eval evals/lilybench.py@bar_count --model baseline/reader
inspect eval evals/lilybench.py --model vllm/Qwen/Qwen2.5-Coder-14B-Instruct -T dataset=data/lilybench -T protocol=paper
inspect eval evals/lilybench.py@bar_count --model openai/gpt-4o -T strategy=logiclm
inspect eval evals/lilybench.py@error_detection --model openai/gpt-4o -T strategy=cot -T max_score_tokens=8000
"""

from dataclasses import dataclass

from inspect_ai import Task

from music_evals.datasets_builders.lilybench.rows import BENCHMARK, TaskName
from music_evals.evals.score_tasks import ScoreTaskParameters, score_task
from music_evals.evals.tasks import task


@dataclass(frozen=True, slots=True, kw_only=True)
class LilyBenchParameters(ScoreTaskParameters):
    """Parameters of the tasks on understanding.

    Args:
        dataset: ``generated`` (another test of the same form), a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random music as long, or with
            another item's, of another answer.
        twin: ``original``; or ``completion`` to show half of the options and ask for the others word for word.
        protocol: ``strict`` for rows without leaks whose answers LilyPond confirms, and answers in exactly the form
            asked for; ``paper`` for rows, prompts, readings and figures as published
            (``music_evals/scorers/readers/written.py`` says how replies are read under both).
        strategy: ``standalone`` for the answer alone in 20 tokens, as in the paper; ``cot`` to think step by step
            first; ``logiclm``, for the tasks `WITH_TOOLS` only, to let the model call tools that parse the score.
        max_score_tokens: the longest score, in tokens estimated as half its characters. Rows with longer scores are
            left out and counted in the task's metadata; scores are never cut, as that would change the answer.
        media: number of samples, from the first on, for which the log shows the opening page; or ``all``.
        prompts: a TOML file with other wording, see ``music_evals/benchmarks/lilybench/prompts.toml``; its table
            ``paper`` has the wording of that protocol.
    """


@task
def bar_count(params: LilyBenchParameters) -> Task:
    """Count the measures of a score (section 3.2)."""
    return _task("bar_count", params)


@task
def metadata_qa(params: LilyBenchParameters) -> Task:
    """Tell key, metre or note length of a score: four options (section 3.2)."""
    return _task("metadata_qa", params)


@task
def bar_sequencing(params: LilyBenchParameters) -> Task:
    """Put four measures in order (section 3.2)."""
    return _task("bar_sequencing", params)


@task
def next_bar_prediction(params: LilyBenchParameters) -> Task:
    """Choose the measure that follows four others: four options (section 3.2)."""
    return _task("next_bar_prediction", params)


@task
def metadata_prediction(params: LilyBenchParameters) -> Task:
    """Infer a key, metre or note length that was taken out of a score: four options (section 3.2)."""
    return _task("metadata_prediction", params)


@task
def music_captioning(params: LilyBenchParameters) -> Task:
    """Choose the title of a piece: four options (section 3.2)."""
    return _task("music_captioning", params)


@task
def composer_recognition(params: LilyBenchParameters) -> Task:
    """Choose the composer of a piece: four options (section 3.2)."""
    return _task("composer_recognition", params)


@task
def genre_recognition(params: LilyBenchParameters) -> Task:
    """Choose the style of a piece: four options (section 3.2)."""
    return _task("genre_recognition", params)


@task
def emotion_recognition(params: LilyBenchParameters) -> Task:
    """Choose the quadrant of emotion that a piece expresses: four options (section 3.2)."""
    return _task("emotion_recognition", params)


@task
def error_detection(params: LilyBenchParameters) -> Task:
    """Find the measures of a score that are wrong (section 3.2)."""
    return _task("error_detection", params)


def _task(name: TaskName, params: LilyBenchParameters) -> Task:
    return score_task(name, params, BENCHMARK, "lilypond")
