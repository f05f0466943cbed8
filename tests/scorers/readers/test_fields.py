"""Fields of objects, options that are named exactly, and options by probabilities of tokens."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.readers.fields import (
    answer_field,
    judge_fields,
    judge_place,
    object_schema,
    option_probabilities,
    read_fields,
)

KEYS = ["D", "C", "G", "A"]  # options that look like letters of other options


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


@pytest.mark.parametrize(
    ("place", "right", "order", "value", "name"),
    [
        (0, "A", None, 1, "A"),
        (3, "A", None, 0, "D"),
        (0, "D", [3, 2, 1, 0], 1, "D"),
        (0, "A", [3, 2, 1, 0], 0, "D"),
        (1, "C", [0, 2, 1, 3], 1, "C"),
    ],
)
def test_an_option_is_known_by_its_place(place, right, order, value, name):
    verdict = judge_place(place, KEYS, right, order)
    assert (verdict.value, verdict.reading.answer) == (value, name)


def test_names_in_the_dataset_are_letters_indices_or_texts():
    sentences = ["Yes, the same.", "No, another."]
    assert judge_place(1, sentences, sentences[1]).reading.answer == sentences[1]
    index = judge_place(1, ["G", "G"], "0")
    assert (index.value, index.reading.answer) == (
        1,
        "1",
    )  # another option with the right one's text


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


def test_answers_to_questions_on_a_score_are_checked_by_their_types():
    questions = [
        {"answer": "C♯5", "answer_type": "pitch"},
        {"answer": "C4, E4", "answer_type": "pitches"},
        {"answer": "12", "answer_type": "number"},
        {"answer": "3, 4", "answer_type": "measures"},
        {"answer": "Yes", "answer_type": "yes_no"},
        {"answer": "G minor", "answer_type": "key"},
    ]
    reply = (
        '{"1": "C sharp 5", "2": ["E4", "C4"], "3": 12, "4": [3, 4], "5": "No", "6": "cannot tell"}'
    )
    entries = judge_fields(reply, questions)
    assert [entry["verdict"] for entry in entries] == [1, 1, 1, 1, 0, 0]
    assert [entry["reading"] for entry in entries] == ["answered"] * 5 + ["refused"]
    assert judge_fields('{"answer": "G minor"}', questions[-1:])[0]["verdict"] == 1
    assert {entry["reading"] for entry in judge_fields("1. C♯5", questions)} == {"unreadable"}


def test_probabilities_of_both_forms_of_a_letter_add_up():
    tokens = [
        ("A", 0.2),
        (" A", 0.1),
        ("ĠB", 0.3),
        ("▁B", 0.05),
        ("\nC", 0.01),
        ("The", 0.2),
        ("Answer", 0.1),
        ("", 0.04),
    ]
    sums = option_probabilities([(token, log(share)) for token, share in tokens], list("ABCD"))
    assert sums == pytest.approx([0.3, 0.35, 0.01, 0])


def test_a_token_that_begins_two_options_counts_for_none():
    answers = ["Yes, the same.", "No, another."]
    tokens = [(" Yes", log(0.5)), ("N", log(0.2)), ("no", log(0.1)), (" ", log(0.1))]
    assert option_probabilities(tokens, answers) == pytest.approx([0.5, 0.2])
    assert option_probabilities(
        [("M", log(0.5)), ("Maj", log(0.5))], ["Major", "Minor"]
    ) == pytest.approx([0.5, 0])
