"""Scorers for LogicLM: the deterministic solver's decision, and how the formulations went.

They read the attempts that the solver left in the sample's store, so a log is all that scoring again takes.
"""

from typing import Literal, TypedDict, get_args

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import TaskState

from music_evals.scorers.choice import read_answer
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
            verdict = f"the solver decided {decision!r}"
        return Score(
            value=value,
            answer=decision,
            explanation=f"Expected {target.text!r}; {verdict}.\n\n{_told(attempts)}",
            reason="invalid_response_format" if decision is None else None,
        )

    return score


@scorer(metrics={"*": [mean()]})
def formulation() -> Scorer:
    """Count what happened to the formulations of a sample.

    In every sample the errors of the three kinds, the undecided results and the decision add up to the attempts,
    which are one more than the refinements.

    Returns:
        The scorer, with a value for each of: ``valid_first_try`` (1 or 0), ``parse_errors``, ``structural_errors``,
        ``domain_errors``, ``undecided_results`` and ``refinements`` (counts), ``undecided`` (1 if the solver never
        came to a decision), ``answered`` (1 if the last reply holds a valid final answer), and ``agreement`` of final
        answer and solver (1 or 0, unscored where either is missing).
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts = _attempts(state)
        decision = attempts[-1]["answer"] if attempts else None
        answer = read_answer(state, target)
        both = decision is not None and answer is not None
        errors = {
            f"{kind}_errors": sum(attempt["error"] == kind for attempt in attempts) for kind in get_args(ErrorKind)
        }
        return Score(
            value={
                "valid_first_try": int(bool(attempts) and attempts[0]["error"] is None),
                **errors,
                "undecided_results": sum(
                    attempt["error"] is None and attempt["answer"] is None for attempt in attempts
                ),
                "refinements": max(0, len(attempts) - 1),
                "undecided": int(decision is None),
                "answered": int(answer is not None),
                "agreement": int(decision == answer) if both else float("nan"),
            },
            explanation=_told(attempts),
        )

    return score


def _attempts(state: TaskState) -> list[Attempt]:
    attempts: list[Attempt] = state.store.get("formulation", [])
    return attempts


def _told(attempts: list[Attempt]) -> str:
    """The attempts as a numbered list: what was written and what the solver said of it."""
    return "\n".join(
        f"{number}. `{attempt['text'][:200]}`: {_kind(attempt)}{attempt['message']}"
        for number, attempt in enumerate(attempts, start=1)
    )


def _kind(attempt: Attempt) -> str:
    return f"{attempt['error']} error, " if attempt["error"] else ""
