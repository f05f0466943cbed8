"""Scorers for questions on a written score, one per kind of answer.

A scorer reads the answer (see `music_evals.scorers.readers.written`) and records it with the right
one. The metadata of the score say what counts: scores without an error do not belong to the main
metric of `wrong_measures`; its strata are the kinds of errors. Under ``paper``, figures are
computed as in the authors' code; if that is flawed, the metadata have the sound value under
``sound``.

Source: arXiv 2606.08722, sections 3.2 and 3.3.
"""

from functools import partial
from statistics import fmean
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.chosen_option import choice_details, judge_choice
from music_evals.scorers.explanations import make_score
from music_evals.scorers.metrics.estimates import Estimates, flatten
from music_evals.scorers.metrics.measures import count_figures, published_count_figures
from music_evals.scorers.readers.fields import FORM
from music_evals.scorers.readers.verdicts import Verdict, judge_written
from music_evals.scorers.readers.written import Kind, Protocol, measures_of
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    Figures,
    SampleScores,
    details_of,
    judge_sample,
    main_metric,
    read_reply,
    sample_metric,
    scorer,
    was_cut,
)

JOINED = "joined"
"""Key of a sample's metadata: the reply names the wrong measures as one string of digits, a digit
for each measure.
"""
CLEAN = "clean"  # the kind of a score without an error


@sample_metric
def in_form(scores: SampleScores) -> float:
    """The share of replies that hold an answer in the required form."""
    flags = [bool(details["in_form"]) for details in details_of(scores)]
    return sum(flags) / max(len(flags), 1)


@sample_metric
def count_errors(scores: SampleScores) -> Figures:
    """The share of counts that are off by at most 1, and the median absolute error; see
    `count_estimates`.
    """
    details = details_of(scores)
    figures = count_estimates(
        [score.score.answer for score in scores],
        [facts["right_answer"] for facts in details],
        len({score.sample_id for score in scores}),
        is_paper=details[0].get("protocol") == "paper",
    )
    return flatten({name: figures.get(name) for name in ("within_1", "median_absolute_error")})


@sample_metric
def exact_and_false_alarms(scores: SampleScores) -> Figures:
    """The shares of exact answers on scores with an error, and of false alarms on scores without
    one.
    """
    flags: dict[str, list[bool]] = {"exact": [], "false_alarms": []}
    for score, facts in zip(scores, details_of(scores), strict=True):
        answer = score.score.answer
        if facts.get("stratum") == CLEAN:
            flags["false_alarms"].append(bool(measures_of(answer or "none")))
        else:
            flags["exact"].append(answer == facts["right_answer"])
    return {name: fmean(own) for name, own in flags.items() if own}


def count_estimates(
    answers: list[str | None], rights: list[str], questions: int, *, is_paper: bool
) -> Estimates:
    """Return how near counts of measures come to the right numbers.

    Args:
        answers: the answer of each reply, None without one.
        rights: the right numbers.
        questions: the number of different questions.
        is_paper: whether to use `published_count_figures` instead of `count_figures`.
    """
    if is_paper:
        answered = sum(answer is not None for answer in answers)
        readable = round(questions * answered / len(answers))
        return published_count_figures(answers, rights, questions, readable)
    numbers = [None if answer is None else int(answer) for answer in answers]
    return count_figures(numbers, [int(right) for right in rights], questions)


@scorer(metrics=[main_metric(), in_form(), *ANSWER_METRICS, choice_details()])
def option_index(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the index of the chosen option: correct, incorrect, or no answer, which counts as
    incorrect.

    Args:
        protocol: how replies are read; see `music_evals.scorers.readers.written`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.
    """
    return _scorer("index", protocol, reasoned)


@scorer(metrics=[main_metric("exact"), count_errors(), in_form(), *ANSWER_METRICS])
def measure_count(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score a number of measures: correct, incorrect, or no answer; arguments as for
    `option_index`.
    """
    return _scorer("number", protocol, reasoned)


@scorer(metrics=[main_metric("tau"), exact_and_false_alarms(), in_form(), *ANSWER_METRICS])
def measure_order(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score an order of measures by the penalised Kendall τ, from 0 to 1; arguments as for
    `option_index`.
    """
    measure = "Kendall's τ as published" if protocol == "paper" else "Kendall's τ, penalised"
    return _scorer("order", protocol, reasoned, measure)


@scorer(metrics=[main_metric("macro_f1"), exact_and_false_alarms(), in_form(), *ANSWER_METRICS])
def wrong_measures(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the measures that a reply calls wrong by their F1; arguments as for `option_index`.

    F1 is 1 if no measure is wrong and none is named, and 0 without an answer; ``paper`` takes no
    answer for "none".
    """
    return _scorer("measures", protocol, reasoned, "F1 of the measures")


def _scorer(kind: Kind, protocol: Protocol, reasoned: bool, measure: str = "") -> Scorer:
    """Make a scorer of answers of a kind; `measure` names the value of an answer that can be right
    in part.
    """
    if protocol not in ("strict", "paper"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: strict, paper")

    async def judge(state: TaskState, right: str) -> tuple[Verdict, dict[str, Any]]:
        joined = bool(state.metadata.get(JOINED))
        by_rules = partial(
            judge_written,
            kind,
            right=right,
            protocol=protocol,
            reasoned=reasoned,
            joined=joined,
            options=[choice.value for choice in state.choices],
            is_cut=was_cut(state),
        )
        if kind == "index" and protocol == "strict":
            return await judge_choice(state, right, by_rules)
        if state.metadata.get(FORM) == "schema":
            return await judge_sample(state, partial(judge_written, kind, right=right), right), {}
        return await read_reply(by_rules, state.output.completion), {}

    async def score(state: TaskState, target: Target) -> Score:
        options = [choice.value for choice in state.choices]
        verdict, facts = await judge(state, target.text)
        _, right, part, in_form, sound = verdict
        facts = {"right_answer": right, "in_form": bool(in_form), **facts}
        if protocol == "paper":
            facts["protocol"] = protocol
        if sound is not None:
            facts["sound"] = sound
        if kind == "measures":
            error = str(state.metadata.get("kind", ""))
            facts |= {"stratum": error, "counts": error != CLEAN}
        worth = "" if part is None else f"{part:.2f} ({measure})."
        return make_score(state, options, verdict, right, worth, part, **facts)

    return score
