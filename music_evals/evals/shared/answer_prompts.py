"""The parameter ``answer`` of all tasks with options or typed answers: which values a task takes,
and its samples.

- ``text``: the prompt asks for a form, and rules read the reply.
- ``schema``: the request carries a JSON schema of the answer, by Inspect's ``response_schema``.
- ``reasoned``: the same, with a field for reasoning ahead of the answer.
- ``likelihood``: the prompt is one text that ends just ahead of the answer, and one token is
  generated. The probabilities of the tokens that could begin it are the answer.
"""

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, Content, ContentText, GenerateConfig

from music_evals.benchmarks.prompts import load_answer_wording
from music_evals.scorers.readers.fields import FORM, SCHEMA, answer_schema
from music_evals.solvers.replies import AnswerForm
from music_evals.solvers.stimulus import parts_of, question_message

MAX_NEW_TOKENS = 1024
"""Most new tokens of a reply, of tasks that set no limit of their own: room for an answer with some
reasoning. Models that think need more, by ``--max-tokens``.
"""
MAX_LONG_ANSWER = 4096
"""The same, of long answers: beats and other times in seconds, notes, melodies, words."""
SCHEMA_TOKENS = 64  # new tokens that the object takes besides what the task allows
PROBABILITIES = GenerateConfig(temperature=0.0, max_tokens=1, logprobs=True, top_logprobs=20)
"""Settings of ``likelihood``: 20 tokens are the most that most servers tell."""
_LEAD = "Answer:"  # ahead of the answer, if the task's form of a reply has nothing ahead of it
_WITH_TEXT_ALONE = {
    "strategy": "logiclm",
    "twin": "completion",
    "chat": "continued",
    "protocol": "paper",
}
"""Parameter → the value with which replies are free text."""


def samples_answering(
    form: AnswerForm, params: Any, samples: Sequence[Sample], language: str
) -> list[Sample]:
    """Return the samples of a task with their prompts for a form of answers.

    Args:
        form: of the answers.
        params: the parameters of the task.
        samples: its samples for free text.
        language: of the questions, ``en`` or ``zh``.

    Raises:
        ValueError: another parameter or the kind of question needs free text.
    """
    if form == "text":
        return list(samples)
    for name, value in _WITH_TEXT_ALONE.items():
        if getattr(params, name, "") == value:
            raise ValueError(
                f"answer={form} is not valid with {name}={value}, whose replies are text; valid is "
                "text"
            )
    is_cot = getattr(params, "strategy", "") == "cot"
    if form != "likelihood":
        wording = load_answer_wording()["schema"][language]
        reasons = is_cot or form == "reasoned"
        return [ask_for_object(sample, wording, reasons=reasons) for sample in samples]
    if is_cot:
        raise ValueError(
            "answer=likelihood leaves no room to reason; with strategy=cot text and schema are "
            "valid"
        )
    return [end_ahead_of_answer(sample) for sample in samples]


def config_answering(form: AnswerForm, config: GenerateConfig) -> GenerateConfig:
    """Return the settings of generation for a form of answers, from those for free text."""
    if form == "likelihood":
        return config.merge(PROBABILITIES)
    if form == "text":
        return config
    own = config.max_tokens or 0
    limit = max(own, MAX_NEW_TOKENS) if form == "reasoned" else own
    return config.model_copy(update={"max_tokens": limit + SCHEMA_TOKENS})


def ask_for_object(sample: Sample, wording: Mapping[str, Any], *, reasons: bool) -> Sample:
    """Return a sample that also asks for a JSON object, the form of which the solver sends along.

    Args:
        sample: of a task.
        wording: the texts ``single``, ``reasoned``, ``batch`` and ``values`` in a language.
        reasons: whether the model may reason ahead of its answer.
    """
    message, facts = question_message(sample)
    metadata = sample.metadata or {}
    answers = facts.get("answers", ())
    types = ["choice" if answers else facts.get("answer_type", "text")]
    answers = answers or metadata.get("vocabulary", ())
    kind = "reasoned" if reasons else "single"
    if "questions" in metadata:
        types = [question["answer_type"] for question in metadata["questions"]]
    if len(types) > 1:
        kind = "batch"
    base = types[0].partition(":")[0]
    value = Template(wording["values"].get(base, wording["values"]["text"]))
    listed = ", ".join(f'"{answer}"' for answer in answers)
    text = Template(wording[kind]).substitute(
        value=value.substitute(answers=listed), count=len(types)
    )
    extended = message.model_copy(
        update={"content": _join([*parts_of(message), ContentText(text=text)])}
    )
    messages = [extended if other is message else other for other in sample.input]
    metadata = {**metadata, FORM: "schema", SCHEMA: answer_schema(types, answers, reasons=reasons)}
    return sample.model_copy(update={"input": messages, "metadata": metadata})


def end_ahead_of_answer(sample: Sample) -> Sample:
    """Return a sample with one message, whose text ends where the answer begins.

    Worked examples that were earlier turns become part of the text. A model needs no chat template
    for such a prompt.

    Raises:
        ValueError: the question has no options, or some that begin with the same word.
    """
    message, facts = question_message(sample)
    answers = facts.get("answers") or []
    if len(answers) < 2:
        raise ValueError(
            "answer=likelihood needs options to choose from; valid for this task are text, schema"
        )
    if len({answer.split()[0] for answer in answers}) < len(answers):
        raise ValueError(
            f"answer=likelihood compares first words, and options of {sample.id} begin alike; valid"
            " are text, schema, and prompts that give the options letters"
        )
    lead = facts.get("form", "$answer").partition("$answer")[0].strip() or _LEAD
    parts = [part for other in sample.input for part in _shown(other, lead)]
    if not message.text.rstrip().endswith((":", "：")):
        parts.append(ContentText(text=lead))
    # Its places were in the shorter text.
    asks = {name: fact for name, fact in facts.items() if name != "music"}
    metadata = {**(sample.metadata or {}), FORM: "likelihood"}
    prompt = ChatMessageUser(content=_join(parts), metadata={"asks": asks})
    return sample.model_copy(update={"input": [prompt], "metadata": metadata})


def _shown(message: Any, lead: str) -> list[Content]:
    """The parts of a message; the answer of a worked example stands behind the same words as the
    one to give.
    """
    if message.role != "assistant":
        return parts_of(message)
    return [ContentText(text=f"{lead} {message.text.removeprefix(lead).strip()}")]


def _join(parts: Sequence[Content]) -> str | list[Content]:
    """Join texts that follow each other, by blank lines; a text alone is no list."""
    joined: list[Content] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, ContentText) and isinstance(last, ContentText):
            joined[-1] = ContentText(text=f"{last.text.rstrip()}\n\n{part.text.strip()}")
        else:
            joined.append(part)
    only = joined[0] if len(joined) == 1 else None
    return only.text if isinstance(only, ContentText) else joined
