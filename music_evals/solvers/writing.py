"""Asks for a piece of music; with several attempts, sends LilyPond's errors back to the model
between them.

Source: arXiv 2606.08722, section 3.1, for one attempt. The paper has no repairs.
"""

from string import Template

import anyio
import anyio.to_thread
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.writing import compile_reply
from music_evals.notation.midi.descriptors import Protocol
from music_evals.scorers.readers.cleaning import visible_reply
from music_evals.solvers.replies import append_reply

SEED = 1234  # for sampling on the first prompt; every further prompt has the next seed
_EPOCH = 10_000  # added to the seed per epoch, so that no two pieces have the same seed
_MAX_PROBLEM = 1_500  # characters of LilyPond's messages that the model is shown


@solver
def write_music(
    attempts: int = 1, repair: str = "$problem", protocol: Protocol = "strict"
) -> Solver:
    """Have the model write a piece; if it does not compile, send the errors and let the model try
    again.

    The sample's metadata ``index``, the prompt's place in the bank, is added to `SEED`.

    Args:
        attempts: most replies of the model; the scorer compiles the last one.
        repair: template of the message with the errors.
        protocol: how the replies are read.
    """
    limiter = anyio.CapacityLimiter(cores())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seed = SEED + state.metadata["index"] + _EPOCH * (state.epoch - 1)
        for attempt in range(1, attempts + 1):
            state = await append_reply(state, generate, seed=seed)
            if attempt == attempts:
                break
            reply = state.output.completion
            text = visible_reply(reply) if protocol == "strict" else reply  # as the scorer does
            written = await anyio.to_thread.run_sync(compile_reply, text, protocol, limiter=limiter)
            if written.problem is None or not written.is_measured:
                break
            problem = written.messages.strip()[:_MAX_PROBLEM]
            # If LilyPond was stopped, its messages do not contain the reason.
            if "error" not in problem:
                problem = "\n".join(filter(None, [written.problem, problem]))
            request = Template(repair).safe_substitute(problem=problem)
            asks = {**(state.user_prompt.metadata or {}).get("asks", {}), "attempt": attempt + 1}
            state.messages.append(ChatMessageUser(content=request, metadata={"asks": asks}))
        return state

    return solve
