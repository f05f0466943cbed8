"""Refusals before any sample is asked, if a model's provider has no way to ask it.

The tables list what providers take: Inspect's by their source (version 0.3.285), Ollama by its documentation. Only the
server knows whether its model can use sound, images or tools; it says so at the first sample.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import click
from inspect_ai.model import ChatMessage, ContentAudio, ContentImage, Model, get_model

TEXT_ONLY: Final = ("hf", "nnterp", "transformer_lens", "perplexity")
WITHOUT_AUDIO: Final = (*TEXT_ONLY, "anthropic", "azureai", "bedrock", "grok", "groq", "mistral", "ollama", "sagemaker")
WITHOUT_TOOLS: Final = ("nnterp", "transformer_lens", "perplexity")
CONSTRAINING: Final = ("vllm", "openai-api")  # their servers may take ``structured_outputs``; others may ignore it

_made_for: ContextVar[Model | None] = ContextVar("made_for", default=None)


class AbilityError(click.ClickException, ValueError):
    """A model's provider cannot ask a task's questions; Inspect's command line shows the message alone."""


@contextmanager
def made_for(model: Model) -> Iterator[None]:
    """Set the model that tasks in this context are made for, before Inspect knows it."""
    token = _made_for.set(model)
    try:
        yield
    finally:
        _made_for.reset(token)


def model_at_hand() -> Model | None:
    """Return the model that a task is made for, if a command line or `made_for` names it.

    In a program, Inspect may still hold the model of an earlier evaluation.
    """
    if (model := _made_for.get()) or click.get_current_context(silent=True) is None:
        return model
    try:
        return get_model()
    except ValueError:  # Inspect's word for "no model"
        return None


def check_abilities(
    model: Model, messages: list[ChatMessage], *, tools: bool = False, constrained: bool = False
) -> None:
    """Raise an AbilityError if a model's provider cannot send a sample's messages, tools or constrained text."""
    if check_conversation := getattr(model.api, "check_conversation", None):  # the baselines check for themselves
        check_conversation(messages)
    provider = str(model).partition("/")[0]
    kinds = {type(part) for message in messages if isinstance(message.content, list) for part in message.content}
    problem = ""
    if ContentAudio in kinds and provider in WITHOUT_AUDIO:
        problem = (
            f"{model} cannot be asked about sound: the provider {provider!r} takes "
            f"{'text' if provider in TEXT_ONLY else 'text and images'} only. Ask from notation (-T modality=midi), or "
            "take a model that hears, by google, openai, or a server of your own (vllm, openai-api)"
        )
    elif ContentImage in kinds and provider in TEXT_ONLY:
        problem = (
            f"{model} cannot be asked about pages: the provider {provider!r} takes text only. Ask the task "
            "that gives the score as text (msu_textual), or take a model that sees, by anthropic, google, openai, or a "
            "server of your own (vllm, openai-api)"
        )
    elif tools and provider in WITHOUT_TOOLS:
        problem = (
            f"{model} cannot call tools: the provider {provider!r} has none. Leave -T tools=native or "
            "-T strategy=logiclm out, or take a model by another provider"
        )
    elif constrained and provider not in CONSTRAINING:
        problem = (
            "structured_output needs a server that takes 'structured_outputs', such as vLLM, by one of the "
            f"providers {', '.join(CONSTRAINING)}; the model's provider is {provider!r}"
        )
    if problem:
        raise AbilityError(problem)
