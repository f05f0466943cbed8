"""``paper`` of LilyBench against the outputs, in `data`, of a second implementation of the
published code.
"""

import asyncio
import json
import random
from functools import cache
from pathlib import Path

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from music_evals.datasets_builders.lilybench.emopia import Clip
from music_evals.datasets_builders.lilybench.emopia import make_rows as make_clip_rows
from music_evals.datasets_builders.lilybench.paper import corrupt, make_rows, split_bars
from music_evals.datasets_builders.lilybench.rows import (
    CORRUPTIONS,
    FIELDS,
    QUADRANT_LABELS,
    TASKS,
    Piece,
)
from music_evals.scorers import score_tasks
from music_evals.scorers.items import all_items, headline

MAKE = {
    "bar_count": score_tasks.measure_count,
    "bar_sequencing": score_tasks.measure_order,
    "error_detection": score_tasks.wrong_measures,
    "emotion_recognition": score_tasks.option_index,
}
"""Tasks and their scorers; the others have that of the last."""


@cache
def data(name):
    return json.loads((Path(__file__).parent / "data" / f"{name}.json").read_text("utf-8"))


# --- replies ---


def scored(task, reply, right, number, group):
    options = [f"Q{digit}" for digit in group] if task == "emotion_recognition" else []
    kind = group if task == "error_detection" else ""
    metadata = {"kind": kind, "task": task, "options": options, "piece": number}
    output = ModelOutput.from_content("mock/model", reply)
    model, about = ModelName("mock/model"), {"choices": options or None, "metadata": metadata}
    state = TaskState(model, number, 1, "", [], Target(right), output=output, **about)  # type: ignore[arg-type]
    score = asyncio.run(MAKE[task]("paper")(state, Target(right)))
    assert isinstance(score, Score)
    return SampleScore(score=score, sample_id=number, sample_metadata=metadata)


def details(one):
    return one.score.metadata or {}


def figures(task, scores):
    items = all_items(scores)
    main = headline(items)
    assert main
    if task == "bar_count":
        answers, rights = (
            [one.score.answer for one in scores],
            [details(one)["right_answer"] for one in scores],
        )
        estimates = score_tasks.count_estimates(answers, rights, len(scores), is_paper=True)
        names = data("lilybench_replies")["figures"][task]
        return {name: one.value for name, one in estimates.items() if name in names} | {
            "exact": main.value
        }
    if task == "error_detection":
        kinds = {
            kind: headline([item for item in items if item.stratum == kind]) for kind in CORRUPTIONS
        }
        return {f"{kind}/f1": one.value for kind, one in kinds.items() if one} | {
            "macro_f1": main.value
        }
    return {{"bar_sequencing": "tau", "emotion_recognition": "accuracy"}[task]: main.value}


@pytest.mark.parametrize("task", MAKE)
def test_replies_are_read_and_scored_as_published(task):
    replies = data("lilybench_replies")
    scores = []
    for number, (reply, right, group, parsed, value) in enumerate(replies[task]):
        scores.append(scored(task, reply, right, number, group))
        score = scores[-1].score
        number_value = float(score.value == "C") if isinstance(score.value, str) else score.value
        assert number_value == pytest.approx(value, abs=1e-6), (reply, right)
        assert score.answer in ([parsed] if parsed else [None, "none"]), reply
    assert figures(task, scores) == pytest.approx(replies["figures"][task])
    if task == "error_detection":  # a reply without digits names no bar
        assert {
            scored(task, reply, "none", 0, "clean").score.value
            for reply in ("none", "all is well", "")
        } == {1}


# --- texts and rows ---


@cache
def texts():
    """Texts with the outputs of the second implementation, and a composer and a style."""
    columns = [*data("lilybench_texts")["columns"], "composer", "style"]
    rows = enumerate(data("lilybench_texts")["texts"])
    return [dict(zip(columns, (*row, f"C{n % 9}", f"S{n % 7}"), strict=True)) for n, row in rows]


def without(text, spans, replacement=""):
    for start, end in reversed(spans):
        text = text[:start] + replacement + text[end:]
    return text


