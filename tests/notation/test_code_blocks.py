"""Pieces in replies: which block, or which lines, a careful reader would take for the piece."""

import tomllib
from pathlib import Path

import pytest

from music_evals.notation.code_blocks import MAX_CHARACTERS, extract_code

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TEXTS, REPLIES = TABLE["texts"], TABLE["reply"]


def test_names_are_unlike_and_texts_are_used():
    assert len({entry["name"] for entry in REPLIES}) == len(REPLIES) >= 40
    assert {entry["piece"] for entry in REPLIES} <= {*TEXTS, ""}


PARTS = (
    "<answer>",
    "</answer>",
    "~~~\n",
    "```ly\n",
    "```\n",
    "```ly ",
    "``",
    ">>\n",
    "{",
    "}\n",
    "x =\n",
    " \n",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("start", ["", "{ c4 }\n", "```ly\n", "x", "x ```"])
def test_hostile_replies_take_linear_time(part, start):
    reply = f"{start}{part * (MAX_CHARACTERS // len(part) - 9)}\\"
    assert len(extract_code(reply)) <= MAX_CHARACTERS
