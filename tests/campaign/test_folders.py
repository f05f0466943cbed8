"""Hostile dataset folders: each is loaded and run, or refused with an error that names the thing; none is published.

Who makes a hostile folder keeps its checksums and counts right, so that nothing but its content is wrong.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import nan
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inspect_ai import Task

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import Benchmark, DatasetError, file_sha256, hub, make_provenance
from music_evals.datasets_builders.dataset_io.provenance import data_file
from music_evals.datasets_builders.dataset_io.writing import write_dataset
from music_evals.datasets_builders.muse.rows import Clip, syncopation_row
from music_evals.datasets_builders.questions.question_rows import QuestionRow
from music_evals.evals import lilybench, msu, muse, musictheorybench, ziqi
from music_evals.evals.tasks import ParameterError
from tests import msu_dataset
from tests.campaign.conftest import Counting
from tests.commands.cli import run as command
from tests.generation_dataset import make_dataset as write_generation
from tests.harness import run, samples
from tests.lilybench_dataset import write_small as write_lilybench

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install 'music-evals[lilypond]'")
SEED = 16
MIDI = "ticks_per_beat=480\ntick=0 beat=1 note_on channel=0 note=60 velocity=80\n"


def four(number: int) -> dict[str, Any]:
    return {"id": f"q{number}", "question": f"Which letter is number {number}?", "options": [*"wxyz"], "answer": "A"}


def ziqi_rows() -> list[dict[str, Any]]:
    theme = {
        "theme_zh": "和声",
        "theme_en": "harmony",
        "subtheme_zh": "和弦",
        "subtheme_en": "chords",
        "language": "zh",
    }
    return [{**four(number), **theme, "duplicate_of": None} for number in range(3)]


def bank_rows() -> list[QuestionRow]:
    return [QuestionRow(**four(number), abc=None, kind="letters") for number in range(3)]


def muse_rows() -> list[Any]:
    clip = Clip(b"RIFF", 120.0, "4/4", "drums", b"MThd", "ticks_per_beat=480\n")
    return [syncopation_row(f"loop-{level}", clip, level, "made in a test", [1], [5]) for level in (0, 2, 4)]


@dataclass(frozen=True)
class Kind:
    """A dataset with the split of it that is made hostile, and the task that asks its rows."""

    name: str
    config: str
    split: str
    make: Callable[..., Task]
    write: Callable[[Path], object]

    @property
    def benchmark(self) -> Benchmark:
        found: Benchmark = builder(self.name).BENCHMARK
        return found


def written(name: str, rows: Mapping[str, Any]) -> Callable[[Path], object]:
    module = builder(name)
    made = make_provenance(name, module.BENCHMARK.version, "generated", seed=1)
    return lambda out: write_dataset(out, rows, features=module.BENCHMARK.features, provenance=made)


KINDS = [
    Kind("ziqi", "comprehension", "test", ziqi.comprehension,
         written("ziqi", {"comprehension": {"dev": ziqi_rows(), "test": ziqi_rows()}})),
    Kind("musictheorybench", "knowledge", "test", musictheorybench.knowledge,
         written("musictheorybench", {"knowledge": {"dev": bank_rows(), "test": bank_rows()}})),
    Kind("muse", "syncopation", "test", muse.syncopation,
         written("muse", {"syncopation": {"test": muse_rows()}})),
    Kind("msu", "questions", "test", msu.textual, msu_dataset.write_small),
    Kind("msu", "scores", "test", msu.visual, msu_dataset.write_small),
    Kind("lilybench", "bar_sequencing", "strict", lilybench.bar_sequencing, write_lilybench),
    Kind("lilybench", "error_detection", "strict", lilybench.error_detection, write_lilybench),
    Kind("lilybench-generation", "prompts", "test", lilybench.generation, write_generation),
    Kind("lilybench-generation", "demonstrations", "ablation", partial(lilybench.generation, regime="ablation"),
         write_generation),
    Kind("lilybench-generation", "music21-test", "reference", lilybench.generation, write_generation),
]  # fmt: skip
ZIQI = KINDS[0]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    above = tmp_path_factory.mktemp("whole")
    for kind in {kind.name: kind for kind in KINDS}.values():
        kind.write(above / kind.name)
    return {kind.name: above / kind.name for kind in KINDS}


@pytest.fixture
def copies(whole: Mapping[str, Path], tmp_path: Path) -> Callable[[Kind], Path]:
    """Make a folder of a kind, in place of the last one, and with a name of its own: references are loaded once."""
    numbers = count()

    def copy(kind: Kind) -> Path:
        number = next(numbers)
        shutil.rmtree(tmp_path / f"data{number - 1}", ignore_errors=True)
        return Path(shutil.copytree(whole[kind.name], tmp_path / f"data{number}"))

    return copy


# --- what is done to a folder ---


def edit(folder: Path, **entries: Any) -> None:
    """Change entries of a provenance."""
    path = folder / "provenance.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def sign(folder: Path, path: str) -> None:
    """Make the provenance name a file by the checksum that it has now."""
    edit(
        folder,
        files={**json.loads((folder / "provenance.json").read_text())["files"], path: file_sha256(folder / path)},
    )


def rewrite(folder: Path, kind: Kind, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the table of a kind's split, and the provenance with it."""
    path = data_file(kind.config, kind.split)
    table = change(pq.read_table(folder / path, partitioning=None))
    pq.write_table(table, folder / path)
    sign(folder, path)
    counts = json.loads((folder / "provenance.json").read_text())["counts"]
    edit(folder, counts={**counts, kind.config: {**counts[kind.config], kind.split: table.num_rows}})


