"""The scorer of LogicLM: the deterministic solver's decision, and what happened to the
formulations.

The sample's metadata hold the attempts (`music_evals.solvers.logiclm.Attempt`), so a log can be
scored again by itself.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import asked_and_expected, named
from music_evals.scorers.metrics.transcription import note_f1
from music_evals.scorers.readers import ERROR
from music_evals.scorers.readers.verdicts import judge_option
from music_evals.scorers.scores import (
    SampleScores,
    fence,
    main_metric,
    read_reply,
    required_metadata,
    sample_metric,
    scorer,
)

_Facts = Mapping[str, Any]
_Attempts = Sequence[_Facts]
_ERROR_KINDS = ("parse", "structural", "domain")
_LIST = re.compile(r"\[[^\]]*\]")
_MAX_SHOWN = 600  # characters of an attempt in an explanation


@sample_metric
def no_decision(scores: SampleScores) -> float:
    """The share of samples in which the solver came to no decision."""
    return sum(score.score.answer is None for score in scores) / max(len(scores), 1)


@scorer(metrics=[main_metric(), no_decision()])
def solver_decision() -> Scorer:
    """Score the solver's decision, which is the paper's score for LogicLM; none counts as
    incorrect.

    The metadata count what happened to the formulations. In every sample the errors of the three
    kinds, the undecided results and the decision add up to the number of attempts, which is one
    more than the refinements. ``answered`` says whether the last reply holds a valid final answer;
    ``agreement`` whether this answer is the solver's, None if either is missing.
    ``accuracy_without_extra_round`` leaves out the round that follows an undecided result.

    ``transcription`` has the lists of the last valid formulation, and is empty without one. If the
    sample's metadata have the ``true_transcription`` in the same form, and whether it is
    ``in_order``, ``right_notes`` is the share of right notes by `note_f1`, the mean over the lists.

    Source: arXiv 2510.22455, section 2.3 and Table 2.
    """

    async def score(state: TaskState, target: Target) -> Score:
        attempts = state.metadata.get("formulation", [])
        decision = attempts[-1]["answer"] if attempts else None
        options = required_metadata(state, "options")
        verdict = await read_reply(judge_option, state.output.completion, options, target.text)
        decided = "came to no decision"
        if decision is not None:
            decided = f"decided {named(decision, options)}"
        explanation = asked_and_expected(state, options, target.text, decision) + (
            f"\n\n**Read:** the solver {decided}, from the last of these formulations:\n\n"
        )
        error = verdict.reading.error
        score = Score(
            value=CORRECT if decision == target.text else INCORRECT,
            answer=decision,
            explanation=explanation + _listed(attempts),
            metadata={
                **_counts(attempts, decision, verdict.reading.answer, target.text),
                **_transcribed(attempts, state.metadata),
                **({ERROR: error} if error else {}),
            },
        )
        if decision is None:
            score.value = NOANSWER
            score.reason = "invalid_response_format"
        return score

    return score


def _counts(
    attempts: _Attempts, decision: str | None, answer: str | None, right: str
) -> dict[str, int | None]:
    """What happened to the formulations, and whether the last reply has the solver's answer."""
    outcomes = [_outcome(attempt) for attempt in attempts]
    counts = {
        "valid_first_try": int(outcomes[:1] in (["undecided"], ["decided"])),
        **{f"{kind}_errors": outcomes.count(f"{kind} error") for kind in _ERROR_KINDS},
        "undecided_results": outcomes.count("undecided"),
        "refinements": max(0, len(attempts) - 1),
        "no_decision": int(decision is None),
        "answered": int(answer is not None),
        "agreement": None if None in (decision, answer) else int(decision == answer),
    }
    earlier = [attempt["answer"] for attempt in attempts if not attempt["extra_round"]]
    if earlier:
        counts["accuracy_without_extra_round"] = int(earlier[-1] == right)
    return counts


def _transcribed(attempts: _Attempts, truth: _Facts) -> dict[str, Any]:
    """The last valid transcription, and its share of right notes if the true one is known."""
    valid = [attempt["text"] for attempt in attempts if attempt["error"] is None]
    lists = _LIST.findall(valid[-1]) if valid else []
    facts: dict[str, Any] = {"transcription": " ".join(lists)}
    if lists and "true_transcription" in truth:
        true_lists = _LIST.findall(truth["true_transcription"])
        shares = []
        for pair in zip(lists, true_lists, strict=True):
            notes, true_notes = (list(map(int, re.findall("[0-9]+", text))) for text in pair)
            shares.append(note_f1(notes, true_notes, in_order=truth["in_order"]))
        facts["right_notes"] = fmean(shares)
    return facts


def _outcome(attempt: _Facts) -> str:
    if attempt["error"]:
        return f"{attempt['error']} error"
    return "undecided" if attempt["answer"] is None else "decided"


def _listed(attempts: _Attempts) -> str:
    """Return attempts as a numbered list in Markdown, with the model's text as code."""
    lines = []
    for number, attempt in enumerate(attempts, start=1):
        texts = f"{_fenced(attempt['text'])}\n\n{_fenced(attempt['message'])}"
        lines.append(f"{number}. **{_outcome(attempt)}**\n\n{texts}")
    return "\n".join(lines)


def _fenced(text: str) -> str:
    """A code block inside a list item."""
    shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} …"
    ends = fence(shown, least=3)
    lines = [f"{ends}text", *shown.splitlines(), ends]
    return "\n".join(f"   {line}" for line in lines)
