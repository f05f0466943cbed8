"""Writing a piece of music, with LilyPond's word on it in between where more than one attempt is allowed.

Source: arXiv 2606.08722, section 3.1, for one attempt. Repairs are beyond the paper.
"""

from string import Template
from typing import Final

import anyio
import anyio.to_thread
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from music_evals.notation.lilypond.slots import cores
from music_evals.notation.lilypond.writing import Written, compile_reply
from music_evals.notation.midi.descriptors import Protocol
from music_evals.solvers.replies import generated

SEED: Final = 1234  # of the first prompt's sampling; each further prompt has the next
_EPOCH: Final = 10_000  # apart, so that no two pieces are sampled alike
MAX_PROBLEM: Final = 1_500  # characters of LilyPond's messages that the model is shown


@solver
def write_music(attempts: int = 1, repair: str = "$problem", protocol: Protocol = "strict") -> Solver:
    """Have the model write a piece; where LilyPond does not take it, tell it why by `repair` and let it try again.

    The sample's metadata has the prompt's place in the bank as ``index``; sampling is seeded with `SEED` and that.
    The last of the `attempts` is not compiled here; `protocol` says how the others are read.
    """
    one_a_core = anyio.CapacityLimiter(cores())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seed = SEED + state.metadata["index"] + _EPOCH * (state.epoch - 1)
        for attempt in range(1, attempts + 1):
            state = await generated(state, generate, seed=seed)
            if attempt == attempts:
                break
            written = await anyio.to_thread.run_sync(
                compile_reply, state.output.completion, protocol, limiter=one_a_core
            )
            if written.problem is None or not written.is_measured:
                break
            told = Template(repair).safe_substitute(problem=told_problem(written))
            asks = (state.user_prompt.metadata or {}).get("asks", {})
            state.messages.append(ChatMessageUser(content=told, metadata={"asks": {**asks, "attempt": attempt + 1}}))
        return state

    return solve


def told_problem(written: Written) -> str:
    """Word why a piece did not compile: LilyPond's messages, cut to `MAX_PROBLEM`, or the reason where it left none.

    Example:
        >>> told_problem(Written("{ c4 ", None, "stopped after 15 s of CPU time", ""))
        'stopped after 15 s of CPU time'
    """
    messages = written.messages.strip()[:MAX_PROBLEM]
    # What stopped LilyPond is in its messages only where LilyPond itself gave up.
    return messages if messages and "error" in messages else "\n".join(filter(None, [written.problem, messages]))
