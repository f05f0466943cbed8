"""Fields of objects, options that are named exactly, and options by probabilities of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.readers.fields import (
    answer_field,
    object_schema,
    read_fields,
)


@pytest.mark.parametrize(
    ("reply", "status", "answer"),
    [
        ('{"answer": "B"}', "answered", "B"),
        ('{"reasoning": "A or C? </think> No.", "answer": " B "}', "answered", "B"),
        ('<think>B?</think>{"answer": "C"}', "answered", "C"),
        ('{"answer": "Cannot tell"}', "refused", None),
        ('{"answer": 24}', "answered", "24"),
        ('{"answer": [3, 7]}', "answered", "3, 7"),
        ('{"answer": ""}', "empty", None),
        ('{"answer": null}', "unreadable", None),
        ('{"answer": {"a": 1}}', "unreadable", None),
        ('{"answer": [["a"]]}', "unreadable", None),
        ('{"reasoning": "The third is', "unreadable", None),
        ("Final Answer: B", "unreadable", None),
        ('["B"]', "unreadable", None),
        ("[" * 100_000, "unreadable", None),
        ('{"answer": ' + "9" * 5000 + "}", "answered", "9" * 5000),
        ("", "empty", None),
        (" \n", "empty", None),
    ],
)
def test_a_field_is_read_as_it_is(reply, status, answer):
    (reading,) = read_fields(reply)
    assert (reading.status, reading.answer) == (status, answer)


@given(st.text(max_size=200))
def test_no_reply_makes_reading_fail(reply: str) -> None:
    assert len(read_fields(reply, ["1", "2"])) == 2


def test_schemas():
    assert answer_field("yes_no")["enum"] == ["Yes", "No", "cannot tell"]
    assert answer_field("number")["anyOf"][0] == {"type": "integer"}
    assert answer_field("order")["anyOf"][0] == {"type": "array", "items": {"type": "integer"}}
    assert answer_field("key") == {"type": "string"}
    schema = object_schema(
        {"reasoning": {"type": "string"}, "answer": answer_field("choice", ["A", "B"])}
    )
    assert list(schema["properties"]) == schema["required"] == ["reasoning", "answer"]
    assert schema["additionalProperties"] is False
