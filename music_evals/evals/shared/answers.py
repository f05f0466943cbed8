"""The parameter ``answer`` of all tasks with options or typed answers: which values a task takes, and its samples."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig

from music_evals.benchmarks.prompts import load_answer_wording
from music_evals.solvers.answer_forms import (
    PROBABILITIES,
    SCHEMA_TOKENS,
    AnswerForm,
    ask_for_object,
    end_ahead_of_answer,
)

_WITH_TEXT_ALONE: Final[Mapping[str, str]] = {
    "strategy": "logiclm",
    "twin": "completion",
    "chat": "continued",
    "protocol": "paper",
}
"""Parameter → the value with which replies are free text."""


def samples_answering(
    form: AnswerForm, params: Any, samples: Sequence[Sample], language: str, *, reasons: bool
) -> list[Sample]:
    """Return the samples of a task with their prompts for a form of answers.

    Args:
        form: of the answers.
        params: the parameters of the task.
        samples: its samples for free text.
        language: of the questions, ``en`` or ``zh``.
        reasons: whether the model may reason ahead of its answer.

    Raises:
        ValueError: another parameter or the kind of question needs free text.
    """
    if form == "text":
        return [*samples]
    for name, value in _WITH_TEXT_ALONE.items():
        if getattr(params, name, "") == value:
            raise ValueError(f"answer={form} is not valid with {name}={value}, whose replies are text; valid is text")
    if form == "schema":
        wording = load_answer_wording()["schema"][language]
        return [ask_for_object(sample, wording, reasons=reasons) for sample in samples]
    if getattr(params, "strategy", "") == "cot":
        raise ValueError("answer=likelihood leaves no room to reason; with strategy=cot text and schema are valid")
    return [end_ahead_of_answer(sample) for sample in samples]


def config_answering(form: AnswerForm, config: GenerateConfig) -> GenerateConfig:
    """Return the settings of generation for a form of answers, from those for free text."""
    if form == "likelihood":
        return config.merge(PROBABILITIES)
    if form == "schema" and config.max_tokens:
        return config.model_copy(update={"max_tokens": config.max_tokens + SCHEMA_TOKENS})
    return config
