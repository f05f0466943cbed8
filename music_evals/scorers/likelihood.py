"""The scorer of answers by the probabilities of the options, for models that need not follow instructions.

The sample's message has the options as ``answers`` in its metadata ``asks``. Probabilities are those of the tokens that
begin one option and no other, with and without a space ahead, among the likeliest tokens that the server tells; they
are divided by their sum over the options.
"""

from collections.abc import Sequence
from statistics import fmean
from string import ascii_uppercase
from typing import Final

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.chosen_option import ChoiceQuestion
from music_evals.scorers.explanations import asks_of, explained
from music_evals.scorers.items import all_items
from music_evals.scorers.metrics.estimates import estimate, flatten
from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.fields import option_probabilities
from music_evals.scorers.scores import main_metric, make_score, not_measured, readings, sample_metric, scorer

_DIGITS: Final = "0123456789"


@sample_metric
def probability(scores: list[SampleScore]) -> dict[str, float]:
    """The mean probability of the right option, normalised over the options; 0 where no option is among the tokens.

    ``options_mass`` is the mean of what all options have together before that: it is low if the model would write
    something else.
    """
    items = [item for item in all_items(scores) if "probability" in item.details]
    if not items:
        return {}
    values = [item.details["probability"] for item in items]
    found = estimate(values, [item.id for item in items], [item.cluster for item in items])
    return {**flatten({"probability": found}), "options_mass": fmean(item.details["options_mass"] for item in items)}


@scorer(metrics=[main_metric(), probability(), readings()])
def option_likelihood() -> Scorer:
    """Score the likeliest option: correct, incorrect, or unreadable if none is among the likeliest tokens."""

    async def score(state: TaskState, target: Target) -> Score:
        tokens = _likeliest_tokens(state.output)
        if not tokens and state.output.stop_reason != "model_length":  # a prompt that is too long has no reply
            return not_measured("the server returned no probabilities of tokens")
        answers: list[str] = asks_of(state)["answers"]
        question = _question(state, target.text)
        sums = option_probabilities(tokens, answers)
        mass = sum(sums)
        rule = "the likeliest first token of an option"
        reading = Reading("unreadable", rule=rule)
        if mass:
            reading = Reading("answered", answers[sums.index(max(sums))], rule)
        verdict = question.judge(reading, answers)
        right = sum(one for one, answer in zip(sums, answers, strict=True) if _is_right(question, answer, answers))
        shares = {answer: round(one / mass, 4) for answer, one in zip(answers, sums, strict=True)} if mass else {}
        return make_score(
            verdict.reading,
            verdict.right,
            explained(state, question.options, verdict.right, verdict.reading),
            key=target.text,
            probability=right / mass if mass else 0.0,
            options_mass=mass,
            shares=shares,
        )

    return score


def _question(state: TaskState, right: str) -> ChoiceQuestion:
    """The options of a sample of any benchmark: its dataset names them by letters, by indices, or by their texts."""
    options: list[str] = state.metadata.get("options") or [choice.value for choice in state.choices]
    names: Sequence[str] = options
    if len(right) == 1:
        names = _DIGITS if right.isdigit() else ascii_uppercase
    return ChoiceQuestion(options, right, names, state.metadata.get("option_order"))


def _is_right(question: ChoiceQuestion, answer: str, answers: Sequence[str]) -> bool:
    return question.judge(Reading("answered", answer), answers).value == 1


def _likeliest_tokens(output: ModelOutput) -> list[tuple[str, float]]:
    """The likeliest first tokens with the logarithms of their probabilities, as far as the server tells them."""
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None or not logprobs.content:
        return []
    return [(token.token, token.logprob) for token in logprobs.content[0].top_logprobs or ()]
