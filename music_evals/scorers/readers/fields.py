"""Answers that take no rule: fields of a JSON object whose form a server guarantees, options by
their places, and options by the probabilities of the tokens that begin them.

The schema of an answer and its reading are here side by side. ``cannot tell`` is among the values
of each field.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp
from typing import Any

from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.cleaning import clean_reply, read_json
from music_evals.scorers.readers.verdicts import Verdict, judge_open, judge_taken, plain_text

FORM = "answer_form"
"""Key of a sample's metadata: ``schema`` or ``likelihood``; without it the reply is free text."""
SCHEMA = "answer_schema"  # key of a sample's metadata
ANSWER = "answer"  # the field of a single question
CANNOT_TELL = "cannot tell"

Schema = dict[str, Any]
"""A JSON schema."""

_MAX_REPLY = 200_000  # characters of an object
_ELEMENTS = {
    "order": "integer",
    "measures": "integer",
    "times": "number",
    "all_times": "number",
    "beats": "number",
    "pitches": "string",
    "sequence": "string",
    "set": "string",
    "voice": "string",
    "segments": "string",
}
"""Types of answers, and kinds of `scorers.answer_kinds`, that are lists; the type of an element."""
_OF_TAGS = ("labels", "list")  # kinds whose answers are tags of a vocabulary
_YES_NO = ("Yes", "No")
_WORD_STARTS = str.maketrans("Ġ▁", "  ")  # how tokenizers write the space ahead of a word


def answer_field(answer_type: str, answers: Sequence[str] = ()) -> Schema:
    """Return the JSON schema of an answer.

    Args:
        answer_type: ``choice``, one of `readers.checking.AnswerType`, a `readers.written.Kind`, or
            a kind of `scorers.answer_kinds`.
        answers: the options of a choice, as the prompt names them, or the tags that may be named.

    Example:
        >>> answer_field("choice", ["A", "B"])
        {'type': 'string', 'enum': ['A', 'B', 'cannot tell']}
    """
    base, _, argument = answer_type.partition(":")
    typed: Schema = {}
    if base == "number":
        typed = {"type": "number" if argument else "integer"}
    elif base in _ELEMENTS:
        typed = {"type": "array", "items": {"type": _ELEMENTS[base]}}
    elif base in _OF_TAGS:
        typed = {"type": "array", "items": {"type": "string", "enum": list(answers)}}
    if typed:
        return {"anyOf": [typed, {"type": "string", "enum": [CANNOT_TELL]}]}
    if answer_type == "yes_no":
        answers = _YES_NO
    return {"type": "string", "enum": [*answers, CANNOT_TELL]} if answers else {"type": "string"}


def answer_schema(
    types: Sequence[str], answers: Sequence[str] = (), *, reasons: bool = False
) -> Schema:
    """Return the JSON schema of an object with answers of these types; `reasons` adds a first field
    for reasoning.
    """
    fields = {"reasoning": {"type": "string"}} if reasons else {}
    for name, answer_type in zip(field_names(len(types)), types, strict=True):
        fields[name] = answer_field(answer_type, answers)
    return object_schema(fields)


def object_schema(fields: Mapping[str, Schema]) -> Schema:
    """Return the JSON schema of an object that has all these fields, in this order, and no
    other.
    """
    return {
        "type": "object",
        "properties": {**fields},
        "required": list(fields),
        "additionalProperties": False,
    }


def read_fields(reply: str, names: Sequence[str] = (ANSWER,)) -> list[Reading]:
    """Read fields of a JSON object; numbers stay as they are written, and commas join the elements
    of a list.

    Example:
        >>> read_fields('{"reasoning": "…", "answer": "B"}')
        [Reading(status='answered', answer='B', rule='the field “answer”', error='')]
        >>> [reading.status for reading in read_fields('{"1": [3, 7], "2": "cannot tell"}', ["1",
        ...     "2", "3"])]
        ['answered', 'refused', 'unreadable']
    """
    # A server may leave thoughts ahead of the object.
    content = read_json(reply[:_MAX_REPLY]) or read_json(clean_reply(reply)[:_MAX_REPLY])
    if not isinstance(content, dict):
        return [Reading("unreadable" if reply.strip() else "empty")] * len(names)
    return [_read_value(content.get(name), f"the field “{name}”") for name in names]


def _read_value(value: Any, rule: str) -> Reading:
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        value = ", ".join(value) or "none"
    if not isinstance(value, str):
        return Reading("unreadable", rule=rule)
    if plain_text(value) == CANNOT_TELL:
        return Reading("refused", rule=rule)
    if not value.strip():
        return Reading("empty", rule=rule)
    return Reading("answered", value.strip(), rule)


def judge_field(reply: str, right: str, judge: Callable[[str], Verdict]) -> Verdict:
    """Judge the answer in an object's field `ANSWER` as `judge` does an answer in text."""
    (reading,) = read_fields(reply)
    if reading.answer is None:
        return Verdict(reading, right)
    return judge(reading.answer)._replace(in_form=True)


def judge_place(
    place: int,
    options: Sequence[str],
    right: str,
    order: Sequence[int] | None = None,
    rule: str = "",
) -> Verdict:
    """Judge the option at a place in the order shown; each option with the right one's text is
    right.

    Args:
        place: of the chosen option.
        options: their texts in the order of the dataset.
        right: the right one, by its name in the dataset: a letter, an index, or a longer text.
        order: the places of the options as they were shown.
        rule: how the choice was read.

    Example:
        >>> judge_place(0, ["Lute", "Harp"], "B", [1, 0]).value
        1.0
    """
    taken = order[place] if order else place
    return judge_taken(Reading("answered", rule=rule), taken, options, right, plain_text)._replace(
        in_form=True
    )


def judge_fields(reply: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Judge the fields of an object with the answers to questions, as `judge_open` judges answers
    in text.

    Fields are named by the numbers of the questions; that of a single question is `ANSWER`.

    Example:
        >>> questions = [{"answer": "3/4", "answer_type": "metre"}, {"answer": "No",
        ...     "answer_type": "yes_no"}]
        >>> [one["verdict"] for one in judge_fields('{"1": "3/4", "2": "cannot tell"}', questions)]
        [1, 0]
    """
    readings = read_fields(reply, field_names(len(questions)))
    entries = []
    for question, reading in zip(questions, readings, strict=True):
        (entry,) = judge_open(reading.answer or "", [question])
        if reading.answer is None:
            entry["reading"] = reading.status
        entries.append(entry)
    return entries


def field_names(questions: int) -> list[str]:
    """Return the names of the fields with the answers to so many questions."""
    return [str(number) for number in range(1, questions + 1)] if questions > 1 else [ANSWER]


def option_probabilities(
    tokens: Iterable[tuple[str, float]], answers: Sequence[str]
) -> list[float]:
    """Add up the probabilities of the tokens that begin an answer and no other, such as "B" and "
    B".

    Args:
        tokens: the likeliest tokens with the logarithms of their probabilities.
        answers: the options as the prompt names them.

    Returns:
        A probability per answer. Their sum is below 1 by what the other tokens have.

    Example:
        >>> [round(one, 2) for one in option_probabilities([("A", -0.69), (" A", -1.61), ("The",
        ...     -2.3)], "AB")]
        [0.7, 0.0]
    """
    sums = [0.0] * len(answers)
    for token, logarithm in tokens:
        text = token.translate(_WORD_STARTS).strip()
        begun = [place for place, answer in enumerate(answers) if text and answer.startswith(text)]
        if len(begun) == 1:
            sums[begun[0]] += exp(logarithm)
    return sums
