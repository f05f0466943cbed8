"""The scorer for tasks with a closed set of options: the model's own final answer.

It takes no arguments, so that `inspect score` can make it again from a log. The options stand in the sample's
metadata; a target of one letter means that they are lettered, any other that one of them is given as a sentence.
"""

from inspect_ai.scorer import Score, Scorer, Target, accuracy, stderr
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import explained
from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.scores import held, interval95, marked, read_reply, scorer, told_readings


async def read_answer(state: TaskState, target: Target) -> Reading:
    """Read the final answer from the last reply, in the form of the target: a letter, or one of the sentences."""
    options: list[str] = held(state, "options")
    reading = await read_reply(read_choice, state.output.completion, options)
    if reading.answer is None or len(target.text) == 1:
        return reading
    return reading._replace(answer=options[ord(reading.answer) - ord("A")])


@scorer(metrics=[accuracy(), stderr(), interval95(), told_readings()])
def final_answer() -> Scorer:
    """Score the final answer of the last reply: correct, incorrect, or no answer, which counts as incorrect.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        reading = await read_answer(state, target)
        return marked(reading, target.text, explained(state, held(state, "options"), target.text, reading))

    return score
