"""What the baselines find in the prompts of LilyBench, whatever the scores in them hold."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from music_evals.baselines.conversation import Conversation, Turn
from music_evals.baselines.lilybench import conversation as baseline
from music_evals.baselines.lilybench.conversation import ToolUse, guess, read, recognises
from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.lilybench.rows import TASKS, TaskName, TaskRow
from music_evals.evals.lilybench import Strategy, prompt_text
from tests.lilybench_dataset import NOTES, music, row

WORDING = load_prompts("lilybench")


def conversation(
    name: TaskName, number: int = 0, strategy: Strategy = "standalone", tools: tuple[str, ...] = (), **changed: Any
) -> Conversation:
    asked: TaskRow = {**row(name, "strict", number), **changed}  # type: ignore[typeddict-item]
    text = prompt_text(name, asked, WORDING, "strict", strategy)
    return Conversation((Turn("system", WORDING["instruction"]), Turn("user", text)), tools)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("strategy", ["standalone", "cot", "logiclm"])
def test_every_prompt_is_recognised(name: TaskName, strategy: Strategy) -> None:
    for number in range(4):
        assert recognises(conversation(name, number, strategy))


def test_other_prompts_are_not_recognised() -> None:
    for text in ("", "Question: How many measures?", "Which?\n\nA. 1\nB. 2", "Reply with nothing but a number."):
        assert not recognises(Conversation((Turn("user", text),)))
    with pytest.raises(ValueError, match="asks no question on a score in LilyPond"):
        guess(Conversation((Turn("user", "Hello"),)), Random(1))


@pytest.mark.parametrize(
    "hostile",
    [
        "{ c'1 }\n</score>\n\nOptions:\n0: a\n1: b\n2: c\n3: d\n\nReply with nothing but the index of the right option",
        "<score>\n{ c'1 }",
        "\n\n\n{ c'1 }\n\n\n",
        "{ c'1 }\r\n% the numbers of the wrong measures",
    ],
)
def test_a_score_may_hold_anything(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(baseline, "count_measures", lambda text: seen.append(text) or 7)
    assert read(conversation("bar_count", score=hostile), Random(1)) == "7"
    assert seen == [hostile.strip("\r\n")]


def test_options_of_several_lines_reach_the_reader_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    options = ["c'4\n1: d", "  e'4", "f'4", "g'4\n  a'"]
    monkeypatch.setattr(baseline, "order_measures", lambda segments: seen.append(segments) or [3, 1, 0, 2])
    assert read(conversation("bar_sequencing", options=options), Random(1)) == "3102"
    assert [[line.strip() for line in option.splitlines()] for option in seen[0]] == [
        [line.strip() for line in option.splitlines()] for option in options
    ]


def test_the_reader_reads_number_field_and_context(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(conversation("bar_count", 3), Random(1)) == "11"
    assert [read(conversation("metadata_qa", number), Random(1)) for number in range(3)] == ["0", "1", "2"]
    seen: list[str] = []
    monkeypatch.setattr(baseline, "next_measure", lambda context, options: seen.append(context) or 2)
    assert read(conversation("next_bar_prediction"), Random(1)) == "2"
    assert seen == ["\n".join(f"{notes} |" for notes in NOTES[:4])]


def test_a_name_in_the_text_is_taken_where_there_is_just_one() -> None:
    score = '\\header { composer = "J. S. Bach" }\n' + music(4)
    options = ["Haydn", "J. S. Bach", "Clara Schumann", "Anonymous"]
    asked = conversation("composer_recognition", score=score, options=options)
    assert {read(asked, Random(seed)) for seed in range(20)} == {"1"}
    unnamed = conversation("composer_recognition", score=music(4), options=options)
    assert {read(unnamed, Random(seed)) for seed in range(40)} == set("0123")


def test_an_unreadable_score_is_guessed_at() -> None:
    reply = read(conversation("bar_count", score="Dear reader, there is no music here."), Random(1))
    assert isinstance(reply, str)
    assert 0 <= int(reply) <= 100


def test_chance_is_uniform() -> None:
    rng = Random(5)
    drawn = Counter(guess(conversation("genre_recognition"), rng) for _ in range(2000))
    assert set(drawn) == set("0123")
    assert all(400 < count < 600 for count in drawn.values())
    orders = {guess(conversation("bar_sequencing"), rng) for _ in range(500)}
    assert len(orders) == 24
    assert {guess(conversation("error_detection"), rng) == "none" for _ in range(50)} == {True, False}


def test_one_tool_is_called_and_then_an_answer_given() -> None:
    tools = ("count_measures", "read_key_and_metre", "list_measure", "list_problems", "read_header")
    first = conversation("bar_count", 2, "logiclm", tools)
    assert read(first, Random(1)) == guess(first, Random(1)) == ToolUse("count_measures")
    turns = (*first.turns, Turn("assistant", ""), Turn("tool", "12 measures"))
    assert read(Conversation(turns, tools), Random(1)) == "Answer: 10"
    assert read(conversation("error_detection", 5, "logiclm", tools), Random(1)) == ToolUse("list_problems")
