"""Published files: sound by its path, records of each kind, archives; and what is missing for one
task alone.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetError,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.questions.choice_records import choice_list, choice_record
from music_evals.datasets_builders.questions.published_questions import MediaFiles, read_records
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Records,
    question_set,
)
from music_evals.evals import rul_muchomusic
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from tests.datasets_builders.dataset_io.test_archives import member, tar_of, zip_of
from tests.evals.test_question_sets import rul_files, rul_record, sound, write


def media(*paths):
    files = MediaFiles()
    for path in paths:
        files.add(path, Path("/source") / path)
    return files


STEMS = ("1a/audio.mastermix.wav", "1b/audio.mastermix.wav", "1b/other.wav")


@pytest.mark.parametrize(
    ("files", "name", "path"),
    [
        (STEMS, "1a/audio.mastermix.wav", "1a/audio.mastermix.wav"),
        (STEMS, "./1b/audio.mastermix.wav", "1b/audio.mastermix.wav"),
        (STEMS, "1b/audio.mastermix", "1b/audio.mastermix.wav"),  # without its ending
        (STEMS, "data/1b/audio.mastermix.wav", "1b/audio.mastermix.wav"),  # a longer path
        (("x/1a/audio.wav", "x/1b/audio.wav"), "1b/audio.wav", "x/1b/audio.wav"),  # a shorter one
        (STEMS, "elsewhere/other.wav", "1b/other.wav"),  # a name that occurs once
        (("a.wav", "a/a.wav"), "a/a.wav", "a/a.wav"),
        (("[v]-[30-40].wav",), "v", "[v]-[30-40].wav"),
        (
            ("a.b.mp3", "c/a.b"),
            "a.b",
            "c/a.b",
        ),  # the name in full before the one without its ending
    ],
)
def test_a_file_is_found_by_its_path(files, name, path):
    assert media(*files).find(name) == Path("/source") / path


@pytest.mark.parametrize(
    "name", ["audio.mastermix.wav", "1c/audio.mastermix.wav", "audio.mastermix"]
)
def test_a_name_of_several_files_is_refused_with_both(name):
    with pytest.raises(
        DatasetError, match=f"{name} may be 1a/audio.mastermix.wav or 1b/audio.mastermix.wav"
    ):
        media(*STEMS).find(name)


def test_two_stems_of_one_name_keep_their_sound(tmp_path):
    clips = {
        f"audio/{piece}/audio.mastermix.wav": sound(seed=seed)
        for seed, piece in enumerate(("1a", "1b"))
    }
    records = [{"id": path, "path": path} for path in clips]
    source = write(
        tmp_path,
        {**clips, "records.jsonl": b"\n".join(json.dumps(one).encode() for one in records)},
    )

    def read(record):
        return MediaQuestion(record["id"], [Part("audio", record["path"])], ["a", "b"], 0)

    spec = question_set("mmar", "20", {"music": Records(["records.jsonl"], read)})
    rows = load_split(str(source), "music", "test", benchmark=spec).to_list()
    assert {row["id"]: row["audio"][0]["bytes"] for row in rows} == clips


def table(delimiter, records):
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


RECORDS = [{"id": "1", "question": 'Two "lines"\nand a tab\t'}, {"id": "2", "question": "ä"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(RECORDS).encode()),
        (
            "b.json",
            json.dumps({one["id"]: {"question": one["question"]} for one in RECORDS}).encode(),
        ),
        ("a.jsonl", "\n".join(map(json.dumps, RECORDS)).encode()),
        ("a.csv", table(",", RECORDS)),
        ("a.tsv", b"\xef\xbb\xbf" + table("\t", RECORDS)),
    ],
)
def test_records_of_each_kind_are_the_same(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert [*read_records(tmp_path / name)] == RECORDS


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_records_that_cannot_be_read_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"[" * 100_000)
    with pytest.raises(DatasetError, match=rf"{name} cannot be read"):
        list(read_records(tmp_path / name))


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_records_and_sound_may_be_in_archives(tmp_path, kind):
    files = rul_files(3)
    plain, packed = write(tmp_path / "plain", files), tmp_path / "packed"
    packed.mkdir()
    contents = {f"top/{name}": content for name, content in files.items()} | {
        "top/unused.wav": sound(seed=99)
    }
    if kind == "zip":
        zip_of(packed / "all.zip", *contents.items())
    else:
        tar_of(
            packed / "all.tar.gz", *((member(name), content) for name, content in contents.items())
        )
    rows = [
        load_split(str(source), "muchomusic", "test", benchmark=rul_muchomusic.BENCHMARK).to_list()
        for source in (plain, packed)
    ]
    assert rows[0] == rows[1]
    assert not [path for path in packed.iterdir() if path.name != f"all.{kind}"]


def two_tasks():
    """Two tasks of one dataset, of which only the first needs sound."""

    def heard(record):
        return MediaQuestion(
            record["id"], [Part("audio", f"{record['id']}.wav"), "Which?"], ["a", "b"], 0
        )

    def read(record):
        return MediaQuestion(record["id"], ["Which?"], ["a", "b"], 0)

    return question_set(
        "ssmr", "21", {"visual": Records(["r.jsonl"], heard), "textual": Records(["r.jsonl"], read)}
    )


def test_what_one_task_lacks_is_not_missing_for_another(tmp_path):
    source = write(tmp_path, {"r.jsonl": b'{"id": "1"}\n{"id": "2"}', "1.wav": sound()})
    spec = two_tasks()
    origin = describe_dataset(str(source), benchmark=spec)
    assert origin.provenance.missing == {"visual": ("2.wav (missing)",)}
    params = QuestionSetParameters(dataset=str(source))
    task = question_set_task(params, "textual", spec)
    assert (task.name, len(task.dataset)) == ("ssmr_textual_published", 2)
    assert "dataset_missing_files" not in (task.metadata or {})
    with pytest.raises(DatasetError, match=r"1 files of .* are missing or damaged: 2\.wav"):
        question_set_task(params, "visual", spec)


def test_a_build_that_lacks_files_is_refused_for_all_its_tasks(tmp_path):
    source = write(tmp_path / "source", {"r.jsonl": b'{"id": "1"}'})
    convert = two_tasks().convert
    assert convert
    with pytest.raises(DatasetError, match=r"1 files of .* are missing or damaged: 1\.wav"):
        convert(Conversion(source, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("choices", "answer", "right"),
    [
        (["lute", "harp"], "harp", 1),
        (["(A) lute", "(B) harp"], "(B) harp", 1),
        (["A. lute", "B. harp"], "B", 1),
        (["A: lute", "B: harp"], "harp", 1),
        ("['lute', \"harp's\"]", "harp's", 1),
        ('["lute", "harp"]', "B. harp", 1),
        ("(A) lute (B) harp (C) bell", "(C) bell", 2),
        (
            ["B. minor", "A. major"],
            "A. major",
            1,
        ),  # letters that are not in order are a part of the text
        (["lute", "harp"], None, None),
    ],
)
def test_choices_of_each_spelling(choices, answer, right):
    entry = choice_record({"question": "Which?", "choices": choices, "answer": answer})
    assert entry["right"] == right
    if right is not None and choices[0] != "B. minor":
        assert entry["choices"][right] in ("harp", "harp's", "bell")


@pytest.mark.parametrize(
    "choices",
    [
        "lute, harp",
        "__import__('os').system('true')",
        "[open('x')]",
        "(A) lute (C) harp",
        7,
        "[" + "9," * 20_000,
        "[" * 9000,
    ],
)
def test_other_texts_are_no_list(choices):
    with pytest.raises(ValueError, match="its choices"):
        choice_list(choices)


def test_a_malformed_record_of_the_hub_is_named(tmp_path):
    records = {"1": rul_record(1), "2": {"question": "no answer"}}
    source = write(
        tmp_path, {"RUL-MuchoMusic.json": json.dumps(records).encode(), "1.mp3": sound("MP3")}
    )
    with pytest.raises(
        DatasetError, match=r"RUL-MuchoMusic.json: record '2' is not as expected: KeyError"
    ):
        describe_dataset(str(source), benchmark=rul_muchomusic.BENCHMARK)
