"""Scorers for tasks with a closed set of options: the model's own final answer, and whether it gave one.

They take no arguments, so that `inspect score` can make them again from a log. The options stand in the sample's
metadata; a target of one letter means that they are lettered, any other that one of them is given as a sentence.
"""

from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, stderr
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import explained
from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.scores import READ_AS, apart, held, interval95, marked, readings, scorer


async def read_answer(state: TaskState, target: Target) -> Reading:
    """Read the final answer from the last reply, in the form of the target: a letter, or one of the sentences."""
    options: list[str] = held(state, "options")
    reading = await apart(read_choice, state.output.completion, options)
    if reading.answer is None or len(target.text) == 1:
        return reading
    return reading._replace(answer=options[ord(reading.answer) - ord("A")])


@scorer(metrics=[accuracy(), stderr(), interval95(), readings()])
def final_answer() -> Scorer:
    """Score the final answer of the last reply: correct, incorrect, or no answer, which counts as incorrect.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        reading = await read_answer(state, target)
        return marked(reading, target.text, explained(state, held(state, "options"), target.text, reading))

    return score


@scorer(metrics=[mean(), stderr(), readings()])
def answered() -> Scorer:
    """Score whether the last reply holds a valid final answer, 1 or 0, so that the mean is the share answered."""

    async def score(state: TaskState, target: Target) -> Score:
        reading = await read_answer(state, target)
        found = "holds a final answer" if reading.answer else READ_AS[reading.status]
        return Score(
            value=int(reading.answer is not None),
            answer=reading.answer,
            explanation=f"The reply {found}.",
            metadata={"reading": reading.status},
        )

    return score
