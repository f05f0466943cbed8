"""The completion probe: what is shown, what is wanted, and how replies are read."""

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser

from music_evals.evals.shared.declared_tasks import question_metadata
from music_evals.solvers.completion import to_complete

OPTIONS = ["Handel", "J. S. Bach", "Rameau, the elder", "Vivaldi"]


def question(options, number=1):
    said = question_metadata(
        "ziqi",
        "comprehension",
        answer_type="choice",
        question="Who wrote it?",
        options=options,
        music=[[2, 10]],
    )
    message = ChatMessageUser(content="… X:1 tune", metadata=said)
    return Sample(
        id=f"q{number}", input=[message], target="B", metadata={"question": "q", "options": options}
    )


def test_half_of_the_options_is_shown_and_the_other_wanted():
    (sample, other) = to_complete(
        [question(OPTIONS), question(["yes", "no"]), question(OPTIONS[::-1], 2)]
    )
    assert sample.metadata is not None
    hidden = sample.metadata["hidden"]
    text = sample.input[-1].text  # type: ignore[union-attr]
    assert sorted(hidden + [option for option in OPTIONS if f"\n{option}" in text]) == sorted(
        OPTIONS
    )
    assert (len(hidden), sample.target) == (2, "\n".join(hidden))
    assert "Who wrote it?\n\nX:1 tune\n\n" in text
    assert other.id == "q2"
    with pytest.raises(ValueError, match="no question of this task has four options"):
        to_complete([question(["yes", "no"])])


def test_options_that_other_questions_have_are_not_asked_for():
    keys = [["C", "D", "E", "F"], ["F", "E", "D", "C"], ["D", "C", "F", "E"]]
    repeated = [question(options, number) for number, options in enumerate(keys)]
    for number, sample in enumerate(repeated):
        sample.input[-1].metadata["asks"]["question"] = f"Which key has the tune {number}?"  # type: ignore[union-attr,index]
    with pytest.raises(ValueError, match="four options that other questions do not have"):
        to_complete(repeated)
    (sample,) = to_complete([*repeated, question(OPTIONS, 9)])
    assert sample.id == "q9"
