"""What was run is what is shown: twelve benchmarks by four models, one of which ran a part."""

import csv
import json
import re
from pathlib import Path

import pytest

from music_evals import benchmarks
from music_evals.benchmarks import load
from music_evals.reports.overview import make_overview
from music_evals.reports.records import read_records
from music_evals.reports.summary import aggregates
from music_evals.reports.table import _words
from tests.commands.cli import run
from tests.reports.logs import write_log
from tests.reports.test_same_figures import Tables, in_latex

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
TITLES = {load(name).title for name in NAMES}


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


def column(path, name):
    with path.open(encoding="utf-8") as file:
        return {row[name].rstrip(" †") for row in csv.DictReader(file)}


def test_every_output_has_every_benchmark_that_was_run(written):
    folder, output = written
    out = folder / "out"
    page = Tables((out / "report.html").read_text(encoding="utf-8"))
    site = Tables((folder / "site" / "index.html").read_text(encoding="utf-8"))
    figure = (out / "overview.svg").read_text(encoding="utf-8")
    tex = (out / "latex" / "overview.tex").read_text(encoding="utf-8")
    shown = {
        "first table": headings(page.named("overview")[0]),
        "leaderboard": headings(site.named("overview")[0]),
        "scores": {row["Benchmark"].rstrip(" †") for row in site.named("board")},
        "LaTeX": set().union(*map(headings, in_latex(tex))),
        "overview.csv": {
            name for name in TITLES if name in (out / "overview.csv").read_text(encoding="utf-8")
        },
        "summary.csv": column(out / "summary.csv", "Benchmark") - {"Suite"},
        "results.csv": {load(name).title for name in column(out / "results.csv", "benchmark")},
        "figure": {title for title in TITLES if f">{title}<" in figure.replace(":\n", ": ")},
        "terminal": {title for title in TITLES if title in output},
        "Markdown": {
            title for title in TITLES if title in (out / "report.md").read_text(encoding="utf-8")
        },
        "results.json": {
            one["section"]
            for one in json.loads((out / "results.json").read_text(encoding="utf-8"))["aggregates"]
        }
        - {"Suite"},
    }
    assert {where: TITLES - titles for where, titles in shown.items()} == {
        where: set() for where in shown
    }
    assert len(TITLES) == 12


def test_a_part_is_marked_and_has_neither_a_rank_nor_the_highest_score(
    written,
):
    folder, _ = written
    text = (folder / "site" / "index.html").read_text(encoding="utf-8")
    row = text[text.index(">anthropic/") : text.index("</tr>", text.index(">anthropic/"))]
    assert "1/3 tasks" in row
    records = read_records(folder / "logs")
    means = aggregates(records)[0]
    first = next(mean for mean in means if mean.section == "MUSE")
    assert (first.model, first.score and first.score.value) == (next(iter(MODELS)), 70)
    sentence = make_overview(records).sentences["MUSE"]
    assert sentence.startswith("Mixtral-8x22B-Instruct-v0.1-AWQ has the highest score, 70")
    assert "Over syncopation alone, part-of-muse has 100" in sentence
    site = Tables(text)
    ranks = {row["Model"]: row["Rank"] for row in site.named("overview")}
    assert [ranks[model] for model in MODELS] == ["1", "2", "3", "-"]
    assert ranks[PART] == "-"


def test_a_model_that_ran_a_part_of_one_benchmark_has_no_rank(tmp_path):
    for task in load("muse").tasks:
        write_log(tmp_path, "CI" * 5, benchmark="muse", task=task, model="x/whole")
    write_log(tmp_path, "C" * 10, benchmark="muse", task="syncopation", model="x/part")
    write_log(tmp_path / "few", "C", benchmark="muse", task="syncopation", model="x/few", limit=1)
    code, output = run("report", tmp_path, "--site", tmp_path / "site")
    assert code == 0, output
    site = Tables((tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    ranks = {row["Model"]: row["Rank"] for row in site.named("overview")}
    assert ranks == {"x/whole": "1", "x/part": "-", "x/few": "-"}


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
