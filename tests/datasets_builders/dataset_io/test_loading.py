"""Dataset folders of a small benchmark of letters: written, loaded back, and refused with clear
errors.
"""

import json
import multiprocessing
import os
from dataclasses import replace
from typing import Annotated, TypedDict

import pytest
from datasets import Audio, Features, List, Value
from pydantic import Field

from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    DatasetSpec,
    Provenance,
    Text,
    features_of,
    load_split,
    write_dataset,
)

FEATURES = Features(
    {"id": Value("string"), "audio": Audio(decode=False), "notes": List(Value("int64"))}
)
LETTERS = Provenance("letters", "1.0", source="generated", licence="mit", seed=7)
DATA = "abc/test-00000-of-00001.parquet"
PLACES = (
    "'published', a folder (of published files, or as `music-evals build` writes it) or "
    "hf://datasets/ORG/NAME[@REVISION]"
)


def rows(count):
    return [
        {"id": f"row-{i}", "audio": {"bytes": bytes([i]), "path": None}, "notes": [i, 1]}
        for i in range(count)
    ]


def write(out, test=None, **options):
    splits = {"test": rows(3) if test is None else test, "fewshot": []}
    options = {"features": {"abc": FEATURES}, "provenance": LETTERS, "card": str, **options}
    return write_dataset(out, {"abc": splits}, **options)


def spec(**changes):
    generate = lambda out, _: write(out, overwrite=True)  # noqa: E731
    return replace(DatasetSpec("letters", "1.0", 7, {"abc": FEATURES}, generate), **changes)


def error(dataset, config="abc", split="test", **changes):
    with pytest.raises(DatasetError) as caught:
        load_split(str(dataset), config, split, benchmark=spec(**changes))
    return str(caught.value)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(folder))
    return folder


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ([{"id": "odd"}], "abc/test, row odd: columns missing or unknown: audio, notes"),
        (
            [{"id": "odd", "audio": None, "notes": ["x"]}],
            "abc/test, rows odd to odd: a value does not fit its column",
        ),
        ([], "nothing to write"),
    ],
)
def test_rows_that_do_not_fit_are_named(tmp_path, test, message):
    with pytest.raises(DatasetError, match=message):
        write(tmp_path / "out", test)
    assert os.listdir(tmp_path) == []


class Row(TypedDict):
    id: str
    question: Text
    options: list[str] | None
    level: Annotated[int, Field(ge=1)]


def level_is_marked(question, level):
    return None if str(level) in question else f"level {level} is not in its question"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, "row b, question: input should be a valid string, not None"),
        ({"question": " "}, "row b, question: it is blank, not ' '"),
        ({"level": 0}, "row b, level: input should be greater than or equal to 1, not 0"),
        ({"options": ["x", None]}, "row b, options, 1: input should be a valid string, not None"),
        ({"level": 2}, "row b: level 2 is not in its question"),
        ({"id": "a"}, "row a: an earlier row has the same id"),
        ({"id": "a\x1b"}, r"row 'a\\x1b', id: it holds control characters, not 'a\\x1b'"),
    ],
)
def test_rows_are_checked_when_written_and_when_loaded(changes, message, tmp_path):
    row = {"id": "b", "question": "1?", "options": None, "level": 1}
    bad, checked = [{**row, "id": "a"}, {**row, **changes}], features_of(Row, level_is_marked)
    with pytest.raises(DatasetError, match=f"abc/test, {message}"):
        write(tmp_path, bad, features={"abc": checked})
    write(tmp_path, bad, features={"abc": Features(checked)})
    with pytest.raises(DatasetError, match=f"parquet of {tmp_path}, {message}"):
        load_split(str(tmp_path), "abc", "test", benchmark=spec(features={"abc": checked}))


def test_errors_name_what_is_wrong_and_what_is_accepted(tmp_path):
    out = tmp_path / "out"
    write(out)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    assert error(out, "xyz") == "letters has no config 'xyz'; it has: abc"
    assert error(out, split="train") == f"config 'abc' of {out} has no split 'train'; it has: test"
    either = f"accepted: 'generated', {PLACES}"
    assert error(tmp_path / "nowhere") == f"dataset '{tmp_path}/nowhere' does not exist; {either}"
    assert error(tmp_path / "file") == f"dataset '{tmp_path}/file' is not a folder; {either}"
    assert "is no dataset of ours: it has no provenance.json; accepted" in error(
        tmp_path / "folder"
    )
    assert error(out, name="numbers") == f"'{out}' is a dataset of letters, not of numbers"
    assert (
        error("generated", generate=None)
        == f"letters has no generated dataset; dataset= accepts {PLACES}"
    )
    wider = Features({**FEATURES, "tempo": Value("float64")})
    message = "lacks the columns tempo (built by version 1.0 of the builder, this is 2.0)"
    assert message in error(out, features={"abc": wider}, version="2.0")
    other = Features({**FEATURES, "notes": Value("int64")})
    assert "has columns of another type: notes (built by" in error(out, features={"abc": other})
    for name in ("datasets/name", "models/a/b", "datasets/a/b@", "datasets/a/b/c"):
        assert (
            error(f"hf://{name}")
            == f"hf://{name} is no dataset on the Hub; write hf://datasets/ORG/NAME[@REVISION]"
        )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.unlink(), f"is incomplete: {DATA} is missing"),
        (
            lambda file: file.write_bytes(file.read_bytes()[:-1]),
            "is not the file that its provenance.json names",
        ),
    ],
)
def test_a_changed_or_missing_file_is_refused(damage, message, tmp_path):
    write(tmp_path / "out")
    damage(tmp_path / "out" / DATA)
    assert message in error(tmp_path / "out")


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 100_000, '{"format": "2"}'),
        json.dumps({**json.loads(LETTERS.to_json()), "x": 1}),
        LETTERS.to_json().replace('"counts": {}', '"counts": {"abc": 3}'),
        LETTERS.to_json().replace('"source": "generated"', '"source": "../../up"'),
        LETTERS.to_json().replace('"licence": "mit"', '"licence": "\\u001b[2J"'),
    ],
)
def test_foreign_provenance_is_refused(tmp_path, text):
    (tmp_path / "provenance.json").write_text(text)
    assert "is no dataset of ours: not a provenance file" in error(tmp_path)


@pytest.mark.parametrize(
    "uri", ["hf://datasets/org/name", "hf://datasets/org/name@v1", "hf://datasets/org/na--me"]
)
def test_an_unreachable_hub_is_one_clear_error(uri, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert error(uri).startswith(f"{uri}: ")


# --- the generated dataset ---


def _generate_and_note(out, _):
    (out.parent / f"built-by-{os.getpid()}").touch()
    write(out, overwrite=True)


def _load_generated(_number):
    return len(load_split("generated", "abc", "test", benchmark=spec(generate=_generate_and_note)))


def test_processes_at_the_same_time_build_once(cache):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(_load_generated, range(4), chunksize=1) == [3] * 4
    assert len(list(cache.rglob("built-by-*"))) == 1
