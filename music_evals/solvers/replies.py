"""Asking the model: each reply is made valid Unicode where it arrives.

A reply may hold lone surrogates, halves of a character that UTF-8 cannot encode: a server may cut a character in two.
Such a reply cannot be sent back, so surrogates are written out as Inspect's logs have them (``\\ud83d``).
"""

from typing import Any, Final

from inspect_ai.model import CachePolicy, ChatMessage, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

MENDED: Final = "replies_made_valid_unicode"  # where a sample's store counts the replies that were not valid


@solver
def reply(cache: CachePolicy | bool | None = None) -> Solver:
    """Have the model reply once, as Inspect's ``generate()``."""
    config = {} if cache is None else {"cache": cache}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await append_reply(state, generate, **config)

    return solve


async def append_reply(state: TaskState, generate: Generate, **config: Any) -> TaskState:
    """Have Inspect generate a reply to a sample's chat and append it."""
    state = await generate(state, **config)
    state.output = _valid(state, state.output)
    if state.messages and state.messages[-1].role == "assistant" and not state.output.empty:
        state.messages[-1] = state.output.message
    return state


async def ask_model(state: TaskState, messages: list[ChatMessage], **arguments: Any) -> ModelOutput:
    """Return the model's reply to a chat, for a sample; the arguments are those of Inspect's ``Model.generate``."""
    return _valid(state, await get_model().generate(messages, **arguments))


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
