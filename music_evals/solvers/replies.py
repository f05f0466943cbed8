"""Asks the model for replies: again if a response is malformed.

A server may send a malformed response: no choices, content of a wrong type, a tool call without a
name. Inspect's providers then raise errors of Python or pydantic. The request is sent up to
`ATTEMPTS` times. The last error fails the sample, and the run goes on (see `error_limit` of
`music_evals.evals.shared.declared_tasks`).
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import click
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import store
from tenacity import RetryError

from music_evals.solvers.answer_forms import reply_config
from music_evals.solvers.door import no_reply, open_door

ATTEMPTS = 3
PAUSE = 2.0  # seconds before the second attempt; each further pause is twice as long
MENDED = (
    "replies_made_valid_unicode"  # where a sample's store counts the replies that were not valid
)
_T = TypeVar("_T")


@solver
def reply(cache: CachePolicy | bool | None = None) -> Solver:
    """Have the model reply once, as Inspect's ``generate()``."""
    config = {} if cache is None else {"cache": cache}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await append_reply(state, generate, **config)

    return solve


async def append_reply(state: TaskState, generate: Generate, **config: Any) -> TaskState:
    """Have Inspect generate a reply to a sample's chat and append it; a schema of the answer is
    sent along.
    """
    config |= reply_config(state)
    return await _readable(lambda: generate(state, **config))


async def ask_model(messages: list[ChatMessage], **arguments: Any) -> ModelOutput:
    """Return the model's reply to a chat; the arguments are those of Inspect's
    ``Model.generate``.
    """
    return await _readable(lambda: get_model().generate(messages, **arguments))


async def _readable(ask: Callable[[], Awaitable[_T]]) -> _T:
    """Ask until the provider can read the answer, or the attempts are used up."""
    for model in _models():
        open_door(model, _count)
    for attempt in range(ATTEMPTS):
        if attempt:
            await anyio.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            return await ask()
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            is_of_baseline = isinstance(error, click.ClickException)  # which cannot answer the task
            if is_of_baseline or attempt == ATTEMPTS - 1:
                raise
        except RetryError as error:
            raise no_reply(error) from error.last_attempt.exception()
    raise AssertionError


def _models() -> Iterator[Model]:
    """The model of the run and those in roles."""
    with suppress(ValueError):  # a person's page shows questions without a model
        yield get_model()
    for models in model_roles().values():
        yield from models if isinstance(models, list) else [models]


def _count() -> None:
    store().set(MENDED, store().get(MENDED, 0) + 1)