def with_values(column: str, *values: Any) -> Callable[[pa.Table], pa.Table]:
    """Put values into a column, from the first row on."""

    def change(table: pa.Table) -> pa.Table:
        whole = [*values, *table[column].to_pylist()[len(values) :]]
        return table.set_column(
            table.schema.names.index(column), column, pa.array(whole, table.schema.field(column).type)
        )

    return change


def in_place_of(path: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        target = folder / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()
        make(target)

    return change


def moved_out(path: str) -> Callable[[Path], None]:
    """Move a file or folder out of the dataset, and link to it."""

    def change(folder: Path) -> None:
        outside = folder.parent / "outside"
        shutil.rmtree(outside) if outside.is_dir() else outside.unlink(missing_ok=True)
        (folder / path).rename(outside)
        (folder / path).symlink_to(outside)

    return change


DATA = data_file(ZIQI.config, ZIQI.split)


def typed(column: str, kind: pa.DataType) -> Callable[[Path], None]:
    def change(table: pa.Table) -> pa.Table:
        return table.set_column(table.schema.names.index(column), column, pa.nulls(table.num_rows, kind))

    return lambda folder: rewrite(folder, ZIQI, change)


def entry(**entries: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder, **entries)


def text(content: str | bytes, path: str = "provenance.json") -> Callable[[Path], None]:
    encoded = content if isinstance(content, bytes) else content.encode()
    return in_place_of(path, lambda target: target.write_bytes(encoded))


def not_utf8(table: pa.Table) -> pa.Table:
    return table.set_column(1, "question", pa.array([b"\xff\xfe" * 9] * table.num_rows).view(pa.string()))


# Of the provenance and the files: what is done, and what the error must name.
FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty provenance": (text(""), "provenance"),
    "a list": (text("[]"), "format"),
    "nested lists": (text("[" * 100_000), "provenance"),
    "12 MB": (text(b" " * 12_000_000), "provenance.json"),
    "no UTF-8": (text(b"\xff{}"), "provenance.json"),
    "a folder for a provenance": (in_place_of("provenance.json", Path.mkdir), "provenance.json"),
    "a pipe for a provenance": (in_place_of("provenance.json", os.mkfifo), "provenance.json"),
    "another format": (entry(format="music-evals dataset folder, version 9"), "format"),
    "an unknown entry": (entry(password="x"), "password"),
    "a benchmark null": (entry(benchmark=None), "benchmark"),
    "a source with a path": (entry(source="../../up"), "source"),
    "a source with an escape": (entry(source="\x1b[2J"), "source"),
    "a lone surrogate": (entry(source="\ud800"), "provenance"),
    "an endless source": (entry(source="s" * 500), "source"),
    "a licence with a bell": (entry(licence="mit\x07"), "licence"),
    "a seed in words": (entry(seed="seven"), "seed"),
    "missing, of numbers": (entry(missing=[1, 2]), "missing"),
    "anomalies, a list": (entry(anomalies=["x"]), "anomalies"),
    "counts null": (entry(counts=None), "counts"),
    "counts below 0": (entry(counts={"comprehension": {"test": -1}}), "test"),
    "counts true": (entry(counts={"comprehension": {"test": True}}), "test"),
    "counts without end": (entry(counts={"comprehension": {"test": 10**12}}), "test"),
    "counts of another number": (entry(counts={"comprehension": {"dev": 3, "test": 9}}), DATA),
    "a config that leads out": (entry(counts={"..": {"test": 1}}), "'..'"),
    "no counts": (entry(counts={}), "comprehension"),
    "no files": (entry(files={}), DATA),
    "files that lead out": (entry(files={"../outside/test-00000-of-00001.parquet": "0" * 64}), "../outside"),
    "an absolute file": (entry(files={"/etc/passwd": "0" * 64}), "/etc/passwd"),
    "a hidden file": (entry(files={".env": "0" * 64}), ".env"),
    "a file in a hidden folder": (entry(files={".git/config": "0" * 64}), ".git/config"),
    "a checksum of another kind": (entry(files={DATA: "0" * 32}), DATA),
    "another checksum": (entry(files={DATA: "0" * 64}), DATA),
    "no Parquet": (lambda folder: (folder / DATA).unlink(), DATA),
    "an empty Parquet": (lambda folder: (text(b"", DATA)(folder), sign(folder, DATA)), DATA),
    "a text for a Parquet": (lambda folder: (text("id,question", DATA)(folder), sign(folder, DATA)), DATA),
    "a folder for a Parquet": (in_place_of(DATA, Path.mkdir), DATA),
    "a pipe for a Parquet": (in_place_of(DATA, os.mkfifo), DATA),
    "a Parquet that is a link": (moved_out(DATA), "link"),
    "a config that is a link": (moved_out(ZIQI.config), "link"),
    "a link to nowhere": (in_place_of(DATA, lambda target: target.symlink_to("nowhere")), "link"),
    "no rows": (lambda folder: rewrite(folder, ZIQI, lambda table: table[:0]), "test"),
    "a column twice": (lambda folder: rewrite(folder, ZIQI, lambda t: t.append_column("id", t["id"])), "id"),
    "no column": (lambda folder: rewrite(folder, ZIQI, lambda table: table.drop_columns(["answer"])), "answer"),
    "numbers for questions": (typed("question", pa.int64()), "question"),
    "bytes for questions": (typed("question", pa.binary()), "question"),
    "nothing for questions": (typed("question", pa.null()), "question"),
    "one text for options": (typed("options", pa.string()), "options"),
    "numbers for options": (typed("options", pa.list_(pa.int64())), "options"),
    "a table for an answer": (typed("answer", pa.struct({"letter": pa.string()})), "answer"),
    "questions that are no UTF-8": (lambda folder: rewrite(folder, ZIQI, not_utf8), DATA),
}  # fmt: skip

