"""The files of a folder as answers, through Inspect's models."""

import asyncio
from pathlib import Path

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)

from music_evals.baselines.asking import BaselineError
from music_evals.baselines.playback import FIRST_SEED, current_text


def request(attempt=1, **facts):
    asks = {
        "benchmark": "lilybench_generation",
        "task": "generation",
        "answer_type": "piece",
        "form": "$answer",
    }
    return ChatMessageUser(
        content="Write a piece.", metadata={"asks": {**asks, **facts, "attempt": attempt}}
    )


PROMPT = [ChatMessageSystem(content="You compose."), request()]
FILES = {
    "b/second.ly": '\\version "2.24.3"\n{ c\'2 }\n',
    "a.ly": '\\version "2.24.0"\n{ c\'1 }\n',
    "b/third.ly": "% one ``` and ````\n{ c'4 }",
}


needs_lilypond = pytest.mark.usefixtures("lilypond_runs")


def filled(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def playback(folder):
    return get_model("baseline/playback", folder=folder, memoize=False)


def answers(model, seeds, messages=PROMPT):
    async def ask():
        calls = [model.generate(messages, config=GenerateConfig(seed=seed)) for seed in seeds]
        return [output.completion for output in await asyncio.gather(*calls)]

    return asyncio.run(ask())


def test_without_seeds_calls_count_through_the_files_and_a_repair_is_the_same_again(
    tmp_path,
):
    model = playback(filled(tmp_path, FILES))
    found = answers(model, [None] * 4)
    assert [note for reply in found for note in ("c'1", "c'2", "c'4") if note in reply] == [
        "c'1",
        "c'2",
        "c'4",
        "c'1",
    ]
    again = [*PROMPT, ChatMessageAssistant(content=found[0]), request(attempt=2)]
    assert answers(model, [None, FIRST_SEED + 1], again) == [found[0]] * 2


@needs_lilypond
@pytest.mark.parametrize(
    "text", ["{ \\times 2/3 { c'4 d' e' } }\n", "Dear reader, there is no music here.\n"]
)
def test_what_cannot_be_converted_stays_as_it_is(text: str, tmp_path: Path) -> None:
    assert current_text(filled(tmp_path, {"a.ly": text}) / "a.ly") == text


def test_wrong_folders_and_conversations_are_refused(tmp_path):
    for folder, message in [
        (None, "needs a folder with LilyPond files: -M folder=DIR"),
        (tmp_path / "none", "is no folder"),
        (2024, "2024 is no folder"),
        (tmp_path, r"holds no LilyPond files \(\*\.ly\)"),
    ]:
        with pytest.raises(BaselineError, match=message):
            playback(folder)
    asked = request(benchmark="muse", task="syncopation", answer_type="choice")
    with pytest.raises(
        BaselineError, match="cannot answer muse syncopation; it answers lilybench_generation"
    ):
        answers(playback(filled(tmp_path, FILES)), [None], [asked])
    (tmp_path / "a.ly").write_bytes(b"%" * 4_000_001)
    with pytest.raises(
        BaselineError, match=r"baseline/playback: a\.ly is larger than 4,000,000 bytes"
    ):
        answers(playback(tmp_path), [FIRST_SEED])
