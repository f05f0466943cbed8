"""Asking in an order that lets a server with prefix caching read what several prompts share only once."""

from importlib.metadata import version

import anyio
from inspect_ai.model import CachePolicy
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def shared_prefix(group: str, cache: bool = True) -> Solver:
    """Generate; of samples whose prompts begin alike the first goes ahead, and the others follow when it is answered.

    Without it, prompts that arrive together are all read in full: none finds the other's tokens in the cache yet.

    Args:
        group: name of the metadata that tells which samples share their beginning.
        cache: keep answers for a week and take them from there when the same is asked again of the same model with
            the same settings, so that a run that was cut off does not generate again what it had generated.

    Returns:
        The solver.
    """
    answered: dict[str, anyio.Event] = {}
    # Another version may word what is not in the prompt otherwise, the baselines' answers above all.
    policy = CachePolicy(expiry="1W", scopes={"music-evals": version("music-evals")}) if cache else False

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        name = str(state.metadata[group])
        # Whichever comes first leads, and not the first of the dataset: that one may not be part of this run.
        waiting = answered.get(name)
        if waiting is not None:
            await waiting.wait()
            return await generate(state, cache=policy)
        answered[name] = anyio.Event()
        try:
            return await generate(state, cache=policy)
        finally:
            answered[name].set()

    return solve
