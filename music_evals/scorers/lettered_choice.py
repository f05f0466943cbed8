"""Scorer for four-option questions, and its metrics.

The metrics are over all responses, not over means of epochs, because precision needs the answer of
each response. The samples' metadata name the ``question``.

Source: arXiv 2406.15885, sections 4.1, 5 and 6.1.
"""

from functools import partial
from typing import Literal

from inspect_ai.scorer import CORRECT, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.chosen_option import choice_details, score_choice
from music_evals.scorers.explanations import make_score
from music_evals.scorers.metrics.choices import choice_figures
from music_evals.scorers.readers.choices import first_letter
from music_evals.scorers.readers.verdicts import Verdict, judge_option
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    Figures,
    SampleScores,
    main_metric,
    read_reply,
    sample_metric,
    scorer,
    was_cut,
)

Protocol = Literal["paper", "strict"]


@sample_metric
def precision_and_f1(scores: SampleScores) -> Figures:
    """Precision and F1 of all responses; accuracy is their recall."""
    questions = {(score.sample_metadata or {})["question"] for score in scores}
    figures = choice_figures(
        right=sum(score.score.value == CORRECT for score in scores),
        answered=sum(score.score.answer is not None for score in scores),
        responses=len(scores),
        questions=len(questions),
    )
    return {name: figures[name].value for name in ("precision", "f1")}


@scorer(metrics=[main_metric(), precision_and_f1(), *ANSWER_METRICS, choice_details()])
def lettered_choice(protocol: Protocol = "strict") -> Scorer:
    """Score the letter that a reply chooses: correct, incorrect, or no answer, which counts as
    incorrect.

    Args:
        protocol: ``paper`` takes the first capital A to D, ``strict`` a letter that is used as an
            answer; see `music_evals.scorers.readers.choices`. If several letters have the right
            text, ``strict`` accepts each of these letters, and the text without a letter.

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2406.15885, section 4.1.
    """
    if protocol not in ("paper", "strict"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: paper, strict")

    async def score(state: TaskState, target: Target) -> Score:
        right = target.text
        options = [choice.value for choice in state.choices]
        if protocol == "paper":
            reply = state.output.completion
            verdict = await read_reply(lambda text: Verdict(first_letter(text), right), reply)
            return make_score(state, options, verdict, key=right)
        judge = partial(judge_option, options=options, right=right, is_cut=was_cut(state))
        return await score_choice(state, right, options, judge, key=right)

    return score
