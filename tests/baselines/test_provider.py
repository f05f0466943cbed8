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
from music_evals.evals import lilybench, muse
from tests.harness import metrics, run
from tests.lilybench_dataset import write_small

LETTERS = {
    "benchmark": "ziqi",
    "task": "comprehension",
    "answer_type": "choice",
    "answers": list("ABCD"),
}


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


@pytest.mark.parametrize(
    ("benchmark", "task", "notation"),
    [
        *[
            ("lilybench", task, "lilypond")
            for task in ("error_detection", "bar_sequencing", "genre_recognition")
        ],
        *[
            ("lilybench_generation", "generation", None),
            ("ziqi", "generation", None),
            ("musictheorybench", "knowledge", None),
        ],
        *[("muse", "syncopation", "audio"), ("msu", "visual", "pages"), ("msu", "textual", None)],
    ],
)
def test_the_reader_names_what_it_cannot_read(benchmark, task, notation):
    asked = conversation(
        benchmark=benchmark, task=task, answer_type="choice", answers=["A"], notation=notation
    )
    with pytest.raises(
        BaselineError,
        match=f"cannot answer {benchmark} {task}.*; it reads MIDI text .*@textual.*baseline/chance",
    ):
        reply("reader", asked)


def test_chance_is_uniform():
    drawn = replies(guess, 400, **LETTERS, form="[[answer: $answer]]")
    assert set(drawn) == {f"[[answer: {letter}]]" for letter in "ABCD"}
    assert all(60 < count < 145 for count in drawn.values())
    assert (
        len(replies(guess, 300, benchmark="lilybench", task="bar_sequencing", answer_type="order"))
        == 24
    )
    measures = replies(
        guess, 100, benchmark="lilybench", task="error_detection", answer_type="measures"
    )
    assert 30 < measures["none"] < 70
    assert all(1 <= int(number) <= 100 for number in measures if number != "none")
    for answer in replies(
        guess,
        5,
        benchmark="msu",
        task="textual",
        answer_type="text",
        questions=[{}, {}],
        guess=["C", "No"],
    ):
        assert answer == "1. C\n2. No"


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


def test_the_commonest_answer_is_given_in_the_form_asked_for():
    assert set(replies(commonest, 3, **LETTERS, form="Final Answer: $answer", majority="C")) == {
        "Final Answer: C"
    }
    batch = [{"text": "Which clef?", "kind": "clef"}, {"text": "Why?", "kind": None}]
    asks = {"benchmark": "msu", "task": "textual", "answer_type": "text", "questions": batch}
    assert set(replies(commonest, 1, **asks, majority=["Alto clef", "Unknown"])) == {
        "1. Alto clef\n2. Unknown"
    }
    with pytest.raises(
        BaselineError, match="cannot answer ziqi comprehension, where no answer is commoner"
    ):
        replies(commonest, 1, **LETTERS)


def test_music_is_read_where_the_message_says_and_a_later_message_asks():
    text = "ticks_per_beat=480\n" + "".join(
        f"tick={tick} beat={tick // 480} {event} channel=0 note={pitch} velocity=80\n"
        for tick, event in ((0, "note_on"), (480, "note_off"))
        for pitch in (60, 63, 67)
    )
    text += "tick=480 beat=1 end_of_track"
    asks = {"benchmark": "muse", "task": "chord_quality", "form": "$answer", "notation": "midi"}
    shown = conversation(
        f"<<{text}>>", **asks, answer_type="symbols", music=[[2, 2 + len(text)]], identifiers=["a"]
    )
    assert reply("reader", shown) == "chord(a, [60, 63, 67])"
    question = ChatMessageUser(content="?", metadata={"asks": {**asks, "answer_type": "choice"}})
    assert reply("reader", [*shown, question]) == "B"


def test_the_wording_of_prompts_does_not_matter(tmp_path):
    for name, words in {
        "muse": (
            '[syncopation]\nstandalone = "Sag einen Buchstaben. $given"\nlogiclm = "Schreib auf: '
            '$given"\nfinal = "$finding Und nun?"\n[logiclm]\nrefine = "Noch einmal: $output"\n'
        ),
        "lilybench": (
            'score = "$score"\n[question]\nbar_count = "Wie viele Takte?"\n[reply]\nstandalone = '
            '"Antwort:"\n'
        ),
    }.items():
        (tmp_path / f"{name}.toml").write_text(words, encoding="utf-8")
    small, own = write_small(tmp_path / "small"), str(tmp_path / "muse.toml")
    tasks = [
        muse.syncopation(prompts=own),
        muse.syncopation(strategy="logiclm", prompts=own),
        lilybench.bar_count(dataset=small, prompts=str(tmp_path / "lilybench.toml")),
    ]
    found = [metrics(log) for log in run(tasks, tmp_path, limit=5)]
    assert found[0]["final_answer"]["accuracy"] == found[1]["final_answer"]["accuracy"] == 1
    assert found[1]["solver_decision"]["accuracy"] == 1
    assert found[2]["measure_count"]["exact"] == 1
