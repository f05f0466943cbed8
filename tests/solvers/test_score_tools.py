"""Tools on a score: their texts, and errors that come back to the model in words."""

import asyncio
from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, execute_tools
from inspect_ai.tool import ToolCall, ToolError

from music_evals.notation.lilypond.structure import Structure, read_structure
from music_evals.solvers import score_tools
from music_evals.solvers.score_tools import (
    MAX_CALLS,
    MAX_LINES,
    ScoreTools,
    tell_header,
    tell_measure,
    tell_problems,
    tell_signatures,
)

SCORE = r"""\version "2.24.3" \header { title = "Air" }
<<
  \new Staff { \key d \minor \time 3/4 \partial 4 a'4 | d''2 cis''4 | \time 2/4 \key f \major f''4 r }
  \new Staff { \clef bass \key d \minor r4 | <d f>2. | f4 \grace g8 f }
>>
"""
pytestmark = pytest.mark.usefixtures("lilypond_runs")


def called(tools: ScoreTools, function: str, **arguments: object) -> ChatMessageTool:
    call = ToolCall(id="1", function=function, arguments=arguments)
    message = ChatMessageAssistant(content="", tool_calls=[call])
    (result,) = asyncio.run(execute_tools([message], tools.definitions())).messages
    assert isinstance(result, ChatMessageTool)
    return result


def test_what_is_told_of_a_score() -> None:
    read = read_structure(SCORE)
    assert tell_signatures(read).splitlines() == [
        "measure 0: time signature 3/4",
        "measure 2: time signature 2/4",
        "measure 0: key signature D minor",
        "measure 2: key signature F major",
    ]
    assert tell_measure(read, 1).splitlines() == [
        "time signature 3/4",
        "staff 1, voice 1, at 0: d'' lasting 1/2",
        "staff 1, voice 1, at 1/2: cis'' lasting 1/4",
        "staff 2, voice 2, at 0: d lasting 3/4",
        "staff 2, voice 2, at 0: f lasting 3/4",
    ]
    assert "staff 1, voice 1, at 1/4: rest lasting 1/4" in tell_measure(read, 2)
    assert "grace note g lasting 1/8" in tell_measure(read, 2)
    assert tell_problems(read) == "LilyPond has nothing to say against the text"
    for number in (-1, 3, 10**9):
        with pytest.raises(
            ToolError, match=f"there is no measure {number}; the measures are 0 to 2"
        ):
            tell_measure(read, number)


def test_a_header_is_one_line_a_field_and_bounded() -> None:
    assert tell_header({"title": "Menuet", "opus": "Anh.\n114"}) == "title: Menuet\nopus: Anh. 114"
    lines = tell_header({f"field{number}": "long " * 1000 for number in range(1000)}).splitlines()
    assert (len(lines), lines[-1]) == (MAX_LINES + 1, f"and {1000 - MAX_LINES} more lines")
    assert max(map(len, lines)) <= 200


def test_tools_read_the_score_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def counted(text: str, **how: Any) -> Structure:
        reads.append(text)
        return read_structure(text, **how)

    monkeypatch.setattr(score_tools, "read_structure", counted)
    tools = ScoreTools(SCORE)
    assert called(tools, "count_measures").text == "2 measures, and a pickup ahead of measure 1"
    assert "measure 0: key signature D minor" in called(tools, "read_key_and_metre").text
    assert "cis''" in called(tools, "list_measure", number=1).text
    assert called(tools, "read_header").text == "title: Air"
    assert reads == [SCORE]


def test_what_goes_wrong_is_an_error_of_the_tool() -> None:
    tools = ScoreTools(SCORE)
    for arguments, message in (
        ({"number": 7}, "there is no measure 7"),
        ({"number": "seven"}, "not of type 'integer'"),
        ({}, "number"),
    ):
        assert message in str(called(tools, "list_measure", **arguments).error)
    for text in ("nothing but words", "{ c'1 " * 3):
        assert "LilyPond" in str(called(ScoreTools(text), "count_measures").error)


def test_errors_in_the_music_are_listed_and_calls_are_limited() -> None:
    listed = called(
        ScoreTools("{ \\time 4/4 c'4 d' e' f' | c'4 zq4 e' f' | c'1 }"), "list_problems"
    )
    assert (listed.error, "zq" in listed.text or "error" in listed.text) == (None, True)
    tools = ScoreTools(SCORE)
    results = [called(tools, "read_header") for _ in range(MAX_CALLS + 1)]
    assert [result.error is None for result in results[:-1]] == [True] * MAX_CALLS
    assert results[-1].error is not None
    assert "give your answer now" in results[-1].error.message
