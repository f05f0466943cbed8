"""Code in replies: fences as models write them, and additions to the code, as LilyPond itself
judges them.
"""

import io
import json
import tomllib
from pathlib import Path

import mido
import pytest

from music_evals.notation.code_blocks import MAX_CHARACTERS, extract_code
from music_evals.notation.lilypond.compiler import Compiled, compile_texts, lilypond_version
from music_evals.notation.lilypond.syntax.header import version_of
from music_evals.notation.lilypond.writing import (
    VERSION,
    compile_reply,
    complete_code,
    published_code,
    published_text,
    why_not,
)

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CODE = "\\score {\n  { c'4 }\n  \\midi { }\n}\n"
WHOLE = [
    reply.replace("$CODE", CODE).replace("$CRLF", CODE.replace("\n", "\r\n"))
    for reply in CASES["whole"]
]


@pytest.mark.parametrize(
    ("reply", "code"), [*((reply, CODE) for reply in WHOLE), *CASES["corners"]]
)
def test_a_block_is_the_code(reply, code):
    assert extract_code(reply) == code


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


def test_a_midi_file_must_hold_a_note():
    def file(*velocities):
        track = mido.MidiTrack(
            mido.Message("note_on", note=60, velocity=one, time=9) for one in velocities
        )
        out = io.BytesIO()
        mido.MidiFile(tracks=[mido.MidiTrack(), track]).save(file=out)
        return out.getvalue()

    assert why_not(Compiled(0, None, "", midi=(file(64, 0),))) is None
    for velocities in ((), (0, 0)):
        assert (
            why_not(Compiled(0, None, "", midi=(file(*velocities), file(64))))
            == "the MIDI file holds no note"
        )


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


def test_a_long_reply_is_cut():
    assert extract_code("{" + "x" * (MAX_CHARACTERS + 5)) == "{" + "x" * (MAX_CHARACTERS - 1)
    assert len(extract_code("```\n{" + "x" * MAX_CHARACTERS + "\n```")) == MAX_CHARACTERS - 4


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


@pytest.mark.parametrize(("code", "added"), CASES["added"])
def test_missing_commands_are_added(code, added):
    assert complete_code(code) == complete_code(complete_code(code)) == added + code


STATED = {
    "paper": {
        '"2.24.4"': True,
        '#"2.24.4"': True,
        '"2.24.3"': False,
        '"2.24.5"': False,
        '"2.26.0"': False,
    },
    "strict": {
        **{
            '"2.24.4"': True,
            '#"2.24.4"': True,
            '"2.24.5"': True,
            '"2.25.0"': True,
            '"2.26"': True,
            '#"3.0.1"': True,
        },
        **{
            '"2.24.3"': False,
            '"2.24"': False,
            '"2.18.2"': False,
            '"latest"': False,
            '"24.3"': False,
            '""': False,
        },
    },
}


@pytest.mark.parametrize("protocol", STATED)
def test_later_versions_are_lowered(protocol):
    """Under ``paper`` only the published one: the authors' LilyPond refuses those after it."""
    code = '\\language "english" \\version {} {{ c4^"2.24.4" }} % not \\version "2.24.4"'
    for stated, is_lowered in STATED[protocol].items():
        expected = '"2.24.3"' if is_lowered else stated
        assert complete_code(code.format(stated), protocol) == code.format(expected)


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


@pytest.mark.usefixtures("lilypond_runs")
def test_lilypond_takes_the_version_that_is_added():
    published = f'\\version "2.24.4"\n{CODE}'
    refused, taken, bare = compile_texts([published, complete_code(published), complete_code(CODE)])
    assert (
        refused.problem == "exit status 1: error: program too old: 2.24.3 (file requires: 2.24.4)"
    )
    assert taken.succeeded
    assert taken.messages == bare.messages == ""
    assert taken.midi == bare.midi
    assert version_of(complete_code(CODE)) == VERSION == lilypond_version()
