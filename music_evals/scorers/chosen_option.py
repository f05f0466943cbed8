"""Which option a reply chooses, for all scorers of questions with options.

A reply that a schema held to a form has its answer in a field. Answers by probabilities are the
likeliest option. Any other reply is read by rules. If the run has a model in the role `ROLE`, what
no rule reads goes to that model, with the question and its options: the score is then by its
reading, and ``by_rules`` in the metadata has the value without it. Rewards never ask a model.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from logging import getLogger
from operator import mul
from statistics import fmean
from string import Template, ascii_uppercase
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from anyio import Lock
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ResponseSchema, model_roles
from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema, LimitExceededError

from music_evals.notation.toml_files import read_toml
from music_evals.scorers.explanations import asks_of, make_score
from music_evals.scorers.items import all_items, headline
from music_evals.scorers.metrics.estimates import flatten
from music_evals.scorers.readers import ERROR, Reading, format_error
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.fields import (
    ANSWER,
    FORM,
    judge_place,
    object_schema,
    option_probabilities,
    read_fields,
)
from music_evals.scorers.readers.verdicts import Verdict, judge_option, plain_text
from music_evals.scorers.scores import (
    Figures,
    SampleScores,
    judge_sample,
    read_reply,
    required_metadata,
    sample_metric,
    was_cut,
    without_tags,
)
from music_evals.solvers.door import install

ROLE = "reader"
READ_AGAIN = ("unreadable", "several", "refused")
"""Readings by rules that the model may replace, unless the reply was cut."""
REPLY_END = 1_500  # characters of a reply that the model is shown
MAX_TOKENS = 64  # of its own reply, if its configuration sets no limit
MOST_INVENTED = 1
"""Number of trial replies without an answer in which it may read one; above it is not used."""
NONE = "none"
REFUSED = "refused"

_RULE = "the model that reads"
_DETAILS = (
    ("accuracy_by_rules", "by_rules", ("read_again", "reader_failed")),
    ("probability", "probability", ("options_mass",)),
)
"""Names of figures, the facts of scores that they are means of, and further facts to take the mean
of.
"""
_log = getLogger(__name__)
_invented: WeakKeyDictionary[Model, int] = WeakKeyDictionary()
"""Model that reads → the number of trial replies in which it read an answer that is not there."""
_trying = Lock()


async def judge_choice(
    state: TaskState, right: str, by_rules: Callable[[str], Verdict]
) -> tuple[Verdict, dict[str, Any]]:
    """Judge the option that a sample's reply chooses; return also what the score's metadata say of
    the reading.

    Args:
        state: the sample; its metadata or choices have the options.
        right: the right option, by its name in the dataset.
        by_rules: judges a reply that is text.
    """
    shown = _shown_options(state, right)
    form = state.metadata.get(FORM)
    if form == "likelihood":
        return _judge_likeliest(state.output, shown)
    if form == "schema":
        return await judge_sample(state, shown.judge_name, right), {}
    verdict = await read_reply(by_rules, state.output.completion)
    readers = model_roles().get(ROLE)
    if readers is None:
        return verdict, {}
    status, *_, error = verdict.reading
    facts: dict[str, Any] = {
        "by_rules": verdict.value,
        "reading_by_rules": status,
        "read_again": status in READ_AGAIN and not was_cut(state),
    }
    if error:
        facts[ERROR] = error
    if not facts["read_again"]:
        return verdict, facts
    reader = readers[0] if isinstance(readers, list) else readers
    try:
        facts["reader_invents"] = await _count_invented(reader)
        if facts["reader_invents"] > MOST_INVENTED:
            return verdict, {**facts, "reader_failed": True}
        question = asks_of(state).get("question", "")
        label = await _ask(reader, question, clean_reply(state.output.completion), shown.labels)
    except LimitExceededError:
        raise
    except Exception as error:  # a model that fails must not lose the reading by rules
        _log.warning("Sample %s: no reading by a model: %s", state.sample_id, format_error(error))
        return verdict, {**facts, "reader_failed": True}
    if label in shown.labels:
        return shown.judge(list(shown.labels).index(label), _RULE), facts
    reading = Reading("refused" if label == REFUSED else "unreadable", rule=_RULE)
    return Verdict(reading, right), facts


def option_judge(
    state: TaskState,
    right: str,
    official: str | None = None,
    plain: Callable[[str], str] = plain_text,
) -> Callable[[str], Verdict]:
    """Return what judges a reply by rules, for a sample with options; see `judge_option`."""
    return partial(
        judge_option,
        options=required_metadata(state, "options"),
        right=right,
        order=state.metadata.get("option_order"),
        official=official,
        plain=plain,
        is_cut=was_cut(state),
    )


async def score_choice(
    state: TaskState,
    right: str,
    options: Sequence[str],
    by_rules: Callable[[str], Verdict],
    **metadata: Any,
) -> Score:
    """Score the option that a sample's reply chooses; see `judge_choice`."""
    verdict, facts = await judge_choice(state, right, by_rules)
    return make_score(state, options, verdict, **metadata, **facts)


class _Shown(NamedTuple):
    """The options of a question as its prompt shows them."""

    names: Sequence[str]  # as the model is to name them: letters, indices, or texts
    labels: Mapping[str, str]  # as the model that reads is to name them, with their texts
    # Takes the place of an option, and how the choice was read.
    judge: Callable[[int, str], Verdict]

    def judge_name(self, name: str) -> Verdict:
        """Judge an option that is named exactly as shown; another text is unreadable."""
        if name in self.names:
            return self.judge(self.names.index(name), f"the field “{ANSWER}”")
        return self.judge(0, "")._replace(reading=Reading("unreadable"))


