"""The form of a model's answers: free text, an object by a schema, or the probabilities of the
options.

A sample's metadata say which, under ``answer_form``, and hold its JSON schema under
``answer_schema``; see `music_evals.evals.shared.answer_prompts`.
"""

from typing import Any, Literal

from inspect_ai.model import ResponseSchema, get_model
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema

from music_evals.solvers.abilities import check_answer_form

AnswerForm = Literal["text", "schema", "reasoned", "likelihood"]


def reply_config(state: TaskState) -> dict[str, Any]:
    """Return the settings of generation that the form of a sample's answer needs.

    Raises:
        AbilityError: the model's provider cannot give such answers.
    """
    form = state.metadata.get("answer_form", "text")
    if form == "text":
        return {}
    check_answer_form(get_model(), form)
    if form == "likelihood":
        return {}
    schema = JSONSchema.model_validate(state.metadata["answer_schema"])
    return {"response_schema": ResponseSchema(name="answer", json_schema=schema, strict=True)}
