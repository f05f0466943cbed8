"""What was run is what is shown: twelve benchmarks by four models, one of which ran a part."""

import re
from pathlib import Path

import pytest

from music_evals import benchmarks
from music_evals.benchmarks import load
from music_evals.reports.table import _words
from tests.commands.cli import run
from tests.reports.logs import write_log
from tests.reports.test_same_figures import in_latex

NAMES = (
    "muse",
    "muse_ten",
    "ziqi",
    "musictheorybench",
    "msu",
    "lilybench",
    "abc_eval",
    "muchomusic",
    "mmau",
    "mmar",
    "pitchbench",
    "nsynth",
)
MODELS = {
    "vllm/mistralai/Mixtral-8x22B-Instruct-v0.1-AWQ": 7,
    "openai/gpt-4o-audio-preview-2025-06-03": 6,
    "hf/HuggingFaceTB/SmolLM2-135M-Instruct": 4,
    "baseline/chance": 3,
}
PART = "anthropic/part-of-muse"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of reports and logs, and what the terminal shows."""
    folder = tmp_path_factory.mktemp("all")
    for place, (model, right) in enumerate(MODELS.items()):
        for name in NAMES:
            tasks = [*load(name).tasks]
            for task in tasks if name == "muse" else tasks[:1]:
                # Questions of a benchmark are its own, so that none repeats another.
                samples = [{"content": f"{name} {task} {number}"} for number in range(10)]
                values = "C" * right + "I" * (10 - right)
                options = {"benchmark": name, "task": task, "model": model, "samples": samples}
                write_log(folder / "logs" / str(place), values, **options)
    write_log(folder / "logs", "C" * 10, benchmark="muse", task="syncopation", model=PART)
    places = ("--out", folder / "out", "--site", folder / "site")
    code, output = run("report", folder / "logs", "--latex", *places, columns=200)
    assert code == 0, output
    return folder, output


def headings(row):
    return {name.rstrip(" †") for name in row} - {"Model", "Rank", "Suite, normalised"}


def test_tables_of_latex_fit_a_plain_article(written):
    text = (written[0] / "out" / "latex" / "overview.tex").read_text(encoding="utf-8")
    assert "% Left out" not in text
    assert text.count(r"\begin{tabular}") > 1
    names = re.findall(r"Mixtral", text)
    assert len(names) == text.count(r"\begin{tabular}"), "each part names its rows"


def test_columns_are_checked_before_any_table_and_those_that_there_are_are_named(written, tmp_path):
    command = ("report", written[0] / "logs", "--out", tmp_path / "out", "--latex", "--columns")
    code, output = run(*command, "Model,Musee")
    assert code == 1
    assert output.startswith("Error: --columns Model,Musee: no table has Musee; ")
    assert "overview: Model, Suite, normalised, MUSE, " in output
    assert not (tmp_path / "out").exists()
    code, output = run(*command, "Model,MUSE,ZIQI-Eval,PitchBench,NSynth")
    assert code == 0, output
    tex = (tmp_path / "out" / "latex" / "overview.tex").read_text(encoding="utf-8")
    assert set().union(*map(headings, in_latex(tex))) == {
        "MUSE",
        "ZIQI-Eval",
        "PitchBench",
        "NSynth",
    }


def test_every_floor_has_a_sentence():
    """Floors stand in the provenance of data and in the code that makes them."""
    named = {"chance", "majority", "surface"}
    for path in Path(benchmarks.__file__).parents[1].rglob("questions/audit.py"):
        named |= set(re.findall(r'"(\w[\w ]*)": _', path.read_text(encoding="utf-8")))
    assert named >= {"blind", "options alone"}
    assert named <= _words()["floors"].keys()
