"""The scorer of LogicLM: the deterministic solver's decision, and what happened to the formulations.

The sample's metadata hold the attempts (`music_evals.solvers.logiclm.Attempt`), so a log can be scored again by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import asked_and_expected, named
from music_evals.scorers.readers.verdicts import judge_answer
from music_evals.scorers.scores import fence, main_metric, read_reply, required_metadata, sample_metric, scorer

_ERROR_KINDS: Final = ("parse", "structural", "domain")
_MAX_SHOWN: Final = 600  # characters of an attempt in an explanation


@sample_metric
def no_decision(scores: list[SampleScore]) -> float:
    """The share of samples in which the solver came to no decision."""
    return sum(score.score.answer is None for score in scores) / max(len(scores), 1)


@scorer(metrics=[main_metric(), no_decision()])
def solver_decision() -> Scorer:
    """Score the solver's decision, which is the paper's score for LogicLM; none counts as incorrect.

    The metadata count what happened to the formulations. In every sample the errors of the three kinds, the undecided
    results and the decision add up to the number of attempts, which is one more than the refinements. ``answered`` says
    whether the last reply holds a valid final answer; ``agreement`` whether this answer is the solver's, None if either
    is missing. ``accuracy_without_extra_round`` leaves out the round that follows an undecided result.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts: list[Mapping[str, Any]] = state.metadata.get("formulation", [])
        decision = attempts[-1]["answer"] if attempts else None
        options: list[str] = required_metadata(state, "options")
        answer = (await read_reply(judge_answer, state.output.completion, options, target.text)).reading.answer
        both = decision is not None and answer is not None
        counts = {
            "valid_first_try": int(bool(attempts) and attempts[0]["error"] is None),
            **{f"{kind}_errors": sum(attempt["error"] == kind for attempt in attempts) for kind in _ERROR_KINDS},
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


def _listed(attempts: Sequence[Mapping[str, Any]]) -> str:
    """Return attempts as a numbered list in Markdown, with the model's text as code."""
    lines = []
    for number, attempt in enumerate(attempts, start=1):
        outcome = "undecided" if attempt["answer"] is None else "decided"
        outcome = f"{attempt['error']} error" if attempt["error"] else outcome
        lines.append(f"{number}. **{outcome}**\n\n{_fenced(attempt['text'])}\n\n{_fenced(attempt['message'])}")
    return "\n".join(lines)


def _fenced(text: str) -> str:
    """A code block inside a list item."""
    shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} …"
    ends = fence(shown, least=3)
    return "\n".join(f"   {line}" for line in (f"{ends}text", *shown.splitlines(), ends))
