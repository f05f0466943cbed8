"""Scorers for LogicLM: the deterministic solver's decision, and how the formulations went.

They read the attempts that the solver left in the sample's store, so a log is all that scoring again takes.
"""

import re
from typing import Literal, TypedDict, cast, get_args

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from music_evals.scorers.choice import describe, read_answer
from music_evals.scorers.intervals import interval95

ErrorKind = Literal["parse", "structural", "domain"]


class Attempt(TypedDict):
    """One formulation as the log holds it: its text, the error's kind, the solver's message and its answer."""

    text: str
    error: ErrorKind | None
    message: str
    answer: str | None


@scorer(metrics=[accuracy(), stderr(), interval95()])
def solver_decision() -> Scorer:
    """Score the solver's decision, which is the paper's score for LogicLM.

    Returns:
        The scorer: correct, incorrect, or no answer where the solver came to none (which counts as incorrect).

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts = _attempts(state)
        decision = attempts[-1]["answer"] if attempts else None
        if decision is None:
            value, verdict = NOANSWER, "the solver came to no decision"
        else:
            value = CORRECT if decision == target.text else INCORRECT
            verdict = f"the solver decided {describe(state, decision)}"
        return Score(
            value=value,
            answer=decision,
            explanation=f"Expected {describe(state, target.text)}; {verdict}, from:\n\n{told(attempts[-1:])}",
            reason="invalid_response_format" if decision is None else None,
        )

    return score


@metric(scores="unreduced")
def formulation_means() -> Metric:
    """Mean over the samples (and their epochs) of each count that :func:`formulation` keeps.

    Returns:
        The metric, a value for each count; ``agreement`` is the mean over the samples that have one.
    """

    def compute(scores: list[SampleScore]) -> Value:
        counts = [score.score.metadata or {} for score in scores]
        means: dict[str, float | None] = {}
        for name in counts[0] if counts else ():
            known = [each[name] for each in counts if each[name] is not None]
            means[name] = sum(known) / len(known) if known else None
        return cast(Value, means)

    return compute


@scorer(metrics=[formulation_means()])
def formulation() -> Scorer:
    """Count what happened to the formulations of a sample.

    In every sample the errors of the three kinds, the undecided results and the decision add up to the attempts,
    which are one more than the refinements.

    Returns:
        The scorer. Its value is the number of refinements; its metadata has ``valid_first_try`` (1 or 0),
        ``parse_errors``, ``structural_errors``, ``domain_errors``, ``undecided_results`` and ``refinements`` (counts),
        ``no_decision`` (1 if the solver never came to one), ``answered`` (1 if the last reply holds a valid final
        answer), and ``agreement`` of final answer and solver (1 or 0, None where either is missing).
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts = _attempts(state)
        decision = attempts[-1]["answer"] if attempts else None
        answer = read_answer(state, target)
        both = decision is not None and answer is not None
        errors = {f"{kind}_errors": sum(each["error"] == kind for each in attempts) for kind in get_args(ErrorKind)}
        counts = {
            "valid_first_try": int(bool(attempts) and attempts[0]["error"] is None),
            **errors,
            "undecided_results": sum(each["error"] is None and each["answer"] is None for each in attempts),
            "refinements": max(0, len(attempts) - 1),
            "no_decision": int(decision is None),
            "answered": int(answer is not None),
            "agreement": int(decision == answer) if both else None,
        }
        return Score(value=max(0, len(attempts) - 1), explanation=told(attempts), metadata=counts)

    return score


def _attempts(state: TaskState) -> list[Attempt]:
    attempts: list[Attempt] = state.store.get("formulation", [])
    return attempts


def told(attempts: list[Attempt], most: int = 600) -> str:
    """Tell attempts as Markdown: a numbered list of what was written and what the solver said of it.

    Args:
        attempts: from a sample's store.
        most: characters of an attempt's text to show.

    Returns:
        Markdown in which nothing that a model wrote is read as markup.

    Example:
        >>> print(told([{"text": "chord?", "error": "parse", "message": "not a line", "answer": None}]))
        1. **parse error**
        <BLANKLINE>
           ```text
           chord?
           ```
        <BLANKLINE>
           ```text
           not a line
           ```
    """
    return "\n".join(
        f"{number}. **{_outcome(attempt)}**\n\n{_fenced(attempt['text'], most)}\n\n{_fenced(attempt['message'], most)}"
        for number, attempt in enumerate(attempts, start=1)
    )


def _outcome(attempt: Attempt) -> str:
    if attempt["error"]:
        return f"{attempt['error']} error"
    return "undecided" if attempt["answer"] is None else "decided"


def _fenced(text: str, most: int) -> str:
    """A code block inside a list item, with a fence longer than any run of backticks in the text."""
    shown = text if len(text) <= most else f"{text[:most]} …"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return "\n".join(f"   {line}" for line in (f"{fence}text", *shown.splitlines(), fence))
