"""The scorer for tasks with a closed set of options: the model's own final answer.

It takes no arguments, so that `inspect score` can make it again from a log. The sample's metadata hold the options. The
target is the letter of an option, or an option that is a sentence.
"""

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import explained
from music_evals.scorers.readers.verdicts import judge_answer
from music_evals.scorers.scores import main_metric, make_score, read_reply, readings, required_metadata, scorer


@scorer(metrics=[main_metric(), readings()])
def final_answer() -> Scorer:
    """Score the final answer of the last reply: correct, incorrect, or no answer, which counts as incorrect.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        options: list[str] = required_metadata(state, "options")
        reading = (await read_reply(judge_answer, state.output.completion, options, target.text)).reading
        return make_score(reading, target.text, explained(state, options, target.text, reading))

    return score
