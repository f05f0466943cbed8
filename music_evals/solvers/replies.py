"""Asks the model for replies."""

from typing import Any

from inspect_ai.model import CachePolicy
from inspect_ai.solver import Generate, Solver, TaskState, solver

from music_evals.solvers.answer_forms import reply_config


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
    return await generate(state, **config)
