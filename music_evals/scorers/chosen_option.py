"""Which option a reply chooses, for all scorers of questions with options.

A reply that a schema held to a form has its answer in a field. Any other is read by rules. If the run has a model in
the role `ROLE`, what no rule reads goes to that model, with the question and its options: the score is then by its
reading, and ``by_rules`` in the metadata has the value without it. Rewards never ask a model.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from logging import getLogger
from string import Template, ascii_uppercase
from tomllib import loads
from typing import Any, Final

from inspect_ai.model import GenerateConfig, Model, ResponseSchema, model_roles
from inspect_ai.scorer import SampleScore
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema, LimitExceededError

from music_evals.scorers.explanations import asks_of
from music_evals.scorers.items import all_items, headline
from music_evals.scorers.metrics.estimates import flatten
from music_evals.scorers.readers import Reading, format_error
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.fields import ANSWER, FORM, judge_named, object_schema, read_fields
from music_evals.scorers.readers.verdicts import Verdict
from music_evals.scorers.scores import read_reply, sample_metric, was_cut

ROLE: Final = "reader"
READ_AGAIN: Final = ("unreadable", "several", "refused")
"""Readings by rules that the model may replace, unless the reply was cut."""
REPLY_END: Final = 1_500  # characters of a reply that the model is shown
MAX_TOKENS: Final = 64  # of its own reply, if its configuration sets no limit
DEADLINE: Final = 120  # seconds that it has
NONE, REFUSED = "none", "refused"

_READINGS: Final = {NONE: "unreadable", REFUSED: "refused"}
_ANGLES: Final = str.maketrans("<>＜＞﹤﹥", "‹›‹›‹›")
_RULE: Final = "the model that reads"
_log = getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """The options of a question.

    Args:
        options: their texts in the order of the dataset.
        right: the right one, by its name in the dataset.
        names: their names in the dataset.
        order: the places of the options as they were shown; None for the order of the dataset.
    """

    options: Sequence[str]
    right: str
    names: Sequence[str] = ascii_uppercase
    order: Sequence[int] | None = None

    def judge(self, reading: Reading, answers: Sequence[str]) -> Verdict:
        """Judge a reading that names one of the `answers`."""
        return judge_named(reading, answers, self.options, self.right, self.names, self.order)

    def shown(self, answers: Sequence[str]) -> dict[str, str]:
        """Return the options as the model that reads sees them: label → text; letters label answers that are texts."""
        if [*answers] == [*self.options]:
            return dict(zip(ascii_uppercase, answers, strict=False))
        texts = [self.options[place] for place in self.order or range(len(self.options))]
        return dict(zip(answers, texts, strict=True))


async def judge_choice(
    state: TaskState, question: ChoiceQuestion, by_rules: Callable[..., Verdict]
) -> tuple[Verdict, dict[str, Any]]:
    """Judge the option that a sample's reply chooses; return also what the score's metadata say of the reading.

    `by_rules` takes the reply, the options, the right one, and as `is_cut` whether the reply was cut.
    """
    reply = state.output.completion
    if state.metadata.get(FORM) == "schema":
        return question.judge(read_fields(reply)[0], _answers(state, question)), {}
    judge = partial(by_rules, is_cut=was_cut(state.output.stop_reason))
    verdict = await read_reply(judge, reply, question.options, question.right)
    return await read_again(state, question, verdict)


async def read_again(state: TaskState, question: ChoiceQuestion, verdict: Verdict) -> tuple[Verdict, dict[str, Any]]:
    """Have the model in the role `ROLE` read a reply that rules did not; without one the verdict stays as it is."""
    answers = _answers(state, question)
    reader = model_roles().get(ROLE)
    if reader is None:
        return verdict, {}
    facts = {"by_rules": verdict.value, "reading_by_rules": verdict.reading.status}
    if verdict.reading.status not in READ_AGAIN or was_cut(state.output.stop_reason):
        return verdict, facts
    labels = question.shown(answers)
    try:
        label = await _ask(reader[0] if isinstance(reader, list) else reader, state, labels)
    except LimitExceededError:
        raise
    except Exception as error:  # a model that fails must not lose the reading by rules
        _log.warning("Sample %s: no reading by a model: %s", state.sample_id, format_error(error))
        return verdict, {**facts, "reader_failed": True}
    if label not in labels:
        return verdict._replace(reading=Reading(_READINGS.get(label, "unreadable"), rule=_RULE)), facts  # type: ignore[arg-type]
    place = [*labels].index(label)
    return question.judge(Reading("answered", answers[place], _RULE), answers), facts


def _answers(state: TaskState, question: ChoiceQuestion) -> Sequence[str]:
    """The options as the prompt names them; logs of earlier versions may not say so."""
    answers: Sequence[str] = asks_of(state).get("answers") or question.names[: len(question.options)]
    return answers


@sample_metric
def score_by_rules(scores: list[SampleScore]) -> dict[str, float]:
    """The score by rules alone, and the shares of replies that went to the model in the role `ROLE`, or failed there.

    There are no such metrics in a run without that model.
    """
    items = [item for item in all_items(scores) if "by_rules" in item.details]
    if not items:
        return {}
    ruled = [item._replace(value=item.details["by_rules"]) for item in items]
    asked = sum(item.details["reading_by_rules"] in READ_AGAIN for item in items)
    failed = sum("reader_failed" in item.details for item in items)
    shares = {"read_again": asked / len(items), "reader_failed": failed / len(items)}
    return flatten({"accuracy_by_rules": headline(ruled)}) | shares


def reading_prompt(question: str, labels: dict[str, str], reply: str) -> str:
    """Return the prompt of the model that reads; no text in it can close the tags around it, or open others."""
    choices = ", ".join([*labels, NONE, REFUSED])
    listed = "\n".join(f"{label}. {text}" for label, text in labels.items())
    texts = {"question": question, "options": listed, "reply": reply[-REPLY_END:], "choices": choices}
    return _template().substitute({name: text.translate(_ANGLES) for name, text in texts.items()})


@cache
def _template() -> Template:
    text = (files("music_evals.benchmarks") / "answers.toml").read_text(encoding="utf-8")
    return Template(loads(text)["reader"]["prompt"].strip())


async def _ask(reader: Model, state: TaskState, labels: dict[str, str]) -> str:
    """The label that the model replies, ``none`` or ``refused``; the schema counts where its provider sends it."""
    choices = [*labels, NONE, REFUSED]
    schema = object_schema({ANSWER: {"type": "string", "enum": choices}})
    config = GenerateConfig(
        temperature=0.0,
        max_tokens=None if reader.config.max_tokens else MAX_TOKENS,
        attempt_timeout=DEADLINE,
        timeout=DEADLINE,
        response_schema=ResponseSchema(name=ANSWER, json_schema=JSONSchema.model_validate(schema), strict=True),
    )
    reply = clean_reply(state.output.completion)
    prompt = reading_prompt(asks_of(state).get("question", ""), labels, reply)
    text = (await reader.generate(prompt, config=config, cache=True)).completion
    word = read_fields(text)[0].answer or clean_reply(text)
    word = re.sub(r"^\W+|\W+$", "", word[:100])
    return next((choice for choice in choices if choice.casefold() == word.casefold()), NONE)
