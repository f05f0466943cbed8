"""Asking the model: each reply is made valid Unicode where it arrives.

A reply may hold lone surrogates, halves of a character that no UTF-8 has: a server may cut one in two. Such a reply
cannot be sent back, so they are written out as Inspect's logs have them (``\\ud83d``).
"""

from typing import Any, Final

from inspect_ai.model import CachePolicy, ChatMessage, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

MENDED: Final = "replies_made_valid_unicode"
"""Where a sample's store counts the replies that were not valid Unicode."""


@solver
def reply(cache: CachePolicy | bool | None = None) -> Solver:
    """Have the model reply once, as Inspect's ``generate()``."""
    config = {} if cache is None else {"cache": cache}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generated(state, generate, **config)

    return solve


async def generated(state: TaskState, generate: Generate, **config: Any) -> TaskState:
    """Have Inspect generate a reply to a sample's chat, which is appended to it."""
    state = await generate(state, **config)
    state.output = valid(state, state.output)
    if state.messages and state.messages[-1].role == "assistant" and not state.output.empty:
        state.messages[-1] = state.output.message
    return state


async def asked(state: TaskState, messages: list[ChatMessage], **asking: Any) -> ModelOutput:
    """Have the model reply to a chat, for a sample; the arguments are those of Inspect's ``Model.generate``."""
    return valid(state, await get_model().generate(messages, **asking))


def valid(state: TaskState, output: ModelOutput) -> ModelOutput:
    """Return an output without lone surrogates; the sample's store counts those that had any (`MENDED`)."""
    found = output.model_dump()
    written_out = _written_out(found)
    if written_out == found:
        return output
    state.store.set(MENDED, state.store.get(MENDED, 0) + 1)
    return ModelOutput.model_validate(written_out)


def _written_out(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_written_out(key): _written_out(one) for key, one in value.items()}
    return [_written_out(one) for one in value] if isinstance(value, list) else value
