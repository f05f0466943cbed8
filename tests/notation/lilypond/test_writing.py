"""Code in replies: fences as models write them, and what is added to the code, as LilyPond itself judges it."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from music_evals.notation.lilypond.compiler import compile_texts, lilypond_version
from music_evals.notation.lilypond.syntax import version_of
from music_evals.notation.lilypond.writing import MAX_CHARACTERS, VERSION, complete_code, extract_code

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CODE = "\\score {\n  { c'4 }\n  \\midi { }\n}\n"


@pytest.mark.parametrize(("reply", "code"), [*((reply, CODE) for reply in CASES["whole"]), *CASES["corners"]])
def test_the_first_block_is_the_code(reply: str, code: str) -> None:
    assert extract_code(reply.replace("$CODE", CODE).replace("$CRLF", CODE.replace("\n", "\r\n"))) == code


def test_a_long_reply_is_cut() -> None:
    assert extract_code("x" * (MAX_CHARACTERS + 5)) == "x" * MAX_CHARACTERS
    assert len(extract_code("```\n" + "x" * MAX_CHARACTERS + "\n```")) == MAX_CHARACTERS - 4


HOSTILE = ["`", "```", "```\n", " ", "\t`", "~~~ `", "\n ", '"', '\\version "', "#(", "%{", "#{", "#{ #(", "{", "\0"]


@pytest.mark.parametrize("part", [*HOSTILE, "\ud800"])
def test_hostile_replies_take_linear_time(part: str) -> None:
    assert "{ c4 }\n" in complete_code(extract_code("```\n{ c4 }\n" + part * (MAX_CHARACTERS // 10)))


@given(st.text(alphabet='`~ \nlc{}\\"', max_size=200))
@example("``` `\n```")
def test_what_is_taken_stands_in_the_reply(reply: str) -> None:
    code = extract_code(reply)
    assert code in reply
    if code != reply:
        assert "```" in reply or "~~~" in reply


@pytest.mark.parametrize(("code", "added"), CASES["added"])
def test_what_is_missing_is_added(code: str, added: str) -> None:
    assert complete_code(code) == complete_code(complete_code(code)) == added + code


@pytest.mark.parametrize("stated", ['"2.24.4"', '#"2.24.4"', '"2.24.3"', '"2.24.5"', '"2.25.0"'])
def test_only_the_published_version_is_lowered(stated: str) -> None:
    states = '"2.24.3"' if "2.24.4" in stated else stated
    code = '\\language "english" \\version {} {{ c4^"2.24.4" }} % not \\version "2.24.4"'
    assert complete_code(code.format(stated)) == code.format(states)


@pytest.mark.usefixtures("lilypond_runs")
def test_lilypond_takes_the_version_that_is_added() -> None:
    """It would refuse the published one, which is why that is not added."""
    published = f'\\version "2.24.4"\n{CODE}'
    refused, taken, bare = compile_texts([published, complete_code(published), complete_code(CODE)])
    assert refused.problem == "exit status 1: error: program too old: 2.24.3 (file requires: 2.24.4)"
    assert taken.succeeded
    assert taken.messages == bare.messages == ""
    assert taken.midi == bare.midi
    assert version_of(complete_code(CODE)) == VERSION == lilypond_version()