def _shown_options(state: TaskState, right: str) -> _Shown:
    options = state.metadata.get("options") or [choice.value for choice in state.choices]
    order = state.metadata.get("option_order") or range(len(options))
    texts = [options[place] for place in order]
    # A short answer has no options.
    labels = asks_of(state).get("answers") or ascii_uppercase
    names = labels
    if max(map(len, names)) > 1 or list(names) == options:
        names = texts
        labels = ascii_uppercase

    def judge(place: int, rule: str) -> Verdict:
        return judge_place(place, options, right, order, rule)

    return _Shown(names, dict(zip(labels, texts, strict=False)), judge)


def _judge_likeliest(output: ModelOutput, shown: _Shown) -> tuple[Verdict, dict[str, Any]]:
    """Judge the likeliest option, or none if no option is among the likeliest tokens."""
    sums = option_probabilities(_likeliest_tokens(output), shown.names)
    mass = sum(sums)
    rule = "the likeliest first token of an option"
    verdicts = [shown.judge(place, rule) for place in range(len(sums))]
    likeliest = verdicts[sums.index(max(sums))]
    if not mass:
        verdict = likeliest._replace(reading=Reading("unreadable"))
        return verdict, {"probability": 0.0, "options_mass": 0.0}
    right = sum(map(mul, sums, [verdict.value for verdict in verdicts]))
    shares = [round(probability / mass, 4) for probability in sums]
    return likeliest, {
        "probability": right / mass,
        "options_mass": mass,
        "shares": dict(zip(shown.names, shares, strict=False)),
    }


def _likeliest_tokens(output: ModelOutput) -> list[tuple[str, float]]:
    """The likeliest first tokens with the logarithms of their probabilities."""
    if output.stop_reason == "model_length":  # a prompt that is too long has no reply
        return []
    logprobs = output.choices[0].logprobs
    first = logprobs.content[:1] if logprobs else []
    if not first or not first[0].top_logprobs:
        raise ValueError("the server returned no probabilities of tokens")
    return [(token.token, token.logprob) for token in first[0].top_logprobs]


@sample_metric
def choice_details(scores: SampleScores) -> Figures:
    """What a run has besides its score, if a model in the role `ROLE` read replies, or
    probabilities are the answers.

    ``accuracy_by_rules`` is the score without that model, ``read_again`` the share of replies that
    it was sent. ``reader_invents`` is the number of trial replies in which that model read an
    answer that is not there, if there are any. ``probability`` is the mean of what the right option
    has of the probability of all options, and 0 where no option is among the likeliest tokens;
    ``options_mass`` is the mean of what all options have together.
    """
    items = all_items(scores)
    figures: Figures = {}
    for name, fact, means in _DETAILS:
        own = [item._replace(value=item.details[fact]) for item in items if fact in item.details]
        figures |= flatten({name: headline(own)})
        if own:
            figures |= {mean: fmean(item.details.get(mean, 0) for item in own) for mean in means}
    invented = [item.details.get("reader_invents", 0) for item in items]
    return {**figures, "reader_invents": max(invented)} if any(invented) else figures


def reading_prompt(question: str, labels: Mapping[str, str], reply: str) -> str:
    """Return the prompt of the model that reads; no text in it can close the tags around it, or
    open others.
    """
    texts = without_tags(
        question=question,
        options="\n".join(f"{label}. {text}" for label, text in labels.items()),
        reply=reply[-REPLY_END:],
        choices=", ".join([*labels, NONE, REFUSED]),
    )
    return Template(_reader_facts()["prompt"].strip()).substitute(texts)


@cache
def _reader_facts() -> dict[str, Any]:
    """The prompt and the trial of a model that reads."""
    facts: dict[str, Any] = read_toml("music_evals.benchmarks", "answers.toml")["reader"]
    return facts


def reader_trial() -> Any:
    """Return the trial of a model that reads: a question with options, and replies without an
    answer.
    """
    return _reader_facts()["trial"]


async def _count_invented(reader: Model) -> int:
    """Try a model on replies without an answer, once in a process."""
    trial = reader_trial()
    labels = trial["options"]
    async with _trying:
        if reader not in _invented:
            answers = [
                await _ask(reader, trial["question"], reply, labels)
                for reply in trial["replies"].values()
            ]
            _invented[reader] = sum(answer in labels for answer in answers)
            if _invented[reader] > MOST_INVENTED:
                _log.warning(
                    "%s reads an answer in %d of %d replies that have none, and is not used: rules "
                    "alone read the replies. Take a larger model with --model-role reader=MODEL",
                    reader,
                    _invented[reader],
                    len(answers),
                )
    return _invented[reader]


async def _ask(reader: Model, question: str, reply: str, labels: Mapping[str, str]) -> str:
    """The label that the model replies, ``none`` or ``refused``; the schema counts where its
    provider sends it.
    """
    choices = [*labels, NONE, REFUSED]
    schema = object_schema({ANSWER: {"type": "string", "enum": choices}})
    config = GenerateConfig(
        temperature=0.0,
        max_tokens=None if reader.config.max_tokens else MAX_TOKENS,
        response_schema=ResponseSchema(
            name=ANSWER, json_schema=JSONSchema.model_validate(schema), strict=True
        ),
    )
    install()
    prompt = reading_prompt(question, labels, reply)
    text = (await reader.generate(prompt, config=config, cache=True)).completion
    word = read_fields(text)[0].answer or clean_reply(text)
    word = re.sub(r"^\W+|\W+$", "", word[:100])
    return next((choice for choice in choices if choice.casefold() == word.casefold()), NONE)
