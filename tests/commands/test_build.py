"""`music-evals build muse` as a user runs it: what it writes, says and leaves behind."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from music_evals.commands.main import app
from tests.ziqi_source import Fields, write_source

RECORDINGS = Path(__file__).parents[3] / "shared" / "data" / "muse"
SMALL = ["--syncopation", "2", "--transposition", "2", "--chord-quality", "4"]


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_version() -> None:
    code, output = run("--version")
    assert code == 0
    assert output.startswith("music-evals 0.")


def test_build_writes_a_dataset_and_shows_what_is_in_it(tmp_path: Path) -> None:
    code, output = run("build", "muse", "--out", tmp_path / "out", "--seed", "9", *SMALL)
    assert code == 0, output
    made = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert made["seed"] == 9
    numbers = {"syncopation": 2, "transposition": 2, "chord_quality": 4}
    assert made["counts"] == {config: {"test": number, "fewshot": number} for config, number in numbers.items()}
    lines = [[cell.strip() for cell in line.split("│")] for line in output.splitlines() if line.startswith("│")]
    assert [line[1:4] for line in lines] == [
        [config, split, str(number)] for config, splits in made["counts"].items() for split, number in splits.items()
    ]
    assert lines[0][4] == "16.0"  # two loops of eight seconds
    assert lines[2][5] == "No 1, Yes 1"
    assert lines[4][5] == "A 1, B 1, C 1, D 1"


def test_existing_dataset_is_replaced_only_when_told(tmp_path: Path) -> None:
    asked = ("build", "ziqi", "--out", tmp_path / "out", "--theory", "4", "--continuation", "0")
    assert run(*asked)[0] == 0
    before = (tmp_path / "out" / "provenance.json").read_text()
    code, output = run(*asked, "--seed", "9")
    assert code == 1
    assert "already holds a dataset" in output
    assert (tmp_path / "out" / "provenance.json").read_text() == before
    assert run(*asked, "--seed", "9", "--overwrite")[0] == 0
    assert (tmp_path / "out" / "provenance.json").read_text() != before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--source", "nowhere"], 1, "nowhere is not a folder; --source wants a copy of https://github.com/"),
        (["--chord-quality", "9999"], 1, "chord_quality: 9999 test rows asked for; possible are 0 to 1584"),
        (["--syncopation", "-1"], 1, "syncopation: -1 test rows asked for; a count is 0 or more"),
        (["--soundfont", "nowhere.sf2"], 1, "the soundfont cannot be read"),
        (["--allow-partial"], 2, "only recordings can be partial"),
        (["--source", ".", "--seed", "1"], 2, "are for generated stimuli"),
        (["--seed", "one"], 2, "Invalid value for '--seed'"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    found, output = run("build", "muse", "--out", tmp_path / "out", *arguments)
    assert found == code
    assert message in output
    assert "Traceback" not in output
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"no copy of the recordings in {RECORDINGS}")
def test_recordings_of_a_partial_copy(tmp_path: Path) -> None:
    code, output = run("build", "muse", "--out", tmp_path / "out", "--source", RECORDINGS)
    assert code == 1
    assert "stimuli/Chords/5.wav" in output
    assert os.listdir(tmp_path) == []
    code, output = run("build", "muse", "--out", tmp_path / "out", "--source", RECORDINGS, "--allow-partial")
    assert code == 0
    assert "stimuli/Chords/5.wav" in output
    assert (tmp_path / "out" / "LICENSE_DATA.md").read_bytes() == (RECORDINGS / "LICENSE_DATA.md").read_bytes()


def test_ziqi_from_a_source_reports_what_is_odd(tmp_path: Path) -> None:
    def edit(split: str, theme: str, rows: list[Fields]) -> None:
        if (split, theme) == ("test", "female_music"):
            rows[2][1:6] = rows[1][1:6]
            rows[4][6] = "X"

    source = write_source(tmp_path / "source", edit=edit)
    code, output = run("build", "ziqi", "--out", tmp_path / "ziqi", "--source", source)
    assert code == 1
    assert "Error: test/female_music.csv, row 4 (ends in line 5): the answer is 'X'; A, B, C or D is needed" in output
    assert not (tmp_path / "ziqi").exists()
    code, output = run("build", "ziqi", "--out", tmp_path / "ziqi", "--source", source, "--skip-bad")
    assert code == 0, output
    lines = [[cell.strip() for cell in line.split("│")] for line in output.splitlines() if line.startswith("│")]
    assert ["", "female music", "5", "3", "4", "1 / 1 / 1 / 0", "1", ""] in lines
    assert ["", "duplicates within female music, to the character, marked", "1", ""] in lines
    made = json.loads((tmp_path / "ziqi" / "provenance.json").read_text())
    assert made["counts"]["comprehension"] == {"dev": 50, "test": 39}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--skip-bad"], "give --source too"),
        (["--source", "somewhere", "--theory", "9"], "published ones are what they are"),
        (["--source", "somewhere", "--revision", "main"], "a folder is at one revision only"),
        (["--source", "no/such/folder"], "no/such/folder is not a folder"),
        (["--theory", "-1"], "theory is -1; a number of questions from 0 is needed"),
    ],
)
def test_ziqi_is_asked_for_wrongly(tmp_path: Path, options: list[str], said: str) -> None:
    code, output = run("build", "ziqi", "--out", tmp_path / "out", *options)
    assert code != 0
    assert said in " ".join(output.replace("│", " ").split())
    assert not (tmp_path / "out").exists()
