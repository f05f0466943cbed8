"""Reading answers to questions on scores, by both protocols: as models write them, and hostile
ones.
"""

from functools import partial
from typing import get_args

import pytest

from music_evals.scorers.readers.written import (
    Kind,
    measures_of,
    read_answer,
)

READERS = {kind: partial(read_answer, kind) for kind in get_args(Kind)}
read_number, read_index, read_order, read_measures = READERS.values()


def test_without_reasoning_the_paper_reads_from_the_beginning():
    """A base model goes on after its answer, with questions of its own."""
    assert read_index("2\n\nQuestion: …\nAnswer: 3", "paper").text == "2"
    assert read_index("2\n\nQuestion: …\nAnswer: 3").status == "unreadable"


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "Answer: ", "*", "none", "\0\u2028١٢٣²", "Answer:\n", "\n"],
    ids=lambda piece: repr(piece),
)
def test_hostile_replies_end(read, piece):
    reply = piece * (400_000 // len(piece)) + (
        "Answer:" if piece == "\n" else "x" if "\n" in piece else ""
    )
    for protocol in ("strict", "paper"):
        for reasoned in (False, True):
            answer = read(reply, protocol, reasoned=reasoned).text
            assert answer is None or len(answer) < 100


def test_a_right_answer_that_is_none_is_named():
    with pytest.raises(ValueError, match="'3,4' names no measures"):
        measures_of("3,4")
