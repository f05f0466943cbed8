"""Dataset folders, on a small benchmark of letters: written whole or not at all, and loaded with clear errors."""

import io
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

import PIL.Image
import pytest
from datasets import Audio, Features, Image, List, Value, load_dataset
from pydantic import Field

from music_evals.benchmarks import dataset_facts, dataset_names
from music_evals.datasets_builders import dataset_io
from music_evals.datasets_builders.dataset_io import (
    Benchmark,
    DatasetError,
    Provenance,
    Text,
    check_target,
    describe_dataset,
    features_of,
    load_split,
    write_dataset,
    writing,
)

FEATURES = Features({"id": Value("string"), "audio": Audio(decode=False), "notes": List(Value("int64"))})
MADE = Provenance("letters", "1.0", source="generated", licence="mit", seed=7)


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": f"row-{i}", "audio": {"bytes": bytes([i]), "path": None}, "notes": [i, 1]} for i in range(count)]


def write(out: Path, some: Iterable[dict[str, Any]] | int = 3, made: Provenance = MADE, **options: Any) -> Provenance:
    """Write rows, or so many."""
    splits = {"test": rows(some) if isinstance(some, int) else some, "fewshot": []}
    return write_dataset(out, {"abc": splits}, features={"abc": FEATURES}, card=str, provenance=made, **options)


def benchmark(**changes: Any) -> Benchmark:
    return Benchmark(**{"name": "letters", "version": "1.0", "seed": 7, "features": {"abc": FEATURES},
                        "generate": partial(write, overwrite=True), **changes})  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(folder))
    return folder


def test_written_rows_are_loaded_back(tmp_path: Path) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    made = write(tmp_path / "out", 70)  # more than one group of rows; the split without rows is left out
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == handlers
    loaded = load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())
    assert loaded.to_list() == rows(70)
    assert loaded.features == FEATURES
    assert made.counts == {"abc": {"test": 70}}
    assert describe_dataset(str(tmp_path / "out"), benchmark=benchmark()).provenance == made


def test_audio_and_pages_are_decoded_by_datasets_and_files_for_tasks(tmp_path: Path) -> None:
    PIL.Image.new("RGB", (3, 2)).save(page := io.BytesIO(), "PNG")
    features = Features({"id": Value("string"), "audio": Audio(), "pages": List(Image())})
    row = {"id": "row", "audio": {"bytes": b"RIFF", "path": None}, "pages": [{"bytes": page.getvalue(), "path": None}]}
    write_dataset(tmp_path / "out", {"abc": {"test": [row]}}, features={"abc": features}, card=str, provenance=MADE)
    file = tmp_path / "out" / "abc" / "test-00000-of-00001.parquet"
    decoded = load_dataset("parquet", data_files=str(file), split="train", cache_dir=str(tmp_path / "hf"))
    assert decoded.features == features
    assert [image.size for image in decoded.remove_columns("audio")[0]["pages"]] == [(3, 2)]
    loaded = load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark(features={"abc": features}))
    assert loaded[0] == row


def test_titles_of_data_that_are_no_benchmarks_say_so() -> None:
    for name in dataset_names():
        sources = dataset_facts(name).sources.values()
        assert len({source.title for source in sources}) == len(sources)
        assert [source.is_benchmark for source in sources] == ["in the form of" not in each.title for each in sources]


