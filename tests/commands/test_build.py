"""`music-evals build` as a user runs it: what it writes, says and leaves behind."""

import json
import os

import pytest

from music_evals.datasets_builders.questions.question_rows import write_question_rows
from tests.commands.cli import lines_of_table, run
from tests.datasets_builders.questions.test_floors import rows
from tests.ziqi_source import write_source

pytestmark = pytest.mark.usefixtures("no_audits")
SMALL = ["--syncopation", "2", "--transposition", "2", "--chord-quality", "4"]


def test_build_writes_a_dataset_and_shows_what_is_in_it(tmp_path):
    assert run("--version")[1].startswith("music-evals 0.")
    code, output = run("build", "muse", "--out", tmp_path / "out", "--seed", "9", *SMALL)
    assert code == 0, output
    provenance = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert provenance["seed"] == 9
    numbers = {"syncopation": 2, "transposition": 2, "chord_quality": 4}
    assert provenance["counts"] == {
        config: {"test": number, "fewshot": number} for config, number in numbers.items()
    }
    for config, number in numbers.items():
        assert f"{config}: {number} rows in test, {number} rows in fewshot" in output


def test_an_audit_shows_what_guessers_get_and_the_stated_floor(tmp_path):
    command = ("build", "ziqi", "--out", tmp_path / "out", "--audit")
    code, output = run(*command, "--source", write_source(tmp_path / "source"))
    assert code == 0, output
    shown = {(line[1], line[2]): line[3:] for line in lines_of_table(output)}
    assert shown["comprehension test", "longest"][2] == "40"  # four rows of each of ten themes
    assert shown["generation test", "commonest place"][2] == "4"
    code, output = run("build", "ziqi")
    assert (code, "--out: a folder to write is needed" in output) == (2, True)


def test_an_audit_ends_with_status_1_above_the_stated_floor(tmp_path):
    questions = {"knowledge": {"test": rows(60, "long", leaky=True)}}
    write_question_rows("musictheorybench", "1.0", questions, tmp_path / "bank", source="generated")
    command = ("build", "musictheorybench", "--audit", "--out", tmp_path / "bank")
    assert run(*command)[0] == 0
    file = tmp_path / "bank" / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "floors": {}}))
    code, output = run(*command)
    shown = {line[2]: line[6:8] for line in lines_of_table(output)}
    assert (code, shown["longest"]) == (1, ["25.0%", "yes"]), output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["muse", "--source", "nowhere"],
            1,
            "dataset 'nowhere' does not exist; accepted: 'generated', 'published'",
        ),
        (
            ["muse", "--chord-quality", "1585"],
            1,
            "chord_quality: 1585 test rows asked for; possible are 0 to 1584",
        ),
        (["muse", "--syncopation", "-1"], 2, "Invalid value for '--syncopation'"),
        (["muse", "--soundfont", "nowhere.sf2"], 1, "the soundfont cannot be read"),
        (["muse", "--allow-partial"], 2, "only recordings can be partial"),
        (["muse", "--source", ".", "--seed", "1"], 2, "are for generated stimuli"),
        (["muse", "--seed", "one"], 2, "Invalid value for '--seed'"),
        (["ziqi", "--skip-bad"], 2, "give --source too"),
        (["ziqi", "--source", "somewhere", "--theory", "9"], 2, "not for published ones"),
        (["ziqi", "--source", "no/such/folder"], 1, "dataset 'no/such/folder' does not exist"),
        (["ziqi", "--theory", "-1"], 1, "theory is -1; a number of questions from 0 is needed"),
        (["ziqi", "--theory", "0", "--continuation", "0"], 1, "theory and continuation are both 0"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path, arguments, code, message):
    status, output = run("build", *arguments, "--out", tmp_path / "out")
    assert status == code
    assert message in output
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["msu", "mmau", "musictheorybench"])
def test_a_hub_that_cannot_be_reached_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "cache"))
    code, output = run("build", name, "--source", "published", "--out", tmp_path / "out")
    (line,) = output.strip().splitlines()
    assert (code, line.partition("/")[0]) == (1, "Error: hf.co")
    assert line.endswith("is not in the local cache and the Hub cannot be reached")
    assert not (tmp_path / "out").exists()


def test_ziqi_from_a_source_reports_what_is_odd(tmp_path):
    def edit(split, theme, rows):
        if (split, theme) == ("test", "female_music"):
            rows[2][1:6] = rows[1][1:6]
            rows[4][6] = "X"

    source = write_source(tmp_path / "source", edit=edit)
    code, output = run("build", "ziqi", "--out", tmp_path / "ziqi", "--source", source)
    assert code == 1
    assert (
        "Error: test/female_music.csv, row 4 (ends in line 5): the answer is 'X'; A, B, C or D is "
        "needed" in output
    )
    assert not (tmp_path / "ziqi").exists()
    code, output = run(
        "build", "ziqi", "--out", tmp_path / "ziqi", "--source", source, "--skip-bad"
    )
    assert code == 0, output
    assert "  duplicates within female music, to the character, marked: 1\n" in output
