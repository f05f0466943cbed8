"""Refuses a task before its first sample if the provider cannot send sound, images, PDFs or a
schema of the answer.

``providers.toml`` says what providers send. Whether a model can use it is known to the server only,
which answers the first sample with an error.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
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

from music_evals.notation.extras import install, missing_packages
from music_evals.notation.toml_files import read_toml
from music_evals.solvers.stimulus import parts_of

PROVIDERS: Mapping[str, Sequence[str]] = read_toml(__package__, "providers.toml")
"""What providers can or cannot send → their names; see ``providers.toml``."""

_KEY = re.compile(r"[!-~]*")

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
    if problem := _key_problem(provider, name.partition("/")[0]):
        return problem
    runs = provider == "vllm" and (base_url or os.environ.get("VLLM_BASE_URL"))
    if (missing := missing_packages(provider)) and not runs:
        server = ", or name a server that runs in VLLM_BASE_URL" if provider == "vllm" else ""
        return f"models of {provider}/ need {', '.join(missing)}: {install(provider)}{server}"
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


def _key_problem(*words: str) -> str:
    for word in words:
        variable = "HF_TOKEN" if word == "hf" else f"{word.upper().replace('-', '_')}_API_KEY"
        if not _KEY.fullmatch(os.environ.get(variable, "")):
            return f"{variable} has a character that no key has; correct it, or unset it"
    return ""


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
    sends_schema = provider in PROVIDERS["with_schema"] or (
        provider == "bedrock" and "claude" in name
    )
    if form in ("schema", "reasoned") and not sends_schema:
        _refuse(
            f"answer={form} needs a provider that sends the schema and a server that keeps to it: "
            f"{provider!r} does not; valid are answer=text, and the providers "
            f"{', '.join(PROVIDERS['with_schema'])}"
        )
    if form != "likelihood":
        return
    if provider not in PROVIDERS["with_probabilities"]:
        raise AbilityError(
            f"answer=likelihood needs the probabilities of tokens, and the provider {provider!r} "
            "returns none; valid are answer=text, and the providers "
            f"{', '.join(PROVIDERS['with_probabilities'])}"
        )
    if provider == "hf" and not _has_template(model):
        raise AbilityError(
            f"{model} has no chat template, without which hf/ writes words around a prompt. Send it"
            " as it is: -M 'chat_template=\"{{ messages[0].content }}\"'"
        )


def _has_template(model: Model) -> bool:
    api = model.api
    own = getattr(getattr(api, "tokenizer", None), "chat_template", None)
    return getattr(api, "use_chat_template", None) is not False and bool(
        getattr(api, "chat_template", None) or own
    )


def check_abilities(model: Model, messages: list[ChatMessage], form: str = "text") -> None:
    """Raise an AbilityError if a model's provider cannot send a sample's messages.

    `form` is the form of answers, see `check_answer_form`.
    """
    check_answer_form(model, form)
    # the baselines check for themselves
    if check_conversation := getattr(model.api, "check_conversation", None):
        check_conversation(messages)
    provider = str(model).partition("/")[0]
    # Inspect creates the models of other providers before the task, with its own messages.
    if provider in ("none", "vllm"):
        _refuse(provider_problem(str(model), model.api.base_url))
    _check_parts(model, provider, set(map(type, chain.from_iterable(map(parts_of, messages)))))
    if provider in PROVIDERS["completing"] and len(messages) > 1:
        _refuse(
            f"{model} cannot be asked in several messages: the provider {provider!r} sends one "
            "text. Ask for probabilities (-T answer=likelihood), or take the provider of chats"
        )


def _check_parts(model: Model, provider: str, kinds: set[type]) -> None:
    """Check that a provider can send parts of these kinds."""
    if ContentAudio in kinds and provider in PROVIDERS["without_audio"]:
        takes = "text" if provider in PROVIDERS["text_only"] else "text and images"
        _refuse(
            f"{model} cannot be asked about sound: the provider {provider!r} takes {takes} only. "
            "Ask from notation (-T modality=midi), or take a model that hears, by google, openai, "
            "or a server of your own (vllm, openai-api)"
        )
    if kinds & {ContentImage, ContentDocument} and provider in PROVIDERS["text_only"]:
        _refuse(
            f"{model} cannot be asked about pages: the provider {provider!r} takes text only. Ask "
            "the task that gives the score as text (msu_textual), or take a model that sees, by "
            "anthropic, google, openai, or a server of your own (vllm, openai-api)"
        )
    if ContentDocument in kinds and provider in PROVIDERS["without_documents"]:
        _refuse(
            f"{model} cannot be asked about a PDF: the provider {provider!r} sends none, or its "
            "server takes none. Show the pages as images (-T pages=images), or take a model by "
            "anthropic, google, mistral, openai, or openai-api"
        )


def _refuse(problem: str) -> None:
    if problem:
        raise AbilityError(problem)
