"""Code in replies: fences as models write them, and additions to the code, as LilyPond itself
judges them.
"""

import json
import tomllib
from pathlib import Path

import pytest

from music_evals.notation.code_blocks import MAX_CHARACTERS, extract_code
from music_evals.notation.lilypond.writing import (
    compile_reply,
    complete_code,
    published_code,
    published_text,
)

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CODE = "\\score {\n  { c'4 }\n  \\midi { }\n}\n"
WHOLE = [
    reply.replace("$CODE", CODE).replace("$CRLF", CODE.replace("\n", "\r\n"))
    for reply in CASES["whole"]
]


def test_the_papers_reading_is_the_published_one():
    """Fences of all kinds, nested, unclosed and missing, with prose around, against
    `tests/oracles/data`.
    """
    path = Path(__file__).parents[2] / "oracles" / "data" / "lilybench_generation.json"
    pairs = dict(json.loads(path.read_text("utf-8"))["final_texts"])
    texts = {reply: published_text(published_code(reply)) for reply in pairs}
    assert texts == pairs
    assert set(WHOLE) <= set(pairs)
    assert sum(extract_code(reply).strip() != published_code(reply) for reply in WHOLE) > 3
    assert all("2.24.4" not in complete_code(text) for text in texts.values())


@pytest.mark.usefixtures("lilypond_runs")
def test_the_papers_rule_takes_any_midi_file():
    silent = "\\score { { r1 } \\midi { } }"
    strict, paper = compile_reply(silent), compile_reply(silent, "paper")
    assert (strict.problem, strict.midi, strict.has_notes) == (
        "the MIDI file holds no note",
        None,
        False,
    )
    assert (paper.problem, paper.has_notes) == (None, False)
    assert paper.code == f'\\version "2.24.4"\n\\language "nederlands"\n{silent}'
    assert (paper.midi or b"").startswith(b"MThd")
    assert len(compile_reply(" ", "paper").code) == 40, "which is long enough to be embedded"


HOSTILE = [
    "x```\n",
    "`",
    "```",
    "```\n",
    " ",
    "\t`",
    "~~~ `",
    "\n ",
    '"',
    '\\version "',
    "#(",
    "%{",
    "#{",
    "#{ #(",
]


@pytest.mark.parametrize("part", [*HOSTILE, "{", "\0", "\ud800"])
def test_hostile_replies_take_linear_time(part):
    reply = "```\n{ c4 }\n" + part * (MAX_CHARACTERS // 10)
    assert "{ c4 }\n" in complete_code(extract_code(reply))
    assert "{ c4 }" in published_text(published_code(reply))
    extract_code("x" + reply.replace("\n", ""))


@pytest.mark.usefixtures("lilypond_runs")
@pytest.mark.parametrize(
    ("version", "note"),
    [
        (
            "2.26.0",
            "it states LilyPond 2.26.0, newer than the 2.24.3 that judged it; exit status 1: ",
        ),
        (
            "latest\x1b",
            "the version that it states, 'latest\\x1b', is none of LilyPond; exit status 1: ",
        ),
        ("2.24.4", "exit status 1: "),
        ("2.18.2", "exit status 1: "),
    ],
)
def test_what_a_version_has_to_do_with_a_failure_is_said(version, note):
    wrong = compile_reply(f'```lilypond\n\\version "{version}"\n{{ \\notOfToday c4 }}\n```')
    assert (wrong.problem or "").startswith(
        f"{note}score.ly:2:" if "latest" not in version else note
    )
    right = compile_reply(f'```lilypond\n\\version "{version}"\n{CODE}```')
    assert (right.problem is None) == ("latest" not in version)
