"""``paper`` of ABC-Eval against a second implementation, of the README's description and LilyBench's formulas.

It runs on made files; with ``ABC_EVAL_FILES=FOLDER`` on those of the authors that are there.
"""

import asyncio
import csv
import os
import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from inspect_ai import Task
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.evals import abc_eval
from music_evals.scorers.items import all_items, headline
from tests.abc_eval_dataset import NOTES, TUNES, write_files

FILES = {
    "Bar_Count_Estimation": ("bar_count", "MIT"),
    "Bar_Sequencing": ("bar_sequencing", "GPL-3.0"),
    "Composer_Recognition": ("composer_recognition", "not stated"),
    "Emotion_Recognition": ("emotion_recognition", "CC BY-NC-SA 4.0"),
    "Error_Detection": ("error_detection", "MIT"),
    "Genre_Recognition": ("genre_recognition", "CC BY 4.0"),
    "Metadata_Prediction": ("metadata_prediction", "GPL-3.0"),
    "Metadata_QA": ("metadata_qa", "GPL-3.0"),
    "Music_Captioning": ("music_captioning", "GPL-3.0"),
    "Next_Bar_Prediction": ("next_bar_prediction", "GPL-3.0"),
}
"""File → its sub-task, and the licence of the collection that it is from."""
KINDS = {"bar_count": "number", "bar_sequencing": "order", "error_detection": "bars"}
REPLIES = 200  # of each sub-task
WORDS = ("The answer is ", "", "index ", "Bars ", "```", "I think ", "**", "第", "0x", "none", "Of 4, ", "\n")


class Row(NamedTuple):
    """A row of a file: what is shown, what can be chosen, the right answer, and what must not be shown."""

    music: str
    options: list[str]
    right: str
    hidden: str


def listed(text: str) -> list[str]:
    """The texts of a list as Python prints it, but with line ends and backslashes as they are."""
    texts, text_now, quote = [], "", ""
    for place, sign in enumerate(text):
        if quote and sign == quote and text[place + 1 : place + 4] in ("]", ", '", ', "'):
            texts.append(text_now.replace(f"\\{quote}", quote))
            quote = ""
        elif quote:
            text_now += sign
        elif sign in "'\"":
            quote, text_now = sign, ""
    return texts


def rows_of(folder: Path, name: str) -> list[Row]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    rows = []
    for record in records:
        cells = dict(zip(header, record, strict=True))
        task = FILES[name][0]
        music = cells["input"] if "input" in cells else cells["score"]
        options = [] if task in ("bar_count", "error_detection") else listed(cells["choices"])
        right = cells["target"] if task in KINDS else cells["target_index"]
        rows.append(Row(music, options, right, cells.get("error", "")))
    return rows


def write_more(folder: Path) -> Path:
    """Append rows to the made files, so that all answers and numbers of options occur."""
    write_files(folder)
    draw = random.Random(3)
    for name, (task, _) in FILES.items():
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file))
        with (folder / f"{name}.csv").open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            for number in range(12):
                tune = TUNES[f"Tune {'ABCDEFGH'[number % 8]}"]
                cells = {"title": f"Tune {'ABCDEFGH'[number % 8]}", "task_description": "Identify the time signature."}
                cells |= {"score": tune, "input": tune.rpartition("|")[0], "choices": "null", "target_index": ""}
                bars = draw.sample(range(1, 11), draw.randint(1, 5))
                order = "".join(draw.sample("012345"[: 4 + number % 3], 4 + number % 3))
                match KINDS.get(task):
                    case "number":
                        cells["target"] = str(draw.randint(4, 16))
                    case "order":
                        cells |= {"choices": str(draw.sample(NOTES, len(order))), "target": order}
                    case "bars":
                        cells |= {"target": "".join(map(str, sorted(bars))), "target_index": str(len(bars))}
                        cells |= {"error": f"x_in_measure_{bars[0]}:secret→H", "choices": "[1, 2, 3, 4]"}
                    case _:
                        cells |= {"choices": str(draw.sample(NOTES, 4)), "target": "", "target_index": str(number % 4)}
                writer.writerow([cells[column] for column in header])
    return folder


class Published(NamedTuple):
    """The files, and the dataset that the command builds from them."""

    files: Path
    dataset: Path

    def task(self, name: str) -> Task:
        make: Callable[..., Task] = getattr(abc_eval, FILES[name][0])
        return make(dataset=str(self.dataset), protocol="paper", media=0)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("abc_eval")
    files = Path(os.environ.get("ABC_EVAL_FILES") or write_more(folder / "files"))
    command = ["build", "abc_eval", "--source", str(files), "--allow-partial", "--out", str(folder / "dataset")]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return Published(files, folder / "dataset")


