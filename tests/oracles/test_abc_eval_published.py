"""``paper`` of ABC-Eval against a second implementation, of the README's description and LilyBench's formulas."""

import random
from itertools import combinations

import pytest
from inspect_ai.scorer import SampleScore

from music_evals.scorers.items import all_items, headline
from music_evals.scorers.score_tasks import JOINED
from tests.oracles import test_lilybench_published as lilybench

REPLIES = 200
TASKS = {"bar_count": "number", "bar_sequencing": "order", "error_detection": "bars", "emotion_recognition": "index"}
"""A task of each kind of answer; the other six answer with an index."""
WORDS = ("The answer is ", "", "index ", "Bars ", "```", "I think ", "**", "第", "0x", "none", "No error", "\n")


def runs_of_digits(text: str) -> list[str]:
    runs, run = [], ""
    for sign in f"{text} ":
        if sign.isdigit():
            run += sign
        elif run:
            runs.append(run)
            run = ""
    return runs


def longest(text: str) -> str:
    return max(runs_of_digits(text), key=len, default="")


def bars_of(digits: str) -> set[int]:
    """Bars without anything between them: 10 is the only number of two digits."""
    bars, place = set(), 0
    while place < len(digits):
        step = 2 if digits.startswith("10", place) else 1
        bars.add(int(digits[place : place + step]))
        place += step
    return bars


def value(kind: str, reply: str, right: str) -> float:
    """The score of a reply, from its description."""
    if kind == "number":
        return float((runs_of_digits(reply) or [""])[0] == right)
    if kind == "index":
        return float(next((sign for sign in reply if sign in "0123"), "") == right)
    if kind == "bars":
        named, wrong = bars_of(longest(reply)), {int(bar) for bar in right.split()}
        hits = len(named & wrong)
        precision, recall = (hits / len(named) if named else 0.0), hits / len(wrong)
        return 2 * precision * recall / (precision + recall) if hits else 0.0
    order = longest(reply)
    if sorted(order) != sorted(right):
        return 0.0
    signs = [
        (int(order[i]) - int(order[j])) * (int(right[i]) - int(right[j])) > 0
        for i, j in combinations(range(len(right)), 2)
    ]
    tau = sum(1 if agrees else -1 for agrees in signs) / len(signs)
    return (tau + 1) / 2


def right_answer(kind: str, draw: random.Random) -> str:
    if kind == "number":
        return str(draw.randint(4, 16))
    if kind == "index":
        return str(draw.randrange(4))
    if kind == "bars":
        return " ".join(map(str, sorted(draw.sample(range(1, 11), draw.randint(1, 5)))))
    digits = "012345"[: draw.choice((4, 5, 6))]
    return "".join(draw.sample(digits, len(digits)))


def reply_to(kind: str, right: str, draw: random.Random) -> str:
    joined = right.replace(" ", "")
    answer = draw.choice((joined, joined, right, right_answer(kind, draw).replace(" ", ""), joined[:-1], ""))
    return f"{draw.choice(WORDS)}{answer}{draw.choice(('', '.', ' or 3', ' bars', ', 7'))}"


@pytest.mark.parametrize("task", TASKS)
def test_replies_are_scored_as_described(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, kind = random.Random(task), TASKS[task]
    scores: list[SampleScore] = []
    expected = []
    state = lilybench.TaskState
    if kind == "bars":
        monkeypatch.setattr(
            lilybench, "TaskState", lambda *a, **k: state(*a, **{**k, "metadata": {**k["metadata"], JOINED: True}})
        )
    for number in range(REPLIES):
        right = right_answer(kind, draw)
        reply = reply_to(kind, right, draw)
        group = "1234" if kind == "index" else ""
        scores.append(lilybench.scored(task, reply, right, number, group))
        found = scores[-1].score.value
        expected.append(value(kind, reply, right))
        assert (float(found == "C") if isinstance(found, str) else found) == pytest.approx(expected[-1]), (reply, right)
    main = headline(all_items(scores))
    assert main
    assert main.value == pytest.approx(sum(expected) / REPLIES)
    assert 0.2 < main.value < 0.9
