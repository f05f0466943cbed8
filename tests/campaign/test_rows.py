"""Datasets with hostile values: each is asked, or refused with an error that names the row, before
a model is asked.

The checksums are right, as in a dataset on the Hub that somebody made so.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inspect_ai import Task

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import DatasetError, file_sha256
from music_evals.datasets_builders.dataset_io.provenance import data_file
from music_evals.evals import lilybench, lilybench_generation, msu, muse, musictheorybench, ziqi
from music_evals.evals.shared.parameters import ParameterError
from tests.commands.cli import run as command
from tests.fake_hub import write_small
from tests.generation_dataset import make_dataset as write_generation
from tests.harness import run, samples

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")
SEED = 16
GENERATION = "lilybench_generation"


@dataclass(frozen=True)
class Target:
    """A split of a dataset that is made hostile, and the task that asks its rows."""

    dataset: str
    config: str
    split: str
    task: Callable[..., Task]

    @property
    def path(self):
        return data_file(self.config, self.split)


TARGETS = [
    Target("ziqi", "comprehension", "test", ziqi.comprehension),
    Target("musictheorybench", "knowledge", "test", musictheorybench.knowledge),
    Target("muse", "syncopation", "test", muse.syncopation),
    Target("msu", "questions", "test", msu.textual),
    Target("msu", "scores", "test", msu.visual),
    Target("lilybench", "bar_sequencing", "strict", lilybench.bar_sequencing),
    Target("lilybench", "error_detection", "strict", lilybench.error_detection),
    Target(GENERATION, "prompts", "test", lilybench_generation.generation),
    Target(
        GENERATION,
        "demonstrations",
        "ablation",
        partial(lilybench_generation.generation, regime="ablation"),
    ),
    Target(GENERATION, "music21-test", "reference", lilybench_generation.generation),
]
LONG = "x" * 3_000_000
VALUES = {
    "string": [
        None,
        "",
        " \n",
        "\0",
        "\x1b[2J\x07",
        "$question ${a}",
        "../../up",
        "Z",
        "\u202e\ufdd0",
        LONG,
    ],
    "int64": [None, -1, 0, 2**62],
    "double": [None, nan, inf, -1.0],
    "bool": [None],
    "binary": [None, b"", b"\0"],
    "list<item: string>": [None, [], [None], [""] * 4, ["a", "a", "a", "a"], ["x"] * 27],
    "list<item: float>": [None, [], [nan], [1.0] * 3],
    "list<item: int64>": [None, [], [None], [-(2**60)] * 4],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return a dataset folder, written at the first call."""
    root = tmp_path_factory.mktemp("datasets")

    def folder(name):
        if not (root / name).exists():
            write_generation(root / name) if name == GENERATION else write_small(name, root / name)
        return root / name

    return folder


def hostile_cells():
    for target in TARGETS:
        for field in builder(target.dataset).BENCHMARK.features[target.config].arrow_schema:
            for value in VALUES.get(str(field.type), [None]):
                yield target, field.name, value


def replace_value(folder, target, column, value):
    """Put a value into the first row, make the provenance fit, and return the row's id."""
    table = pq.read_table(folder / target.path, partitioning=None)
    values = [value, *table[column].to_pylist()[1:]]
    index = table.schema.names.index(column)
    table = table.set_column(index, column, pa.array(values, table.schema.field(column).type))
    pq.write_table(table, folder / target.path)
    sign(folder, target.path)
    return str(table[0][0].as_py())


def sign(folder, path):
    provenance = json.loads((folder / "provenance.json").read_text())
    provenance["files"][path] = file_sha256(folder / path)
    (folder / "provenance.json").write_text(json.dumps(provenance))


def check_refusal(error, *names):
    """Check that an error is one for a user: it names the thing, and shows a terminal nothing that
    it should not.
    """
    message = str(error)
    assert isinstance(error, ParameterError | DatasetError), type(error)
    assert len(message) < 2_000
    assert message.isprintable(), message
    for name in names:
        assert name in message, message


def test_rows_are_asked_or_refused_by_id(counting, full, folders, tmp_path):
    cells = list(hostile_cells())
    with counting("datasets: hostile values") as tally:
        for number, (target, column, value) in enumerate(
            cells if full else Random(SEED).sample(cells, 15)
        ):
            with tally.case((target.dataset, target.config, column, str(value)[:30])):
                folder = Path(shutil.copytree(folders(target.dataset), tmp_path / str(number)))
                key = replace_value(folder, target, column, value)
                is_needed = value is None and column in (
                    "question",
                    "answer",
                    "target",
                    "options",
                    "score",
                    "text",
                )
                try:
                    task = target.task(dataset=str(folder))
                except ValueError as error:
                    check_refusal(
                        error, key[:90] if key.isalnum() else "row ", column if is_needed else ""
                    )
                else:
                    assert not is_needed
                    if full and number % 10 == 0:  # Inspect takes seconds for each
                        (log,) = run(task, tmp_path, "baseline/chance", limit=2)
                        assert len(samples(log)) == min(2, len(task.dataset))


def test_damaged_bytes(counting, full, folders, tmp_path):
    """A Parquet file with some of its bytes changed, which its provenance names as it is."""
    random, target = Random(SEED), TARGETS[0]
    with counting("datasets: Parquet with changed bytes") as tally:
        for number in range(200 if full else 20):
            with tally.case(number):
                folder = Path(shutil.copytree(folders(target.dataset), tmp_path / str(number)))
                content = bytearray((folder / target.path).read_bytes())
                for _ in range(random.choice((1, 3, 30))):
                    content[random.randrange(4, len(content))] = random.randrange(256)
                (folder / target.path).write_bytes(
                    content[: random.choice((None, None, len(content) // 2))]
                )
                sign(folder, target.path)
                try:
                    target.task(dataset=str(folder))
                except ValueError as error:
                    check_refusal(error, "comprehension")


def test_the_command_shows_one_message(folders, tmp_path):
    folder = Path(shutil.copytree(folders("musictheorybench"), tmp_path / "data"))
    key = replace_value(folder, TARGETS[1], "question", None)
    options = (
        "--model",
        "baseline/chance",
        "-T",
        f"dataset={folder}",
        "--log-dir",
        tmp_path / "logs",
    )
    code, output = command("run", "musictheorybench_knowledge", *options)
    assert code == 1
    assert f"row {key}, question: input should be a valid string, not None" in " ".join(
        output.split()
    )
    assert not (tmp_path / "logs").exists()
