"""One chat for all questions of a task: a question follows the earlier ones and the model's replies
to them.
"""

from collections.abc import Sequence
from random import Random

from inspect_ai.dataset import Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver

from music_evals.solvers.replies import append_reply
from music_evals.solvers.stimulus import messages_of

CHAT = "chat"
"""Key of a sample's metadata: facts of each question in the order of their messages, later with the
replies.
"""
_FACTS = ("options", "why", "variant")


def one_chat(samples: Sequence[Sample]) -> Sample:
    """Join samples that differ in their last message alone: what they share, then all their
    questions.
    """
    chats = [messages_of(sample) for sample in samples]
    messages = [*chats[0][:-1], *(chat[-1] for chat in chats)]
    questions = []
    for sample in samples:
        metadata = (sample.metadata or {}).items()
        facts = {name: fact for name, fact in metadata if name in _FACTS}
        questions.append({"id": str(sample.id), "target": sample.target, **facts})
    return Sample(id="chat", input=messages, target="", metadata={CHAT: questions})


@solver
def continued(seed: int) -> Solver:
    """Ask the questions of `one_chat` one after the other, in an order that is drawn anew for each
    epoch.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        questions = state.metadata[CHAT]
        first = len(state.messages) - len(questions)
        messages = state.messages[first:]
        del state.messages[first:]
        order = list(range(len(questions)))
        Random(f"{seed} {state.epoch}").shuffle(order)
        for place in order:
            state.messages.append(messages[place])
            state = await append_reply(state, generate)
            questions[place] |= {
                "reply": state.output.completion,
                "stop_reason": state.output.stop_reason,
            }
        return state

    return solve