@pytest.mark.parametrize(
    ("some", "message"),
    [
        ([{"id": "odd"}], "abc/test, row odd: columns missing or unknown: audio, notes"),
        ([{"id": "odd", "audio": None, "notes": ["x"]}], "abc/test, rows odd to odd: a value does not fit its column"),
        ([], "nothing to write"),
    ],
)
def test_rows_that_do_not_fit_are_named(tmp_path: Path, some: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        write(tmp_path / "out", some)
    assert os.listdir(tmp_path) == []


class Row(TypedDict):
    id: str
    question: Text
    options: list[str] | None
    level: Annotated[int, Field(ge=1)]


def level_is_marked(question: str, level: int) -> str | None:
    return None if str(level) in question else f"level {level} is not in its question"


def test_rows_are_checked_by_their_declared_type_when_written_and_when_loaded(tmp_path: Path) -> None:
    checked, row = features_of(Row, level_is_marked), {"id": "a", "question": "1?", "options": None, "level": 1}
    wrong: dict[str, list[dict[str, Any]]] = {
        "row a, question: input should be a valid string, not None": [{**row, "question": None}],
        "row b, question: it is blank, not ' '": [row, {**row, "id": "b", "question": " "}],
        "row a, level: input should be greater than or equal to 1, not 0": [{**row, "level": 0}],
        "row a, options, 1: input should be a valid string, not None": [{**row, "options": ["x", None]}],
        "row a: level 2 is not in its question": [{**row, "level": 2}],
        "row a: an earlier row has the same id": [row, row],
        r"row 'a\\x1b', id: it holds control characters, not 'a\\x1b'": [{**row, "id": "a\x1b"}],
    }
    for number, (message, some) in enumerate(wrong.items()):
        out = tmp_path / str(number)
        with pytest.raises(DatasetError, match=f"abc/test, {message}"):
            write_dataset(out, {"abc": {"test": some}}, features={"abc": checked}, card=str, provenance=MADE)
        plain = Features(checked)
        write_dataset(out, {"abc": {"test": some}}, features={"abc": plain}, card=str, provenance=MADE)
        with pytest.raises(DatasetError, match=f"parquet of {out}, {message}"):
            load_split(str(out), "abc", "test", benchmark=benchmark(features={"abc": checked}))


# --- targets ---


def test_targets_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("x")
    write(tmp_path / "ours")
    for overwrite in (False, True):
        with pytest.raises(DatasetError, match="file is not a folder"):
            check_target(tmp_path / "file", overwrite=overwrite)
        with pytest.raises(DatasetError, match="folder is not empty and does not hold a dataset of ours"):
            write(tmp_path / "folder", overwrite=overwrite)
    with pytest.raises(DatasetError, match="ours already holds a dataset"):
        write(tmp_path / "ours")
    assert (tmp_path / "folder" / "thesis.tex").read_text() == "x"


def test_overwrite_replaces_the_whole_dataset(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()  # an empty folder is a target
    write(tmp_path / "out", extra_files={"LICENCE.md": b"old"})
    (tmp_path / "link").symlink_to(tmp_path / "out")
    write(tmp_path / "link", 5, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["link", "out"]
    assert sorted(os.listdir(tmp_path / "out")) == ["README.md", "abc", "provenance.json"]
    assert len(load_split(str(tmp_path / "link"), "abc", "test", benchmark=benchmark())) == 5


def test_failure_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield from rows(40)
        raise RuntimeError("boom")

    write(tmp_path / "out")
    for out in (tmp_path / "out", tmp_path / "new"):
        with pytest.raises(RuntimeError, match="boom"):
            write(out, failing(), overwrite=True)
    assert os.listdir(tmp_path) == ["out"]
    assert len(load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())) == 3


def _write_slowly(out: Path, begun: Any) -> None:
    # Tests that run in the background may have inherited that these are ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def slow() -> Iterator[dict[str, Any]]:
        yield from rows(40)
        begun.set()
        time.sleep(60)

    write(out, slow())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_killed_build_leaves_no_target(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    context = multiprocessing.get_context("fork")
    begun = context.Event()
    process = context.Process(target=_write_slowly, args=(out, begun))
    process.start()
    assert begun.wait(60)
    half_written = os.listdir(tmp_path)
    assert len(half_written) == 1
    # A second build to the same target meanwhile leaves the first one's folder alone.
    with pytest.raises(DatasetError):
        write(out, 0)
    assert os.listdir(tmp_path) == half_written
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(60)
    assert process.exitcode not in (0, None)
    if number is signal.SIGKILL:  # nobody can clean up after that but the next build
        assert os.listdir(tmp_path) == half_written
        write(out)
        assert os.listdir(tmp_path) == ["out"]
    else:
        assert os.listdir(tmp_path) == []


def test_a_dataset_that_was_moved_aside_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two folders cannot change places in one step, a killed process may leave no target."""
    write(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.partial-0123-old")
    write(tmp_path / ".out.partial-0123", 5)
    with pytest.raises(DatasetError, match="out already holds a dataset"):
        check_target(tmp_path / "out")
    monkeypatch.setattr(writing, "_exchange", lambda *_: False)
    write(tmp_path / "out", 4, overwrite=True)
    assert os.listdir(tmp_path) == ["out"]
    assert len(load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())) == 4


# --- loading ---


def test_errors_name_what_is_wrong_and_what_is_accepted(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")

    def error(dataset: Path | str, config: str = "abc", split: str = "test", **changes: Any) -> str:
        with pytest.raises(DatasetError) as caught:
            load_split(str(dataset), config, split, benchmark=benchmark(**changes))
        return str(caught.value)

    accepted = "'generated', a dataset folder (as `music-evals build` writes it) or hf://datasets/ORG/NAME[@REVISION]"
    assert error(out, "xyz") == "letters has no config 'xyz'; it has: abc"
    assert error(out, split="train") == f"config 'abc' of {out} has no split 'train'; it has: test"
    assert error(tmp_path / "nowhere") == f"dataset '{tmp_path}/nowhere' does not exist; accepted: {accepted}"
    assert error(tmp_path / "file") == f"dataset '{tmp_path}/file' is not a folder; accepted: {accepted}"
    assert "is no dataset of ours: it has no provenance.json; accepted" in error(tmp_path / "folder")
    assert error(out, name="numbers") == f"'{out}' is a dataset of letters, not of numbers"
    wider = Features({**FEATURES, "tempo": Value("float64")})
    assert "lacks the columns tempo (built by version 1.0 of the builder, this is 2.0)" in error(
        out, features={"abc": wider}, version="2.0"
    )
    other = Features({**FEATURES, "notes": Value("int64")})
    assert "has columns of another type: notes (built by" in error(out, features={"abc": other})
    for uri in (
        "hf://datasets/name",
        "hf://models/a/b",
        "hf://datasets/a/b@",
        "hf:datasets/a/b",
        "hf://datasets/a/b/c",
    ):
        assert error(uri) == f"{uri} is no dataset on the Hub; write hf://datasets/ORG/NAME[@REVISION]"


def test_what_a_partial_copy_lacks_is_said_where_a_split_is_missing(tmp_path: Path) -> None:
    partial = Provenance("letters", "1.0", source="alphabet", licence="mit", missing=("x.wav", "y.wav"))
    write(tmp_path / "out", made=partial)
    with pytest.raises(DatasetError, match=r"no split 'fewshot'.*built from a copy that lacks x\.wav, y\.wav"):
        load_split(str(tmp_path / "out"), "abc", "fewshot", benchmark=benchmark())
    assert describe_dataset(str(tmp_path / "out"), benchmark=benchmark()).label == "alphabet-partial"


def test_changed_or_missing_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "out")
    path = tmp_path / "out" / "abc" / "test-00000-of-00001.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(DatasetError, match=r"is not the file that its provenance\.json names"):
        load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())
    path.unlink()
    with pytest.raises(DatasetError, match=r"is incomplete: abc/test-00000-of-00001\.parquet is missing"):
        load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())
    path.parent.rmdir()
    write(tmp_path / "other")
    path.parent.symlink_to(tmp_path / "other" / "abc")
    with pytest.raises(DatasetError, match=r"abc/test-00000-of-00001\.parquet of .* is a link, or is reached by one"):
        load_split(str(tmp_path / "out"), "abc", "test", benchmark=benchmark())


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"format": "2"}', json.dumps({"format": dataset_io.FORMAT, "x": 1})),
        MADE.to_json().replace('"counts": {}', '"counts": {"abc": 3}'),
        MADE.to_json().replace('"files": {}', f'"files": {{"../abc/test-00000-of-00001.parquet": "{"0" * 64}"}}'),
    ],
)
def test_foreign_provenance_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "provenance.json").write_text(text)
    with pytest.raises(DatasetError, match="no dataset of ours"):
        describe_dataset(str(tmp_path), benchmark=benchmark())


@pytest.mark.parametrize("uri", ["hf://datasets/org/name", "hf://datasets/org/name@v1", "hf://datasets/org/na--me"])
def test_unreachable_hub_is_one_clear_error(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DatasetError, match=uri):
        load_split(uri, "abc", "test", benchmark=benchmark())


# --- the generated dataset ---


def test_generated_dataset_is_built_once_and_again_when_it_is_no_longer_right(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    builds = []

    def counted(**changes: Any) -> Benchmark:
        def build(out: Path, _: Any) -> None:
            builds.append(out)
            write(out, made=replace(MADE, builder_version=changes.get("version", "1.0")), overwrite=True)

        return benchmark(generate=build, **changes)

    for _ in range(2):
        assert len(load_split("generated", "abc", "test", benchmark=counted())) == 3
    assert len(builds) == 1
    told = "making the default dataset of letters, once\nmade the default dataset of letters in "
    assert capsys.readouterr().err.strip().startswith(told)
    assert cache in builds[0].parents
    load_split("generated", "abc", "test", benchmark=counted(version="1.1"))
    assert len(builds) == 2
    (builds[0] / "abc" / "test-00000-of-00001.parquet").write_bytes(b"PAR1")
    assert len(load_split("generated", "abc", "test", benchmark=counted())) == 3
    assert len(builds) == 3
    # A folder that records another version than its name says is not believed.
    text = (builds[0] / "provenance.json").read_text()
    (builds[0] / "provenance.json").write_text(text.replace('"builder_version": "1.0"', '"builder_version": "0.9"'))
    load_split("generated", "abc", "test", benchmark=counted())
    assert len(builds) == 4
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DatasetError, match="name another folder in MUSIC_EVALS_CACHE"):
        load_split("generated", "abc", "test", benchmark=counted())


def _generate_and_note(out: Path, _: Any) -> None:
    (out.parent / f"built-by-{os.getpid()}").touch()
    time.sleep(0.3)
    write(out, overwrite=True)


def _load_generated(_number: int) -> int:
    return len(load_split("generated", "abc", "test", benchmark=benchmark(generate=_generate_and_note)))


def test_processes_at_the_same_time_build_once(cache: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(_load_generated, range(4), chunksize=1) == [3] * 4
    assert len(list(cache.rglob("built-by-*"))) == 1