@pytest.mark.usefixtures("lilypond_runs")
@pytest.mark.parametrize("name", FILES)
def test_rows_and_prompts_are_the_files_rows(name: str, published: Published) -> None:
    if not (published.files / f"{name}.csv").exists():
        pytest.skip("the files that are there lack this one")
    rows, task = rows_of(published.files, name), published.task(name)
    (table,) = (published.dataset / FILES[name][0]).glob("paper*.parquet")
    licences = pq.read_table(table, columns=["licence"])["licence"].to_pylist()
    assert licences == [FILES[name][1]] * len(rows)
    assert len(task.dataset) == len(rows)
    for row, sample in zip(rows, task.dataset, strict=True):
        right = row.right
        if name == "Error_Detection":
            right = " ".join(str(bar) for bar in sorted(bars_of(row.right)))
        assert (sample.choices or [], sample.target) == (row.options, right)
        prompt = sample.input[-1].text  # type: ignore[union-attr]
        assert row.music.strip("\r\n") in prompt
        if row.options:
            assert "\n".join(f"{place}. {option}" for place, option in enumerate(row.options)) in prompt
        if row.hidden:
            assert row.hidden not in prompt


def runs_of_digits(text: str) -> list[str]:
    runs, run = [], ""
    for sign in f"{text} ":
        if sign.isdigit():
            run += sign
        elif run:
            runs.append(run)
            run = ""
    return runs


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
    longest = max(runs_of_digits(reply), key=len, default="")
    if kind == "bars":
        named, wrong = bars_of(longest), bars_of(right)
        hits = len(named & wrong)
        precision, recall = (hits / len(named) if named else 0.0), hits / len(wrong)
        return 2 * precision * recall / (precision + recall) if hits else 0.0
    if sorted(longest) != sorted(right):
        return 0.0
    signs = [
        (int(longest[i]) - int(longest[j])) * (int(right[i]) - int(right[j])) > 0
        for i, j in combinations(range(len(right)), 2)
    ]
    tau = sum(1 if agrees else -1 for agrees in signs) / len(signs)
    return (tau + 1) / 2


def reply_to(row: Row, others: list[Row], draw: random.Random) -> str:
    right = row.right
    answer = draw.choice((right, right, right[::-1], draw.choice(others).right, right[:-1], f"{right}0", ""))
    return f"{draw.choice(WORDS)}{answer}{draw.choice(('', '.', ' or 3', ' bars', ', 7'))}"


@pytest.mark.usefixtures("lilypond_runs")
@pytest.mark.parametrize("name", FILES)
def test_replies_are_scored_as_described(name: str, published: Published) -> None:
    if not (published.files / f"{name}.csv").exists():
        pytest.skip("the files that are there lack this one")
    task_name = FILES[name][0]
    draw, kind = random.Random(name), KINDS.get(task_name, "index")
    rows, task = rows_of(published.files, name), published.task(name)
    (scorer,) = task.scorer if isinstance(task.scorer, list) else [task.scorer]
    scores: list[SampleScore] = []
    expected = []
    for number in range(REPLIES):
        row, sample = rows[number % len(rows)], task.dataset[number % len(rows)]
        reply = reply_to(row, rows, draw)
        score = asyncio.run(scored(scorer, sample, reply))  # type: ignore[arg-type]
        scores.append(
            SampleScore(score=score, sample_id=number, sample_metadata={**(sample.metadata or {}), "piece": number})
        )
        found = score.value
        expected.append(value(kind, reply, row.right))
        assert (float(found == "C") if isinstance(found, str) else found) == pytest.approx(expected[-1]), (reply, row)
    main = headline(all_items(scores))
    assert main
    assert main.value == pytest.approx(sum(expected) / REPLIES)
    assert 0.2 < main.value < 0.9


async def scored(scorer: Scorer, sample: Any, reply: str) -> Score:
    output, model = ModelOutput.from_content("mock/model", reply), ModelName("mock/model")
    facts = {"choices": sample.choices, "metadata": sample.metadata}
    state = TaskState(model, sample.id, 1, sample.input, [], Target(sample.target), output=output, **facts)
    score = await scorer(state, Target(sample.target))
    assert isinstance(score, Score)
    return score
