"""The scorer of LogicLM: the deterministic solver's decision, and how the formulations went.

It reads the attempts that the solver left in the sample's metadata, so a log is all that scoring again takes.
"""

from typing import Literal, TypedDict, get_args

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Metric, SampleScore, Score, Scorer, Target, metric
from inspect_ai.solver import TaskState

from music_evals.scorers.choice import read_answer
from music_evals.scorers.explanations import asked_and_expected, named
from music_evals.scorers.scores import fence, main_metric, required_metadata, scorer

ErrorKind = Literal["parse", "structural", "domain"]

_SHOWN = 600
"""Characters of an attempt that an explanation shows."""


class Attempt(TypedDict):
    """One formulation as the log holds it: its text, the error's kind, the solver's message and its answer."""

    text: str
    error: ErrorKind | None
    message: str
    answer: str | None
    extra_round: bool


@metric(scores="unreduced")
def no_decision() -> Metric:
    """The share of samples in which the solver came to no decision."""

    def compute(scores: list[SampleScore]) -> float:
        return sum(score.score.answer is None for score in scores) / max(len(scores), 1)

    return compute


@scorer(metrics=[main_metric(), no_decision()])
def solver_decision() -> Scorer:
    """Score the solver's decision, which is the paper's score for LogicLM; none counts as incorrect.

    The metadata count what happened to the formulations. In every sample the errors of the three kinds, the undecided
    results and the decision add up to the attempts, which are one more than the refinements. ``answered`` says whether
    the last reply holds a valid final answer, ``agreement`` whether that and the solver agree, None where either is
    missing. ``accuracy_without_extra_round`` says whether the solver is right without the round that follows an
    undecided result.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts: list[Attempt] = state.metadata.get("formulation", [])
        decision = attempts[-1]["answer"] if attempts else None
        options: list[str] = required_metadata(state, "options")
        answer = (await read_answer(state, target)).answer
        both = decision is not None and answer is not None
        counts = {
            "valid_first_try": int(bool(attempts) and attempts[0]["error"] is None),
            **{f"{kind}_errors": sum(attempt["error"] == kind for attempt in attempts) for kind in get_args(ErrorKind)},
            "undecided_results": sum(attempt["error"] is None and attempt["answer"] is None for attempt in attempts),
            "refinements": max(0, len(attempts) - 1),
            "no_decision": int(decision is None),
            "answered": int(answer is not None),
            "agreement": int(decision == answer) if both else None,
        }
        if attempts:
            earlier = [attempt["answer"] for attempt in attempts if not attempt["extra_round"]]
            counts["accuracy_without_extra_round"] = int(earlier[-1] == target.text)
        decided = "came to no decision" if decision is None else f"decided {named(decision, options)}"
        explanation = asked_and_expected(state, options, target.text, decision)
        explanation += f"\n\n**Read:** the solver {decided}, from the last of these formulations:\n\n"
        return Score(
            value=NOANSWER if decision is None else CORRECT if decision == target.text else INCORRECT,
            answer=decision,
            explanation=explanation + _listed(attempts),
            metadata=counts,
            reason="invalid_response_format" if decision is None else None,
        )

    return score


def _listed(attempts: list[Attempt]) -> str:
    """Return attempts as a numbered list in Markdown, in which a model's text is never read as markup."""
    lines = []
    for number, attempt in enumerate(attempts, start=1):
        outcome = "undecided" if attempt["answer"] is None else "decided"
        outcome = f"{attempt['error']} error" if attempt["error"] else outcome
        lines.append(f"{number}. **{outcome}**\n\n{_fenced(attempt['text'])}\n\n{_fenced(attempt['message'])}")
    return "\n".join(lines)


def _fenced(text: str) -> str:
    """A code block inside a list item."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
    ends = fence(shown, least=3)
    return "\n".join(f"   {line}" for line in (f"{ends}text", *shown.splitlines(), ends))