VALUES: Mapping[str, list[Any]] = {
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
        "x" * 3_000_000,
    ],
    "int64": [None, -1, 0, 2**62],
    "double": [None, nan, float("inf"), -1.0],
    "bool": [None],
    "binary": [None, b"", b"\0"],
    "list<item: string>": [None, [], [None], [""] * 4, ["a", "a", "a", "a"], ["x"] * 27],
    "list<item: float>": [None, [], [nan], [1.0] * 3],
    "list<item: int64>": [None, [], [None], [-(2**60)] * 4],
}


def hostile_cells() -> Iterator[tuple[Kind, str, Any]]:
    for kind in KINDS:
        for field in kind.benchmark.features[kind.config].arrow_schema:
            for value in VALUES.get(str(field.type), [None]):
                yield kind, field.name, value


def refusal(error: ValueError, *named: str) -> None:
    """Check that an error is one for a user: it names the thing, and shows no terminal what it should not."""
    said = str(error)
    assert isinstance(error, ParameterError | DatasetError), type(error)
    assert len(said) < 2_000, f"{len(said)} characters"
    assert said.isprintable(), said
    for name in named:
        assert name in said, said


def try_task(kind: Kind, folder: Path, logs: Path, *named: str, runs: bool = False, must_fail: bool = False) -> None:
    """Make the task of a folder and run it; or see it refused, before any model is asked."""
    try:
        made = kind.make(dataset=str(folder))
    except ValueError as error:
        refusal(error, *named)
        return
    assert not must_fail
    if runs:
        (log,) = run(made, logs, "baseline/chance", limit=2)
        assert len(samples(log)) == 2 or len(made.dataset) == 1


