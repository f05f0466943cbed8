"""Asking the model: each reply is made valid Unicode where it arrives, and one that was cut is told from others.

A reply may hold lone surrogates, halves of a character that no UTF-8 has: a server may cut one in two. Such a reply
cannot be sent back, so they are written out as Inspect's logs have them (``\\ud83d``). The provider ``hf/`` says of no
reply that it was cut; one of as many tokens as were allowed counts as cut.
"""

from typing import Any, Final

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
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
    state.output = _told_cut(valid(state, state.output))
    if state.messages and state.messages[-1].role == "assistant" and not state.output.empty:
        state.messages[-1] = state.output.message
    return state


async def asked(state: TaskState, messages: list[ChatMessage], **asking: Any) -> ModelOutput:
    """Have the model reply to a chat, for a sample; the arguments are those of Inspect's ``Model.generate``."""
    return _told_cut(valid(state, await get_model().generate(messages, **asking)))


def valid(state: TaskState, output: ModelOutput) -> ModelOutput:
    """Return an output without lone surrogates; the sample's store counts those that had any (`MENDED`)."""
    found = output.model_dump()
    written_out = _written_out(found)
    if written_out == found:
        return output
    state.store.set(MENDED, state.store.get(MENDED, 0) + 1)
    return ModelOutput.model_validate(written_out)


def _told_cut(output: ModelOutput) -> ModelOutput:
    """Mark an output as cut at the limit of tokens if it has as many as were asked for."""
    asked = next((one.config for one in reversed(transcript().events) if isinstance(one, ModelEvent)), None)
    most = asked.max_tokens if asked else None
    if output.choices and output.stop_reason == "stop" and most and output.usage and output.usage.output_tokens >= most:
        output.choices[0].stop_reason = "max_tokens"
    return output


def _written_out(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_written_out(key): _written_out(one) for key, one in value.items()}
    return [_written_out(one) for one in value] if isinstance(value, list) else value
