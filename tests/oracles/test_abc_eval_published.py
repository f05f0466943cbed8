"""``paper`` of ABC-Eval, its rows, prompts and scores, against a second implementation of the
README's description.

``ABC_EVAL_FILES=FOLDER`` compares the rows and prompts of the authors' files too.
"""

import asyncio
import csv
import os
import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, cast

import datasets
import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.abc_eval import dataset
from music_evals.evals import abc_eval
from music_evals.scorers.items import all_items, headline
from tests.abc_eval_dataset import write_files

REPLIES = 80
NOTTINGHAM, IRISHMAN = ("nottingham", "GPL-3.0"), ("irishman", "MIT")
TASKS = {
    "bar_count": ("Bar_Count_Estimation", *IRISHMAN, "number"),
    "metadata_qa": ("Metadata_QA", *NOTTINGHAM, "index"),
    "bar_sequencing": ("Bar_Sequencing", *NOTTINGHAM, "order"),
    "next_bar_prediction": ("Next_Bar_Prediction", *NOTTINGHAM, "index"),
    "metadata_prediction": ("Metadata_Prediction", *NOTTINGHAM, "index"),
    "music_captioning": ("Music_Captioning", *NOTTINGHAM, "index"),
    "composer_recognition": ("Composer_Recognition", "pianist8", "not stated", "index"),
    "genre_recognition": ("Genre_Recognition", "adl", "CC BY 4.0", "index"),
    "emotion_recognition": ("Emotion_Recognition", "emopia", "CC BY-NC-SA 4.0", "index"),
    "error_detection": ("Error_Detection", *IRISHMAN, "bars"),
}
"""The file of each task, its collection and licence, and the kind of its answers."""
FIELDS = {"key signature": "key", "time signature": "metre", "unit note length": "note_length"}
PROSE = (
    "The answer is ",
    "",
    "",
    "index ",
    "Bars ",
    "```",
    "I think ",
    "**",
    "第",
    "0x",
    "none",
    "No error",
    "\n",
)
ENDINGS = ("", "", ".", " or 3", " bars", ", 7", "。", " of 16", "²", "\n\n2")


class Expected(NamedTuple):
    """A row as its file and the README say."""

    piece: str
    licence: str
    field: str
    music: str
    options: list[str]
    answer: str


def letters(title):
    return re.sub("[^A-Za-z0-9]", "", title.removeprefix("Irishman_").removesuffix(".abc"))


def elements(text):
    """Split a list in quotes; a backslash hides a quote or a backslash, but before the closing
    quote it is music.
    """
    return [re.sub(r"\\(['\\])", r"\1", part) for part in text[2:-2].split("', '")]


def bars_of(digits):
    """Bars without anything between them: 10 is the only number of two digits."""
    return [int(bar) for bar in re.findall("10|.", digits)]


def expectation(folders, task):
    file, collection, licence, kind = TASKS[task]
    if not (path := folders[0] / f"{file}.csv").exists():
        pytest.skip(f"no {path.name}")
    rows = []
    for entry in read(path):
        answer = entry["target_index" if kind == "index" else "target"]
        right = " ".join(map(str, bars_of(answer))) if kind == "bars" else answer
        options = elements(entry["choices"]) if kind in ("index", "order") else []
        fields = [name for words, name in FIELDS.items() if words in entry["task_description"]]
        music = entry["score"] if "score" in entry else entry["input"]
        rows.append(
            Expected(
                f"{collection}/{letters(entry['title'])}",
                licence,
                "".join(fields),
                music,
                options,
                right,
            )
        )
    return rows


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


METADATA = [
    {},
    {
        "task_description": "time signature",
        "choices": "['2/4', '3/4', '6/8', '4/4']",
        "target_index": "1",
    },
    {
        "task_description": "unit note length",
        "choices": "['1', '1/2', '1/4', '1/8']",
        "target_index": "2",
    },
]
MORE_ROWS = {
    "Bar_Sequencing": [
        {"choices": "['c\\', '\\\nd', '\"Am\"e', 'f', 'g', 'a:']", "target": "035214"}
    ],
    "Error_Detection": [
        {"target": "467810", "error": "invalid_note_in_measure_3:A→T"},
        {"target": "12358"},
    ],
    "Metadata_QA": METADATA,
    "Metadata_Prediction": METADATA,
}
"""What the small files lack: a bar that ends in a backslash, six options, bars up to 10, the other
fields.
"""


def write_more_files(folder):
    source = write_files(folder)
    for file, *_ in TASKS.values():
        rows, entries = read(source / f"{file}.csv"), MORE_ROWS.get(file, [{"target_index": "3"}])
        with (source / f"{file}.csv").open("a", encoding="utf-8", newline="") as stream:
            csv.DictWriter(stream, list(rows[0])).writerows(
                {**rows[0], "title": "Air", **entry} for entry in entries
            )
    return source


FILES = os.environ.get("ABC_EVAL_FILES", "")
AUTHORS = pytest.param(
    "authors", marks=pytest.mark.skipif(not FILES, reason="ABC_EVAL_FILES names no folder")
)