# --- the campaign ---


def test_folders_load_or_are_refused_by_name(
    counting: Counting, full: bool, copies: Callable[[Kind], Path], tmp_path: Path
) -> None:
    with counting("dataset folders: provenance and files") as tally:
        for what, (damage, named) in list(FOLDERS.items())[:: 1 if full else 2]:
            with tally.case(what):
                folder = copies(ZIQI)
                damage(folder)
                with pytest.raises(ValueError) as caught:  # noqa: PT011
                    ZIQI.make(dataset=str(folder))
                refusal(caught.value, named)


def test_rows_are_asked_or_refused_by_id(
    counting: Counting, full: bool, copies: Callable[[Kind], Path], tmp_path: Path
) -> None:
    cells = list(hostile_cells())
    with counting("dataset folders: hostile values") as tally:
        for number, (kind, column, value) in enumerate(cells if full else Random(SEED).sample(cells, 15)):
            with tally.case((kind.name, kind.config, column, str(value)[:30])):
                folder = copies(kind)
                rewrite(folder, kind, with_values(column, value))
                first = pq.read_table(folder / data_file(kind.config, kind.split), partitioning=None).to_pylist()[0]
                key = str(next(iter(first.values())))
                runs = full and number % 10 == 0  # Inspect takes seconds for each
                asked = column in ("question", "answer", "target", "options", "score", "text")
                named = (key[:90] if key.isalnum() else "row ", column if asked and value is None else "")
                try_task(kind, folder, tmp_path, *named, runs=runs, must_fail=asked and value is None)


