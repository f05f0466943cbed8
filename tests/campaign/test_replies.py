"""Replies as no model should write them, to every scorer: a valid score comes back, and none is
left unmeasured.
"""

import asyncio
import csv
import json
import random
from pathlib import Path
from unittest.mock import patch

import pytest

from music_evals.notation.lilypond.compiler import Compiled
from music_evals.scorers.readers.votes import read_vote
from tests.notation.scores.test_reading import midi
from tests.scorers.every_scorer import CASES, PIECE

IN_CI, IN_FULL = 640, 24_000
LONG, LONGEST = 200_000, 5_000_000
DATA = Path(__file__).parents[1] / "scorers/readers/data"
NASTY = (
    *(
        "\0",
        "\x1b[31m",
        "\ud83d",
        "\udc00",
        "\u202e",
        "\ufeff",
        "\u0301",
        "\ufdfa",
        "\r",
        "\u2028",
        "\x85",
    ),
    *(
        "𝄞",
        "♯",
        "½",
        "①",
        "Ａ",
        "²",
        "٣",
        "\U0010ffff",
        "<think>",
        "</think>",
        "```",
        "```json\n",
        "~~~",
        "\\",
        '"',
        "$$",
    ),
    *(
        "\\boxed{",
        "{",
        "}",
        "[",
        "](",
        "<b>",
        "&#0;",
        "%s",
        "{0}",
        "#(",
        "#{",
        "##f",
        "\\markup",
        "\\score {",
        "<<",
        ">>",
    ),
    *(
        "Answer:",
        "A or B",
        "1e999",
        "-1",
        "9" * 5_000,
        "not ",
        "None",
        "NaN",
        "V7/V",
        "C#dim7/Gb",
        "一百零一",
        "zweiundzwanzig",
    ),
    *(
        "chord(Excerpt1, [60, 64, 67])",
        "chord(Excerpt1, [",
        "measures 1-99999",
        "1. \n2. \n",
        '{"answer": {"answer": ',
    ),
)
COMPILED = Compiled(
    0, None, "", (midi(480),), {"system.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\0\1" * 9}
)


def corpus():
    """Replies as models write them: the cells of the readers' own tests, and a piece."""
    cells = [
        cell
        for path in sorted(DATA.glob("*.csv"))
        for row in csv.DictReader(path.open(encoding="utf-8", newline=""))
        for name, cell in row.items()
        if name in ("reply", "answer")
    ]
    return [*cells, PIECE, f"Here it is:\n```lilypond\n{PIECE}\n```"]


def made(rng, real):
    """A reply, spoilt in up to four ways; one in some hundred is very long."""
    text = rng.choice(real)
    for _ in range(rng.randint(0, 4)):
        text = spoilt(text, rng, real)[:LONG]
    if rng.random() < 0.003:
        again, length = (
            rng.choice(("\n", " ", text[:9] or "a", rng.choice(NASTY))),
            rng.choice((LONG, LONGEST)),
        )
        text = (again * (length // len(again))) + text
    return text


def spoilt(text, rng, real):
    place, nasty, other = rng.randint(0, len(text)), rng.choice(NASTY), rng.choice(real)
    ways = (
        lambda: text[:place] + nasty + text[place:],
        lambda: text[:place] + nasty * rng.randint(2, 300) + text[place:],
        lambda: text[:place],
        lambda: f"{text}\n{other}",
        lambda: "\n".join(f"{number}. {rng.choice(real)}" for number in range(rng.randint(0, 15))),
        lambda: json.dumps({"answer": text, "1": [text, {"2": nasty}]}),
        lambda: "[" * rng.randint(1, 3_000) + text,
        lambda: f"```\n{text}",
        lambda: f"<think>{text}</think>{other}",
        lambda: f"$\\boxed{{\\text{{{text}}}}}$",
        lambda: (text + nasty) * rng.randint(1, 40),
        lambda: "".join(
            chr(rng.choice((rng.randrange(128), rng.randrange(0x110000)))) for _ in range(60)
        ),
        lambda: "".join(rng.sample(text, len(text))),
        lambda: text.swapcase(),
    )
    return rng.choice(ways)()


def is_valid(value):
    if isinstance(value, str):
        return value in "CIN"
    assert isinstance(value, int | float)
    return 0 <= value <= 1


def test_every_reply_gets_a_valid_score(counting, full):
    rng, real = random.Random(16), corpus()
    names = list(CASES)

    async def campaign():
        for number in range(IN_FULL if full else IN_CI):
            name, reply = names[number % len(names)], made(rng, real)
            with tally.case((name, number, reply[:200])):
                (score,) = await CASES[name].scores(reply)
                json.dumps(score.model_dump(), allow_nan=True)
                assert score.reason != "scoring_failed", score.explanation
                assert is_valid(score.value), score.value

    with (
        patch("music_evals.notation.lilypond.writing.compile_text", return_value=COMPILED),
        patch("music_evals.notation.lilypond.pictures.compile_text", return_value=COMPILED),
        counting("replies × scorers") as tally,
    ):
        asyncio.run(campaign())


def test_every_reply_of_a_judge_is_a_vote_or_none(counting, full):
    rng, real = random.Random(17), corpus()
    with counting("replies of judges") as tally:
        for number in range(4_000 if full else 60):
            reply = made(rng, real)
            with tally.case((number, reply[:200])):
                assert read_vote(reply) in (0, 1, None)


def test_replies_that_lilypond_gets(counting, full):
    pytest.importorskip(
        "lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'"
    )
    rng = random.Random(18)
    with counting("replies × LilyPond") as tally:
        for number in range(200 if full else 1):
            reply = made(rng, [PIECE])
            with tally.case((number, reply[:200])):
                (score,) = CASES["written_music"].score(reply)
                json.dumps(score.model_dump())
                assert score.value in (0, 1), score.explanation
