"""What the baselines answer, by what messages say that they ask and by nothing else."""

import asyncio
from collections import Counter

import pytest
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)

from music_evals.baselines.asking import BaselineError, read_conversation
from music_evals.baselines.chance import commonest, guess
from music_evals.baselines.muse import SOLVERS
from music_evals.benchmarks import load


def conversation(text="", **asks):
    return [
        ChatMessageSystem(content="Good day."),
        ChatMessageUser(content=text, metadata={"asks": asks}),
    ]


def reply(model, messages, seed=None, **arguments):
    asked = get_model(f"baseline/{model}", memoize=False, **arguments)
    return asyncio.run(asked.generate(messages, config=GenerateConfig(seed=seed))).completion


def replies(answer, count, **asks):
    return Counter(
        answer(read_conversation(conversation(f"question {number}", **asks)))
        for number in range(count)
    )


def test_models_and_arguments_that_there_are_not():
    for name, arguments, message in [
        ("player", {}, "baseline/chance, baseline/majority, baseline/reader, baseline/playback"),
        (
            "chance",
            {"path": "scores"},
            "baseline/chance knows no argument 'path'; it knows none",
        ),
        (
            "reader",
            {"folder": "scores"},
            "baseline/reader knows no argument 'folder'; it knows none",
        ),
        ("playback", {"path": "scores"}, "knows no argument 'path'; it knows folder"),
    ]:
        with pytest.raises(BaselineError, match=message):
            get_model(f"baseline/{name}", memoize=False, **arguments)


@pytest.mark.parametrize("model", ["chance", "majority", "reader"])
def test_other_conversations_are_refused(model):
    with pytest.raises(BaselineError, match="answer the tasks of music-evals only"):
        reply(model, [ChatMessageUser(content="Reply with one of A, B, C, D. Final Answer: X")])


def test_pieces_by_chance_differ_by_seed():
    asked = conversation(benchmark="lilybench_generation", task="generation", answer_type="piece")
    first, again, other = (reply("chance", asked, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert first.startswith('```lilypond\n\\version "2.24.3"\n')
    with pytest.raises(
        BaselineError, match="baseline/majority cannot answer lilybench_generation generation"
    ):
        reply("majority", asked)


@pytest.mark.parametrize("task", SOLVERS)
def test_lines_that_are_made_up_are_decided(task):
    solver = SOLVERS[task]
    identifiers = [
        f"Clip{number}" for number, _ in enumerate(next(iter(solver.examples.values())), 1)
    ]
    asks = {"benchmark": "muse", "task": task, "answer_type": "symbols", "identifiers": identifiers}
    decided = Counter(
        solver.solve(lines, identifiers).answer for lines in replies(guess, 60, **asks)
    )
    facts = {**load("muse").tasks, **load("muse_ten").tasks}[task]
    assert len(decided) == facts.options
    for answer in decided:
        assert answer is not None
        (lines,) = replies(commonest, 1, **asks, majority=answer)
        assert solver.solve(lines, identifiers).answer == answer