def test_damaged_bytes(counting: Counting, full: bool, copies: Callable[[Kind], Path], tmp_path: Path) -> None:
    """A Parquet file with some of its bytes changed, which its provenance names as it is."""
    random = Random(SEED)
    with counting("dataset folders: Parquet with changed bytes") as tally:
        for number in range(200 if full else 20):
            with tally.case(number):
                folder = copies(ZIQI)
                content = bytearray((folder / DATA).read_bytes())
                for _ in range(random.choice((1, 3, 30))):
                    content[random.randrange(4, len(content))] = random.randrange(256)
                (folder / DATA).write_bytes(content[: random.choice((None, None, len(content) // 2))])
                sign(folder, DATA)
                try_task(ZIQI, folder, tmp_path, "comprehension")


# --- publishing ---

SECRETS = {
    "Hugging Face Hub": "hf_" + "aB3" * 11,
    "OpenAI": "sk-proj-" + "aB3_-" * 8,
    "GitHub": "ghp_" + "aB3" * 12,
    "of GitHub": "github_pat_" + "aB3_" * 8,
    "AWS": "AKIA" + "AB34" * 4,
    "Google": "AIza" + "aB3-_" * 7,
    "Slack": "xoxb-" + "123-aB" * 4,
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
    "OWN_API_KEY": "correct horse battery",
}


def licence(content: bytes, name: str = "LICENSE.md") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content)
        sign(folder, name)

    return change


def file_named(path: str) -> Callable[[Path], None]:
    """Put a copy of the rows into the folder, and name it in the provenance."""

    def change(folder: Path) -> None:
        (folder / path).parent.mkdir(exist_ok=True)
        shutil.copy(folder / DATA, folder / path)
        sign(folder, path)

    return change


def appended(path: str, secret: str) -> Callable[[Path], None]:
    return lambda folder: (folder / path).write_text(f"{(folder / path).read_text()}\nby {secret}\n")


def secrets() -> Iterator[tuple[str, str, Callable[[Path], object], str]]:
    """What is hidden where, how it gets there, and the file that the error must name."""
    for kind, secret in SECRETS.items():
        yield kind, secret, appended("README.md", secret), "README.md"
        yield kind, secret, entry(source_revision=f"main,{secret}"), "provenance.json"
        yield kind, secret, licence(f"Copyright: {secret}".encode()), "LICENSE.md"
        for column, value in (("question", f"Is it\n{secret}?"), ("options", ["w", f"({secret})", "y", "z"])):
            change = with_values(column, value)
            yield kind, secret, lambda folder, change=change: rewrite(folder, ZIQI, change), f"{DATA}, row q0"
        hide = partial(pa.Table.replace_schema_metadata, metadata={"by": secret})
        yield kind, secret, lambda folder, hide=hide: rewrite(folder, ZIQI, hide), f"metadata of {DATA}"


STRANGERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file that nothing names": (lambda folder: (folder / "notes.txt").touch(), "notes.txt"),
    "a hidden file that nothing names": (lambda folder: (folder / ".env").touch(), ".env"),
    "a hidden file that is named": (file_named(".env"), ".env"),
    "a folder": (lambda folder: (folder / ".git").mkdir(), ".git"),
    "a second Parquet": (file_named("x.parquet"), "x.parquet"),
    "rows that are not counted": (file_named(data_file("more", "test")), "more/test"),
    "a column more": (lambda f: rewrite(f, ZIQI, lambda t: t.append_column("notes", t["id"])), DATA),
    "a link to a file": (moved_out("README.md"), "README.md"),
    "a provenance that is a link": (moved_out("provenance.json"), "provenance.json"),
    "a Parquet that is a link": (moved_out(DATA), DATA),
    "a config that is a link": (moved_out(ZIQI.config), ZIQI.config),
    "a licence that is a link": (lambda f: (licence(b"Free")(f), moved_out("LICENSE.md")(f)), "LICENSE.md"),
    "a link to the folder itself": (lambda folder: (folder / "self").symlink_to("."), "self"),
    "a link to nowhere": (lambda folder: (folder / "lost").symlink_to("nowhere"), "lost"),
    "a pipe": (lambda folder: os.mkfifo(folder / "pipe"), "pipe"),
    "a licence of bytes": (licence(b"\xff\xd8\xff"), "LICENSE.md"),
    "a licence with control characters": (licence(b"\x1b[2J"), "LICENSE.md"),
    "a null question": (lambda folder: rewrite(folder, ZIQI, with_values("question", None)), "q0, question"),
    "no card": (lambda folder: (folder / "README.md").unlink(), "README.md"),
    "a card of bytes": (text(b"---\n\xff", "README.md"), "README.md"),
    "a card without end": (text("---\na: &a [x]\nb: [*a" + ", *a" * 9999 + "]\n---\n", "README.md"), "README.md"),
}  # fmt: skip


class NoHub:
    def __init__(self) -> None:
        raise AssertionError("the Hub was asked")


def test_secrets_and_strangers_are_not_published(
    counting: Counting, full: bool, copies: Callable[[Kind], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_API_KEY", SECRETS["OWN_API_KEY"])
    monkeypatch.setattr("huggingface_hub.HfApi", NoHub)
    with pytest.raises(AssertionError, match="the Hub was asked"):  # of a folder that nothing was done to
        hub.plan_publication(copies(ZIQI), "ORG/x", benchmark=ZIQI.benchmark)
    hidden = list(secrets())
    with counting("dataset folders: publishing secrets") as tally:
        for kind, secret, hide, named in hidden if full else Random(SEED).sample(hidden, 8):
            with tally.case((kind, named)):
                folder = copies(ZIQI)
                hide(folder)
                code, said = command("publish", "ziqi", "--repo", "ORG/x", "--dir", folder)
                assert code == 1
                assert kind in said, said
                assert named in said, said
                assert secret not in said
    with counting("dataset folders: publishing links and strangers") as tally:
        for what, (put, named) in list(STRANGERS.items())[:: 1 if full else 3]:
            with tally.case(what):
                folder = copies(ZIQI)
                put(folder)
                code, said = command("publish", "ziqi", "--repo", "ORG/x", "--dir", folder)
                assert code == 1
                assert named in said, said


def test_the_command_shows_one_message(copies: Callable[[Kind], Path], tmp_path: Path) -> None:
    folder = copies(ZIQI)
    rewrite(folder, ZIQI, with_values("question", "Which?", None))
    code, said = command(
        "run",
        "ziqi_comprehension",
        "--model",
        "baseline/chance",
        "-T",
        f"dataset={folder}",
        "--log-dir",
        tmp_path / "logs",
    )
    assert code == 1
    assert "row q1, question: input should be a valid string, not None" in " ".join(said.split())
    assert not (tmp_path / "logs").exists()
