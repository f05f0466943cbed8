"""Scorers for tasks with a closed set of options: the model's own final answer, and whether it gave one.

They take no arguments, so that `inspect score` can make them again from a log. The options stand in the sample's
metadata; a target of one letter means that they are lettered, any other that one of them is given as a sentence.
"""

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import TaskState

from music_evals.scorers.answers import choice_letter, choice_sentence
from music_evals.scorers.intervals import interval95


def read_answer(state: TaskState, target: Target) -> str | None:
    """Read the final answer from the model's last reply.

    Args:
        state: the sample, with its ``options`` in the metadata.
        target: the right answer, an option's letter or sentence.

    Returns:
        The answer in the form of the target, or None where the reply holds none.
    """
    options: list[str] = state.metadata["options"]
    extract = choice_letter if len(target.text) == 1 else choice_sentence
    return extract(state.output.completion, options)


def describe(state: TaskState, answer: str) -> str:
    """Word an answer for an explanation: a letter with the option that it stands for, a sentence in quotes.

    Args:
        state: the sample, with its ``options`` in the metadata.
        answer: an option's letter or sentence.
    """
    options: list[str] = state.metadata["options"]
    return f"“{answer}. {options[ord(answer) - ord('A')]}”" if len(answer) == 1 else f"“{answer}”"


@scorer(metrics=[accuracy(), stderr(), interval95()])
def final_answer() -> Scorer:
    """Score the final answer of the model's last reply.

    Returns:
        The scorer: correct, incorrect, or no answer (which counts as incorrect).

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_answer(state, target)
        if answer is None:
            return Score(
                value=NOANSWER,
                explanation=f"Expected {describe(state, target.text)}. No valid final answer was found in the reply.",
                reason="no_response" if not state.output.completion.strip() else "invalid_response_format",
            )
        correct = answer == target.text
        expected, found = describe(state, target.text), describe(state, answer)
        return Score(
            value=CORRECT if correct else INCORRECT,
            answer=answer,
            explanation=f"Expected {expected}; the reply's final answer is {found}.",
        )

    return score


@scorer(metrics=[mean(), stderr()])
def answered() -> Scorer:
    """Score whether the last reply holds a valid final answer at all.

    Returns:
        The scorer: 1 or 0, so that the mean is the share answered.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_answer(state, target)
        found = "no valid final answer" if answer is None else f"the final answer {describe(state, answer)}"
        return Score(value=int(answer is not None), answer=answer, explanation=f"The reply holds {found}.")

    return score
