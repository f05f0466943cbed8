"""Asks the model for replies: again if a response is malformed, and always as valid Unicode.

A server may send a malformed response: no choices, content of a wrong type, a tool call without a name. Inspect's
providers then raise errors of Python or pydantic. The request is sent up to `ATTEMPTS` times; the last error fails the
sample, and the run goes on (see `music_evals.evals.shared.tasks.MOST_ERRORS`).

A server may cut a character in two. The reply then has a lone surrogate, which UTF-8 cannot encode and which cannot be
sent back to the model. Such surrogates are written as in Inspect's logs (``\\ud83d``).
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import anyio
import click
from inspect_ai.model import CachePolicy, ChatMessage, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from music_evals.solvers.answer_forms import reply_config

ATTEMPTS: Final = 3
PAUSE: Final = 2.0  # seconds before the second attempt; each further pause is twice as long
_T = TypeVar("_T")
MENDED: Final = "replies_made_valid_unicode"  # where a sample's store counts the replies that were not valid


@solver
def reply(cache: CachePolicy | bool | None = None) -> Solver:
    """Have the model reply once, as Inspect's ``generate()``."""
    config = {} if cache is None else {"cache": cache}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await append_reply(state, generate, **config)

    return solve


async def append_reply(state: TaskState, generate: Generate, **config: Any) -> TaskState:
    """Have Inspect generate a reply to a sample's chat and append it; a schema of the answer is sent along."""
    config |= reply_config(state)
    state = await _readable(lambda: generate(state, **config))
    state.output = _valid(state, state.output)
    if state.messages and state.messages[-1].role == "assistant" and not state.output.empty:
        state.messages[-1] = state.output.message
    return state


async def ask_model(state: TaskState, messages: list[ChatMessage], **arguments: Any) -> ModelOutput:
    """Return the model's reply to a chat, for a sample; the arguments are those of Inspect's ``Model.generate``."""
    return _valid(state, await _readable(lambda: get_model().generate(messages, **arguments)))


async def _readable(ask: Callable[[], Awaitable[_T]]) -> _T:
    """Ask until the provider can read the answer, or the attempts are used up."""
    for attempt in range(1, ATTEMPTS):
        try:
            return await ask()
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            if isinstance(error, click.ClickException):  # a baseline cannot answer the task
                raise
        await anyio.sleep(PAUSE * 2 ** (attempt - 1))
    return await ask()


def _valid(state: TaskState, output: ModelOutput) -> ModelOutput:
    fields = output.model_dump()
    valid_fields = _without_surrogates(fields)
    if valid_fields == fields:
        return output
    state.store.set(MENDED, state.store.get(MENDED, 0) + 1)
    return ModelOutput.model_validate(valid_fields)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in value] if isinstance(value, list) else value
