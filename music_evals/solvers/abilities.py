"""What a model can be asked: refusals before any sample is asked, where its provider has no way to ask.

The tables say what providers take: Inspect's by their source (version 0.3.285), Ollama by its documentation. Whether a
model behind a provider that passes sound, images or tools on can do anything with them is known to its server alone,
which says so when asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, runtime_checkable

import click
from inspect_ai.model import ChatMessage, ContentAudio, ContentImage, Model, get_model

TEXT_ONLY: Final = ("hf", "nnterp", "transformer_lens", "perplexity")
WITHOUT_AUDIO: Final = (*TEXT_ONLY, "anthropic", "azureai", "bedrock", "grok", "groq", "mistral", "ollama", "sagemaker")
WITHOUT_TOOLS: Final = ("nnterp", "transformer_lens", "perplexity")
CONSTRAINING: Final = ("vllm", "openai-api")
"""Providers whose servers may take ``structured_outputs``; others would fail, or worse, ignore it."""

_made_for: ContextVar[Model | None] = ContextVar("made_for", default=None)


class AbilityError(click.ClickException, ValueError):
    """A model's provider cannot ask what a task asks; Inspect's command line shows the message alone."""


@runtime_checkable
class Checking(Protocol):
    """A provider that itself knows what it can be asked."""

    def check_conversation(self, messages: list[ChatMessage]) -> None:
        """Raise a ValueError where it cannot answer a conversation."""


@contextmanager
def made_for(model: Model) -> Iterator[None]:
    """Say which model the tasks that are made within are for, where Inspect does not know yet."""
    token = _made_for.set(model)
    try:
        yield
    finally:
        _made_for.reset(token)


def model_at_hand() -> Model | None:
    """Return the model that a task is made for, as far as that is known.

    It is on a command line. A program may make a task ahead of naming a model, while Inspect still holds the model of
    an earlier set of evaluations.
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
    """Check that a model's provider can ask what a sample asks.

    Args:
        model: the model.
        messages: of a sample.
        tools: whether the model is to call tools.
        constrained: whether the server is to constrain the text while the model writes it.

    Raises:
        AbilityError: naming the model, what its provider cannot do, and what to do instead.
    """
    if isinstance(model.api, Checking):
        model.api.check_conversation(messages)
    provider = str(model).partition("/")[0]
    kinds = {type(part) for message in messages if isinstance(message.content, list) for part in message.content}
    if ContentAudio in kinds and provider in WITHOUT_AUDIO:
        raise AbilityError(
            f"{model} cannot be asked about sound: the provider {provider!r} takes "
            f"{'text' if provider in TEXT_ONLY else 'text and images'} only. Ask from notation (-T modality=midi), or "
            "take a model that hears, by google, openai, or a server of your own (vllm, openai-api)"
        )
    if ContentImage in kinds and provider in TEXT_ONLY:
        raise AbilityError(
            f"{model} cannot be asked about pages: the provider {provider!r} takes text only. Ask the task "
            "that gives the score as text (msu_textual), or take a model that sees, by anthropic, google, openai, or a "
            "server of your own (vllm, openai-api)"
        )
    if tools and provider in WITHOUT_TOOLS:
        raise AbilityError(
            f"{model} cannot call tools: the provider {provider!r} has none. Leave -T tools=native or "
            "-T strategy=logiclm out, or take a model by another provider"
        )
    if constrained and provider not in CONSTRAINING:
        raise AbilityError(
            "structured_output needs a server that takes 'structured_outputs', such as vLLM, by one of the "
            f"providers {', '.join(CONSTRAINING)}; the model's provider is {provider!r}"
        )
