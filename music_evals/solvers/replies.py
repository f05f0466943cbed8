"""Asks the model for replies, in the form of answers: free text, an object by a schema, or the
probabilities of the options.

A sample's metadata say which, under ``answer_form``, and hold its JSON schema under
``answer_schema``; see `music_evals.evals.shared.answer_prompts`.
"""

from typing import Any, Literal

from inspect_ai.model import CachePolicy, ResponseSchema, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from music_evals.solvers.abilities import check_answer_form

AnswerForm = Literal["text", "schema", "reasoned", "likelihood"]


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

    Raises:
        AbilityError: the model's provider cannot give such answers.
    """
    form = state.metadata.get("answer_form", "text")
    if form != "text":
        check_answer_form(get_model(), form)
    if form not in ("text", "likelihood"):
        config["response_schema"] = ResponseSchema(
            name="answer",
            json_schema=JSONSchema.model_validate(state.metadata["answer_schema"]),
            strict=True,
        )
    return await generate(state, **config)
