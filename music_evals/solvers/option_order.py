"""The order of a question's options, drawn anew for each question and epoch."""

from collections.abc import Sequence
from functools import wraps
from random import Random
from string import Template, ascii_uppercase

from inspect_ai.model import ChatMessage, Content, ContentText
from inspect_ai.solver import Generate, Solver, TaskState

from music_evals.solvers.stimulus import question_place

LINES = ("$letter. $text", "\n")
"""An option, and what stands between two options, in a prompt without music; there may be no
letters.
"""


LIST = "list"
"""In the place of what stands between options: they are written as one list, as Python prints it.
"""


def options_block(options: Sequence[str], form: Sequence[str]) -> str:
    """Write options with their letters: the form is a template of one option, and what stands
    between two.

    >>> options_block(["major", "minor"], ("($letter) $text", " "))
    '(A) major (B) minor'
    >>> options_block(["major", "minor"], ("$text", LIST))
    "['major', 'minor']"
    """
    template = Template(form[0])
    between = form[1]
    if between == LIST:
        return str(list(options))
    lettered = zip(ascii_uppercase, options, strict=False)
    return between.join(template.substitute(letter=letter, text=text) for letter, text in lettered)


def with_shuffled_options(solver: Solver, seed: int) -> Solver:
    """Have a solver shuffle the options of each sample first; scorers find the order under
    ``option_order``.

    The message that asks the question says in its metadata ``asks`` how its options are written
    (``option_form``, by default `LINES`). This is no solver of its own: Inspect copies and compares
    the whole state of every sample, with its sound, at both ends of one.
    """

    @wraps(solver)
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        options = state.metadata["options"]
        order = list(range(len(options)))
        Random(f"{seed} {state.sample_id} {state.epoch}").shuffle(order)
        place = question_place(state.messages)
        shuffled = [options[at] for at in order]
        state.messages[place] = _reordered(state.messages[place], options, shuffled)
        state.metadata["option_order"] = order
        return await solver(state, generate)

    return solve


def _reordered(
    message: ChatMessage, options: Sequence[str], shuffled: Sequence[str]
) -> ChatMessage:
    facts = (message.metadata or {})["asks"]
    for form in (facts.get("option_form", LINES), LINES, ("$text", "\n")):
        old = options_block(options, form)
        new = options_block(shuffled, form)
        if old not in message.text:
            continue
        content = message.content
        if isinstance(content, str):
            content = new.join(content.rsplit(old, 1))
        else:
            content = [_with_text(part, old, new) for part in content]
        metadata = {**(message.metadata or {}), "asks": {**facts, "options": list(shuffled)}}
        return message.model_copy(update={"content": content, "metadata": metadata})
    raise ValueError(
        "the options of a question are not in its prompt as one block of text; they cannot be "
        "shuffled"
    )


def _with_text(part: Content, old: str, new: str) -> Content:
    if not isinstance(part, ContentText):
        return part
    return part.model_copy(update={"text": new.join(part.text.rsplit(old, 1))})
