"""Scorers for tasks with a closed set of options: the model's own final answer, and whether it gave one.

They take no arguments, so that `inspect score` can make them again from a log. The options stand in the sample's
metadata; a target of one letter means that they are lettered, any other that one of them is given as a sentence.
"""

from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import TaskState

from music_evals.scorers.answers import choice_letter, choice_sentence
from music_evals.scorers.scores import interval95, marked


def read_answer(state: TaskState, target: Target) -> str | None:
    """Read the final answer from the last reply, in the form of the target; None where the reply holds none."""
    extract = choice_letter if len(target.text) == 1 else choice_sentence
    return extract(state.output.completion, state.metadata["options"])


def describe(state: TaskState, answer: str) -> str:
    """Word an answer for an explanation: a letter with the option that it stands for, a sentence in quotes."""
    options: list[str] = state.metadata["options"]
    return f"“{answer}. {options[ord(answer) - ord('A')]}”" if len(answer) == 1 else f"“{answer}”"


@scorer(metrics=[accuracy(), stderr(), interval95()])
def final_answer() -> Scorer:
    """Score the final answer of the last reply: correct, incorrect, or no answer, which counts as incorrect.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_answer(state, target)
        found = "holds no valid final answer" if answer is None else f"ends on {describe(state, answer)}"
        explanation = f"Expected {describe(state, target.text)}; the reply {found}."
        return marked(state.output.completion, answer, target.text, explanation=explanation)

    return score


@scorer(metrics=[mean(), stderr()])
def answered() -> Scorer:
    """Score whether the last reply holds a valid final answer, 1 or 0, so that the mean is the share answered."""

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_answer(state, target)
        found = "no valid final answer" if answer is None else f"the final answer {describe(state, answer)}"
        return Score(value=int(answer is not None), answer=answer, explanation=f"The reply holds {found}.")

    return score