def corruptions(facts, kind):
    """All corrupted texts that the published code may make, with the number of the bar."""
    text, places = facts["text"], facts["separators"]
    if kind == "invalid_metadata":
        return (
            {(without(text, facts["keys"][:1], r"\key xx \nonsense"), 1)}
            if facts["keys"]
            else set()
        )
    if len(places) < 2 or (kind == "invalid_bar_duration" and not facts["metres"]):
        return set()
    foreign = [f" {note}4 " for note in facts["foreign"]]
    inserted = (
        foreign if kind == "accidental_outside_key" else data("lilybench_texts")["inserted"][kind]
    )
    return {
        (text[:place] + new + text[place:], bar)
        for bar, place in enumerate(places, 1)
        for new in inserted
    }


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_bars_and_corruptions_of_any_text_are_as_published(kind):
    count = 0
    for number, facts in enumerate(texts()):
        assert split_bars(facts["text"]) == facts["bars"]
        possible = corruptions(facts, kind)
        corrupted = {
            corrupt(facts["text"], kind, random.Random(f"{number} {seed}")) for seed in range(3)
        }
        assert corrupted <= possible if possible else corrupted == {None}, facts["text"]
        count += bool(possible)
    assert count > 50
    for facts in texts()[-6:]:  # short ones, in six keys
        assert {
            corrupt(facts["text"], kind, random.Random(seed)) for seed in range(300)
        } == corruptions(facts, kind)


def rows_of(task):
    """Rows with the facts on their texts."""
    pieces = [Piece(str(n), facts["text"], facts) for n, facts in enumerate(texts())]
    return [
        (row, texts()[int(row["piece"])])
        for row in make_rows(task, pieces, 3, dict.fromkeys(TASKS, 90))
    ]


def right(row):
    return row["options"][int(row["answer"])]


def test_rows_on_bars_are_as_published():
    for row, facts in rows_of("bar_count"):
        assert (row["score"], row["answer"]) == (facts["text"], str(len(facts["bars"])))
    for row, facts in rows_of("bar_sequencing"):
        assert [row["options"][int(digit)] for digit in row["answer"]] == facts["bars"][:4]
    for row, facts in rows_of("next_bar_prediction"):
        *context, answer = facts["bars"][:5]
        assert (row["score"], right(row)) == ("\n".join(context), answer)
        assert row["options"].index(answer) == int(row["answer"])
        wrong, rest = [*row["options"]], facts["bars"][5:]
        wrong.remove(answer)
        for option in wrong:
            rest.remove(option)  # each occurs there as often


@pytest.mark.parametrize("task", ["metadata_qa", "metadata_prediction"])
def test_rows_on_metadata_are_as_published(task):
    def value_of(facts, kind):
        value = facts["key" if kind == "key" else "metre"]
        return value.partition("/")[2] if value and kind == "note_length" else value

    rows = rows_of(task)
    for row, facts in rows:
        assert right(row) == value_of(facts, row["kind"])
        assert len(set(row["options"])) == 4
        assert set(row["options"]) <= {value_of(text, row["kind"]) for text in texts()}
        spans = facts["keys" if row["kind"] == "key" else "metres"]
        assert row["score"] == (
            facts["text"] if task == "metadata_qa" else without(facts["text"], spans)
        )
    assert {row["kind"] for row, _ in rows} == set(FIELDS)


def test_rows_on_headers_are_as_published():
    for row, facts in rows_of("music_captioning"):
        assert (right(row), row["score"]) == (
            facts["title"],
            without(facts["text"], facts["title_strings"]),
        )
        assert set(row["options"]) <= {text["title"] for text in texts()}
    for row, facts in rows_of("composer_recognition"):
        assert (right(row), row["score"]) == (
            facts["composer"],
            without(facts["text"], facts["composer_strings"]),
        )
    for row, facts in rows_of("genre_recognition"):
        assert (right(row), row["score"]) == (facts["style"], facts["text"])


def test_rows_with_errors_are_as_published():
    rows = rows_of("error_detection")
    kinds = [row["kind"] for row, _ in rows]
    assert kinds == [kind for kind in CORRUPTIONS for _ in range(len(rows) // 5)]
    assert len({row["piece"] for row, _ in rows}) == len(rows) > 50
    for row, facts in rows:
        assert len(facts["bars"]) >= 4
        assert (row["score"], int(row["answer"])) in corruptions(facts, row["kind"])


def test_rows_on_clips_are_as_published():
    clips = [
        Clip(f"Q{1 + number % 4}_song{number}_0", 1 + number % 4, str(number).encode())
        for number in range(80)
    ]
    convert = lambda midi: f'% Lily was here from x.mid\n\\version "2"{" c4 |" * int(midi)} d'  # noqa: E731
    rows, _ = make_clip_rows("paper", clips, 1, per_quadrant=15, convert=convert)
    assert len(rows) == 60
    for row in rows:
        head, count = f"% Lily was here from {row['piece']}.mid\n\\version", int(row["piece"][7:-2])
        bars = [f'{head} "" c4', *["c4"] * 15][:count]  # by hand, with strings emptied
        assert row["score"] == (" | ".join(bars) + " |\n" if bars else f'{head} "2" d')
        assert sorted(row["options"]) == list(QUADRANT_LABELS)
        assert right(row) == row["piece"][:2]
    assert len({tuple(row["options"]) for row in rows}) > 10