@pytest.fixture(scope="module", params=["made", AUTHORS])
def folders(request, tmp_path_factory, lilypond_runs):
    """The files, and the dataset that is built from them."""
    root = tmp_path_factory.mktemp(request.param)
    source = Path(FILES) if request.param == "authors" else write_more_files(root / "csv")
    arguments = [
        "build",
        "abc_eval",
        "--source",
        str(source),
        "--allow-partial",
        "--out",
        str(root / "built"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "make_pieces", lambda *_: ([], {}))  # for strict rows
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return source, root / "built"


def samples(folders, task):
    made = getattr(abc_eval, task)(dataset=str(folders[1]), protocol="paper")
    return made, list(made.dataset)


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_those_of_the_files(task, folders):
    expected = expectation(folders, task)
    built = datasets.load_dataset(
        str(folders[1]), task, split="paper", cache_dir=str(folders[1].parent / "cache")
    )
    columns = ("piece", "licence", "kind", "score", "options", "answer")
    found = [
        Expected(*(row[column] for column in columns))
        for row in cast("list[dict[str, Any]]", built.to_list())
    ]
    found = [row._replace(piece="/".join(map(letters, row.piece.split("/", 1)))) for row in found]
    assert len({row["id"] for row in built}) == len(expected)
    different = [
        (number, *pair)
        for number, pair in enumerate(zip(expected, found, strict=True))
        if pair[0] != pair[1]
    ]
    assert not different, f"{len(different)} of {len(expected)} rows differ"


@pytest.mark.parametrize("task", TASKS)
def test_prompts_show_the_music_and_the_options(task, folders):
    expected = expectation(folders, task)
    frames = set()
    for row, sample in zip(expected, samples(folders, task)[1], strict=True):
        text = sample.input[-1].text  # type: ignore[union-attr]
        assert sample.target == row.answer
        assert text.count(f"Input: {row.music}") == 1
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(row.options))
        assert f"{options}\n\n" in text if options else "\n0. " not in text
        frames.add((text.replace(f"Input: {row.music}", "").replace(options, ""), row.field))
    # Nothing else of a row is shown: neither its title nor the column error.
    assert len(frames) == len({row.field for row in expected})


def value(kind, reply, right):
    """The score of a reply, from its description."""
    runs = "".join(sign if sign.isdecimal() else " " for sign in reply).split()
    longest = max(runs, key=len, default="")
    if kind == "number":
        return float((runs or [""])[0] == right)
    if kind == "index":
        return float(next((sign for sign in reply if sign in "0123"), "") == right)
    if kind == "bars":
        named, wrong = set(bars_of(longest)), {int(bar) for bar in right.split()}
        hits = len(named & wrong)
        precision, recall = (hits / len(named) if named else 0.0), hits / len(wrong)
        return 2 * precision * recall / (precision + recall) if hits else 0.0
    order, true = [int(digit) for digit in longest], [int(digit) for digit in right]
    if sorted(order) != sorted(true):
        return 0.0
    signs = [
        (order[i] - order[j]) * (true[i] - true[j]) > 0
        for i, j in combinations(range(len(true)), 2)
    ]
    tau = sum(1 if agrees else -1 for agrees in signs) / len(signs)
    return (tau + 1) / 2


def reply_to(right, rights, draw):
    """Write an answer that is right, nearly right or that of another row, with prose around; not
    always an answer.
    """
    joined = right.replace(" ", "")
    place = draw.randrange(len(joined))
    swapped = joined[:place] + joined[place + 1 : place + 2] + joined[place] + joined[place + 2 :]
    near = draw.choice((swapped, swapped, joined[:-1], joined[::-1], str(int(joined) + 1)))
    answer = draw.choice(
        (joined, joined, right, ", ".join(joined), near, draw.choice(rights).replace(" ", ""), "")
    )
    return f"{draw.choice(PROSE)}{answer}{draw.choice(ENDINGS)}"


def scored(made, sample, reply, number):
    """Score a reply with the task's own scorer."""
    (scorer,) = made.scorer  # type: ignore[misc]
    output, model = ModelOutput.from_content("mock/model", reply), ModelName("mock/model")
    about = {"choices": sample.choices, "metadata": sample.metadata}
    state = TaskState(
        model, number, 1, sample.input, [], Target(sample.target), output=output, **about
    )
    score = asyncio.run(scorer(state, state.target))
    assert isinstance(score, Score)
    return SampleScore(score=score, sample_id=number, sample_metadata=sample.metadata)


def figure(score):
    found = score.score.value
    return float(found == "C") if isinstance(found, str) else cast("float", found)


@pytest.mark.parametrize("task", TASKS)
def test_replies_are_scored_as_described(task, folders):
    rights = [row.answer for row in expectation(folders, task)]
    made, rows = samples(folders, task)
    draw, kind = random.Random(task), TASKS[task][-1]
    scores, expected, different = [], [], []
    for number in range(REPLIES):
        sample, right = rows[number % len(rows)], rights[number % len(rows)]
        reply = reply_to(right, rights, draw)
        scores.append(scored(made, sample, reply, number))
        found = figure(scores[-1])
        expected.append(value(kind, reply, right))
        if found != pytest.approx(expected[-1]):
            different.append((reply, right, found, expected[-1]))
    assert not different
    main = headline(all_items(scores))
    assert main
    assert main.value == pytest.approx(sum(expected) / REPLIES)
    assert 0.2 < main.value < 0.9


@pytest.mark.parametrize("task", TASKS)
def test_digits_of_other_scripts_are_digits_or_nothing(task, folders):
    expectation(folders, task)
    made, (sample, *_) = samples(folders, task)
    reply = str(sample.target).replace(" ", "").translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert figure(scored(made, sample, reply, 0)) in (0, 1)
