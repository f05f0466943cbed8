"""Refuses a task before its first sample if the provider cannot send sound, images, PDFs, tools or
constraints.

The tables are taken from the source of Inspect's providers (version 0.3.285), from Ollama's
documentation, and from the source of vLLM and SGLang, whose servers know no part of the type
``file``. Whether a model can use what its provider sends is known to the server only, which answers
the first sample with an error.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import click
from inspect_ai.model import (
    ChatMessage,
    ContentAudio,
    ContentDocument,
    ContentImage,
    Model,
    get_model,
)

from music_evals.notation.extras import missing_packages

COMPLETING = (
    "vllm-completions",
    "openai-api-completions",
)  # they send one text without a chat template
TEXT_ONLY = ("hf", "nnterp", "transformer_lens", "perplexity", *COMPLETING)
WITHOUT_AUDIO = (
    *TEXT_ONLY,
    "anthropic",
    "azureai",
    "bedrock",
    "grok",
    "groq",
    "mistral",
    "ollama",
    "sagemaker",
)
WITHOUT_DOCUMENTS = (
    *(
        "azureai",
        "bedrock",
        "grok",
        "groq",
        "human",
        "llama-cpp-python",
        "ollama",
        "sagemaker",
        "sglang",
    ),
    "vllm",
)
WITHOUT_TOOLS = ("nnterp", "transformer_lens", "perplexity")
CONSTRAINING = (
    "vllm",
    "openai-api",
)  # their servers may take ``structured_outputs``; others may ignore it
WITH_SCHEMA = (
    *(
        "anthropic",
        "cloudflare",
        "fireworks",
        "google",
        "grok",
        "groq",
        "hf-inference-providers",
        "litellm-proxy",
    ),
    *(
        "llama-cpp-python",
        "meta",
        "mistral",
        "moonshot",
        "ollama",
        "openai",
        "openai-api",
        "openrouter",
        "perplexity",
    ),
    *("sagemaker", "sambanova", "sglang", "together", "vllm"),
)
"""Providers that send ``response_schema``, beside ``bedrock`` for models named Claude."""
WITH_PROBABILITIES = (
    *(
        "fireworks",
        "google",
        "grok",
        "hf",
        "llama-cpp-python",
        "nnterp",
        "ollama",
        "openai",
        "openai-api",
    ),
    *("openai-api-completions", "openrouter", "sagemaker", "sglang", "vllm", "vllm-completions"),
)
"""Providers that return ``top_logprobs``."""

_made_for: ContextVar[Model | None] = ContextVar("made_for", default=None)


class AbilityError(click.ClickException, ValueError):
    """A model's provider cannot ask a task's questions; Inspect's command line shows the message
    alone.
    """


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
    except ValueError:  # Inspect raises it if there is no model
        return None


def provider_problem(model: str, base_url: str | None = None) -> str:
    """Return in one line why a model of this name cannot be used here; an empty text if it can.

    Args:
        model: as Inspect names it, ``PROVIDER/NAME``.
        base_url: address of a running server, if there is one.

    Example:
        >>> provider_problem("baseline/chance"), provider_problem("none/none")[:20]
        ('', 'no model is named; -')
    """
    provider, _, name = model.partition("/")
    if provider == "none":
        return (
            "no model is named; --model PROVIDER/NAME is needed, such as openai/gpt-4o or "
            "baseline/chance"
        )
    runs = provider == "vllm" and (base_url or os.environ.get("VLLM_BASE_URL"))
    if (missing := missing_packages(provider)) and not runs:
        server = ", or name a server that runs in VLLM_BASE_URL" if provider == "vllm" else ""
        return (
            f"models of {provider}/ need {', '.join(missing)}: pip install "
            f"'music-evals[{provider}]'{server}"
        )
    if provider == "mockllm":
        import tiktoken

        try:
            tiktoken.get_encoding("o200k_base")
        except OSError:
            return (
                "mockllm/ needs a tokenizer from the network, which cannot be reached; "
                "baseline/chance needs none"
            )
    return _hub_problem(name) if provider == "hf" and not Path(name).expanduser().is_dir() else ""


def _hub_problem(name: str) -> str:
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        if isinstance(try_to_load_from_cache(name, "config.json"), str):
            return ""
        HfApi().model_info(name, timeout=10)
    except (RepositoryNotFoundError, HFValidationError):
        return (
            f"hf/{name}: it is no folder, and the Hub has no such model, or not for you (hf auth "
            "login)"
        )
    except Exception:  # any error of the network, by any library
        return (
            f"hf/{name}: it is no folder and not in the local cache, and the Hub cannot be reached"
        )
    return ""


def check_answer_form(model: Model, form: str) -> None:
    """Raise an AbilityError if a model's provider cannot give answers as ``schema`` or
    ``likelihood``.
    """
    provider, _, name = str(model).partition("/")
    problem = ""
    if (
        form == "schema"
        and provider not in WITH_SCHEMA
        and not (provider == "bedrock" and "claude" in name)
    ):
        problem = (
            "answer=schema needs a provider that sends the schema and a server that keeps to it: "
            f"{provider!r} does not; valid are answer=text, and the providers "
            f"{', '.join(WITH_SCHEMA)}"
        )
    elif form == "likelihood" and provider not in WITH_PROBABILITIES:
        problem = (
            f"answer=likelihood needs the probabilities of tokens, and the provider {provider!r} "
            "returns none; valid are answer=text, and the providers "
            f"{', '.join(WITH_PROBABILITIES)}"
        )
    elif form == "likelihood" and provider == "hf" and not _has_template(model):
        problem = (
            f"{model} has no chat template, without which hf/ writes words around a prompt. Send it"
            " as it is: -M 'chat_template=\"{{ messages[0].content }}\"'"
        )
    if problem:
        raise AbilityError(problem)


def _has_template(model: Model) -> bool:
    api = model.api
    own = getattr(getattr(api, "tokenizer", None), "chat_template", None)
    return getattr(api, "use_chat_template", None) is not False and bool(
        getattr(api, "chat_template", None) or own
    )


def check_abilities(
    model: Model,
    messages: list[ChatMessage],
    *,
    tools: bool = False,
    constrained: bool = False,
    form: str = "text",
) -> None:
    """Raise an AbilityError if a model's provider cannot send a sample's messages, tools or
    constrained text.

    `form` is the form of answers, see `check_answer_form`.
    """
    check_answer_form(model, form)
    if check_conversation := getattr(
        model.api, "check_conversation", None
    ):  # the baselines check for themselves
        check_conversation(messages)
    provider = str(model).partition("/")[0]
    # Inspect creates the models of other providers before the task, with its own messages.
    if provider in ("none", "vllm") and (
        problem := provider_problem(str(model), model.api.base_url)
    ):
        raise AbilityError(problem)
    kinds = {
        type(part)
        for message in messages
        if isinstance(message.content, list)
        for part in message.content
    }
    problem = ""
    if ContentAudio in kinds and provider in WITHOUT_AUDIO:
        problem = (
            f"{model} cannot be asked about sound: the provider {provider!r} takes "
            f"{'text' if provider in TEXT_ONLY else 'text and images'} only. Ask from notation (-T "
            "modality=midi), or take a model that hears, by google, openai, or a server of your "
            "own (vllm, openai-api)"
        )
    elif kinds & {ContentImage, ContentDocument} and provider in TEXT_ONLY:
        problem = (
            f"{model} cannot be asked about pages: the provider {provider!r} takes text only. Ask "
            "the task that gives the score as text (msu_textual), or take a model that sees, by "
            "anthropic, google, openai, or a server of your own (vllm, openai-api)"
        )
    elif ContentDocument in kinds and provider in WITHOUT_DOCUMENTS:
        problem = (
            f"{model} cannot be asked about a PDF: the provider {provider!r} sends none, or its "
            "server takes none. Show the pages as images (-T pages=images), or take a model by "
            "anthropic, google, mistral, openai, or openai-api"
        )
    elif provider in COMPLETING and len(messages) > 1:
        problem = (
            f"{model} cannot be asked in several messages: the provider {provider!r} sends one "
            "text. Ask for probabilities (-T answer=likelihood), or take the provider of chats"
        )
    elif tools and provider in WITHOUT_TOOLS:
        problem = (
            f"{model} cannot call tools: the provider {provider!r} has none. Leave -T tools=native "
            "or -T strategy=logiclm out, or take a model by another provider"
        )
    elif constrained and provider not in CONSTRAINING:
        problem = (
            "structured_output needs a server that takes 'structured_outputs', such as vLLM, by "
            f"one of the providers {', '.join(CONSTRAINING)}; the model's provider is {provider!r}"
        )
    if problem:
        raise AbilityError(problem)
