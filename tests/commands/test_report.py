"""`music-evals report` as a user runs it, on logs on disk."""

import csv
import json
import re
from html import escape
from pathlib import Path
from shutil import copy
from tempfile import gettempdir
from urllib.parse import unquote

import fsspec
import pytest
from inspect_ai.log import read_eval_log

from music_evals.reports import site
from tests.commands.cli import lines_of_table, run
from tests.reports.conftest import GOLDEN
from tests.reports.logs import write_log

QUESTIONS = "CCI"


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_pieces(folder):
    """Pieces written as LilyBench asks."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(copy(GOLDEN / "46-generation-chance.eval", folder))


def test_a_folder_of_logs_becomes_tables_on_screen_and_in_files(tmp_path):
    logs, out = tmp_path / "my logs", tmp_path / "new" / "report"
    log = write_log(
        logs, QUESTIONS, task="generation", model="some/model", params={"shots": "zero"}
    )
    failed = write_log(logs, QUESTIONS, status="error")
    other = write_log(logs / "deep", QUESTIONS, about={"benchmark": "other"})
    (logs / "cut-off.eval").write_bytes(b"PK")
    code, output = run("report", logs, log, "--full", "--out", out)
    assert code == 0, output
    shown = " ".join(output.split())
    assert "63.04" in shown, "GPT-4's published F1"
    assert "Passed over, 3 of 4 logs" in shown

    assert list(out.parent.iterdir()) == [out], "nothing is left beside"
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "| some/model | measured † | " in text
    reasons = {row["Log"]: row["Why"] for row in rows(out / "basis_passed_over.csv")}
    assert reasons[failed.name] == "its status is error, not success"
    assert reasons[other.name] == "no table is known for other"
    assert reasons["cut-off.eval"].startswith("it cannot be used: File is not a zip file")
    assert rows(out / "ziqi_table1.csv")[-1]["Gen. recall"] == str(100 * (2 / 3))
    code, output = run("report", log, "--full", columns=50)
    assert (code, "Not shown at this width: " in output) == (0, True)
    assert max(map(len, output.splitlines()[1:8])) <= 50


def test_the_page_holds_the_numbers_and_names_of_the_logs_as_text(tmp_path):
    hostile = "<b onclick=alert(1)>some</b>/model"
    first = write_log(tmp_path / "logs", QUESTIONS, task="generation", model=hostile)
    second = write_pieces(tmp_path / "logs")
    out, again = tmp_path / "report", tmp_path / "again"
    assert run("report", first, second, "--out", out)[0] == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<b onclick" not in page
    assert str(tmp_path) not in page, "the folders of the machine are nobody's business"
    sections = re.findall(r'<section id="([\w-]+)"', page)
    assert sections[:3] == ["summary", "ziqi-eval", "lilybench-generation"]
    assert set(re.findall(r'download="([^"]+)"', page)) == {
        path.name for path in out.glob("*.csv")
    } - {"results.csv"}
    last = rows(out / "ziqi_table1.csv")[-1]
    assert last["Model"] == hostile
    heading = f'<th scope="row" class="text head">{str(escape(hostile)).replace("/", "/<wbr>")}'
    row = page[page.index(heading, page.index('id="ziqi_table1"')) :]
    shown = re.findall(
        r'<td class="number" data-value="[\d.]+">\s*([\d.]+)', row[: row.index("</tr>")]
    )
    assert shown == [
        f"{float(last[name]):.0f}" for name in ("Gen. precision", "Gen. recall", "Gen. F1")
    ]
    # The same logs in another order give the same files.
    assert run("report", second, first, "--out", again)[0] == 0
    one, two = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (out, again)
    )
    assert one == two


def test_the_terminal_shows_all_models_ahead_of_baselines_and_the_first_faults(
    tmp_path,
):
    for number in range(40):
        model = f"baseline/program-{number:02}" if number > 2 else f"org/model-{number:02}"
        write_log(tmp_path, QUESTIONS, model=model)
        write_log(tmp_path, QUESTIONS, status="error")
    code, output = run("report", tmp_path, columns=80)
    lines = output.splitlines()
    assert code == 0, output
    shown = re.findall(r"(?:model|program)-\s*(?=\d\d|│)", output)
    assert shown[:3] == ["model-"] * 3
    assert len(shown) == 40
    assert "Passed over, 40 of 80 logs:" in lines
    assert "  … and 37 more" in lines


def test_results_hold_each_figure_with_interval_floors_and_gain(tmp_path):
    log = write_log(tmp_path, QUESTIONS, model="=model", params={"shots": "zero"})
    assert run("report", log, "--out", tmp_path / "out")[0] == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    (score,) = [
        one
        for one in results["records"]
        if one["source"] == "measured" and one["metric"].endswith("/accuracy")
    ]
    assert (score["value"], score["n"], score["task"]) == (pytest.approx(2 / 3), 3, "comprehension")
    assert score["low"] < score["value"] < score["high"]
    assert (score["log"], score["is_published_test"], score["is_complete"]) == (
        log.name,
        False,
        True,
    )
    (floor,) = [one for one in results["records"] if one["source"] == "floor"]
    assert (floor["floor"], floor["value"]) == ("chance", 0.25)
    gains = {one["section"]: one["normalised"]["value"] for one in results["aggregates"]}
    assert gains["ZIQI-Eval"] == pytest.approx(100 * (2 / 3 - 1 / 4) / (1 - 1 / 4))
    measured = [
        row for row in rows(tmp_path / "out" / "results.csv") if row["source"] == "measured"
    ]
    assert {row["model"] for row in measured} == {"'=model"}
    assert str(2 / 3) in {row["value"] for row in measured}


def test_odd_logs_are_named_and_the_others_are_shown(tmp_path):
    logs, out = tmp_path / "logs", tmp_path / "out"
    write_log(logs, QUESTIONS, model="sound\x1b[31m/model")
    odd = {
        "huge": {"floors": {"": {"chance": {"value": 1e30}}}},
        "floors": {"floors": {"": {"chance": {"value": "high"}}}},
        "benchmark": {"benchmark": ["ziqi"]},
    }
    for name, about in odd.items():
        write_log(logs / name, QUESTIONS, about=about).rename(logs / f"{name}.eval")
    write_log(logs / "themes", QUESTIONS, params={"themes": {"a": 1}}).rename(logs / "themes.eval")
    (logs / "foreign.eval").write_text('{"version": 2}')
    (logs / "2026-01-02T10-00-00_deep.json").write_text("[" * 100_000)
    code, output = run("report", logs, "--out", out)
    assert code == 0, output
    assert "\x1b" not in output
    assert "sound\ufffd[31m/<wbr>model" in (out / "report.html").read_text(encoding="utf-8")
    reasons = {row["Log"]: row["Why"] for row in rows(out / "basis_passed_over.csv")}
    assert "RecursionError" in reasons.pop("2026-01-02T10-00-00_deep.json")
    assert reasons == {
        "benchmark.eval": "no table is known for ['ziqi']",
        "floors.eval": (
            "its metadata cannot be used: floors..chance.value: Input should be a valid number"
        ),
        "foreign.eval": (
            "it cannot be used: File is not a zip file (BadZipFile in read_header of records.py)"
        ),
        "huge.eval": "eval.metadata.floors..chance.value is a number above 1e+20",
    }


def test_an_earlier_report_is_replaced_only_if_asked(tmp_path):
    out = tmp_path / "out"
    command = ("report", write_pieces(tmp_path / "logs"), "--out", out)
    out.mkdir()
    assert run(*command)[0] == 0
    (out / "stale.csv").write_text("")
    code, output = run(*command)
    assert (code, "already holds a report" in output, (out / "stale.csv").exists()) == (
        1,
        True,
        True,
    )
    assert run(*command, "--overwrite")[0] == 0
    assert not (out / "stale.csv").exists()

    (out / "thesis.tex").write_text("mine")
    code, output = run(*command, "--overwrite")
    assert (code, "is not empty and does not hold a report of ours" in output) == (1, True)
    assert (out / "thesis.tex").read_text() == "mine"


def test_a_site_holds_page_card_figures_and_the_logs_that_count(tmp_path):
    first = write_log(tmp_path / "a", QUESTIONS, model="org/one")
    second = write_log(tmp_path / "b", QUESTIONS, model="org/two")
    write_log(tmp_path / "b", QUESTIONS, status="error")
    out, site = tmp_path / "report", tmp_path / "new" / "site"
    code, output = run("report", first, second.parent, "--out", out, "--site", site)
    assert (code, f"Wrote {site}" in output) == (0, True), output
    assert {path.name for path in site.iterdir()} == {
        "README.md",
        "index.html",
        "logs",
        "report.html",
        "results.json",
    }
    assert (site / "results.json").read_bytes() == (out / "results.json").read_bytes()
    page = (site / "index.html").read_text(encoding="utf-8")
    names = [unquote(name) for name in re.findall(r'href="logs/index.html#/logs/([^"/]+)"', page)]
    assert names == ["00.eval", "00-2.eval"]
    kept = {path.name: path.read_bytes() for path in (site / "logs" / "logs").glob("*.eval")}
    assert kept == {names[0]: first.read_bytes(), names[1]: second.read_bytes()}
    texts = [
        path.read_text(encoding="utf-8")
        for path in site.rglob("*")
        if path.suffix in (".html", ".json", ".md")
    ]
    assert not any(str(tmp_path) in text or gettempdir() in text for text in texts), (
        "folders are nobody's business"
    )

    # A site may be made anew from its own logs; what is no site is not replaced.
    command = ("report", site / "logs" / "logs", "--site", site)
    code, output = run(*command)
    assert (code, "already holds a site" in output) == (1, True), output
    assert run(*command, "--overwrite")[0] == 0
    assert (site / "index.html").read_text(encoding="utf-8").count("#/logs/") == 2
    (site / "mine.txt").write_text("mine")
    code, output = run(*command, "--overwrite")
    assert (code, "does not hold a site of ours" in output, (site / "mine.txt").exists()) == (
        1,
        True,
        True,
    )
    code, output = run("report", first, "--out", out / "x", "--site", out, "--overwrite")
    assert (code, "does not hold a site of ours" in output) == (1, True), output
    code, output = run("report", first, "--out", tmp_path / "x", "--site", tmp_path / "x" / "y")
    assert (code, "lie in one another" in output, (tmp_path / "x").exists()) == (1, True, False)


def test_the_media_in_the_logs_of_a_site_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "MEDIA_BYTES", 5_000)
    media = f"data:audio/wav;base64,{'A' * 4_000}"
    log = write_log(tmp_path / "logs", "CC", samples=[{"media": [media]}] * 2)
    assert run("report", log, "--site", tmp_path / "site")[0] == 0
    copied = read_eval_log(str(tmp_path / "site" / "logs" / "logs" / log.name))
    assert [sample.metadata["media"] for sample in copied.samples or []] == [[media], ["data:,"]]
    assert "index.html" in (tmp_path / "site" / "report.html").read_text(encoding="utf-8")
    assert "report.html" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_a_site_of_logs_that_lie_elsewhere_has_copies_of_them(tmp_path):
    log = write_log(tmp_path, QUESTIONS)
    files = fsspec.filesystem("memory")
    files.put(str(log), "/somewhere/a.eval")
    try:
        code, output = run("report", "memory://somewhere/a.eval", "--site", tmp_path / "site")
    finally:
        files.rm("/somewhere", recursive=True)
    assert code == 0, output
    (copy,) = (tmp_path / "site" / "logs" / "logs").glob("*.eval")
    assert copy.read_bytes() == log.read_bytes()


def test_two_models_or_conditions_are_compared_on_the_same_questions(tmp_path):
    for model, answers in (("one/right", "CCCCCCCC"), ("two/wrong", "IIIIIIIC")):
        write_log(tmp_path, answers, model=model, params={"shots": "zero"})
    write_log(tmp_path, "CCCCIIII", model="one/right", params={"shots": "five"})
    code, output = run("compare", "one/right", "wrong", tmp_path)
    assert code == 0, output
    row, *_ = lines_of_table(output)
    assert row[-8] == "−88", "second less first"
    assert row[-6] == "0.0156", "2 · 0.5⁷: McNemar's exact test of seven that changed"
    code, output = run("compare", "shots=zero", "shots=five", tmp_path)
    assert (code, lines_of_table(output)[0][-8]) == (0, "−50"), output
    code, output = run("compare", "two/wrong", "nobody", tmp_path)
    assert (code, "no run is of nobody; a model or" in output) == (1, True), output


def test_a_model_is_compared_by_its_name_with_arguments(tmp_path):
    for share, answers in (("0.2", "IIIIIIIC"), ("0.8", "CCCCCCCC")):
        write_log(tmp_path, answers, model="noisy/a", fields={"model_args": {"p": share}})
    code, output = run("compare", "noisy/a [p=0.2]", "a [p=0.8]", tmp_path)
    assert code == 0, output
    assert lines_of_table(output)[0][-8] == "88"


def test_power_says_what_questions_can_tell(tmp_path):
    code, output = run("power", "muse_syncopation")
    assert code == 0, output
    # McNemar's exact test: with 20 questions and 70% right, only a fall is found.
    assert lines_of_table(output)[0][2:4] == ["20", "−36.7"], output
    for model, answers in (("a/one", "CCCCIIII"), ("b/two", "CCIIIIII")):
        write_log(tmp_path, answers, model=model)
    code, output = run("power", "ziqi", tmp_path)
    last = [row[-2] for row in lines_of_table(output)]
    assert last == ["1 pair of runs", "supposed, from 70%"], output
    code, output = run("power", "nothing")
    assert (code, "no benchmark or task nothing" in output) == (1, True)


def test_tables_are_written_as_latex(tmp_path):
    log = write_log(tmp_path / "logs", QUESTIONS, model="a_b/c&d")
    code, output = run("report", log, "--out", tmp_path / "out", "--latex")
    assert code == 0, output
    text = (tmp_path / "out" / "latex" / "summary.tex").read_text()
    # Columns that do not fit beside the others go on in a second tabular.
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [2, 2, 2]
    assert r"a\_\allowbreak b/\allowbreak c\&d" in text
    assert r"\begin{threeparttable}" in text
    assert run("report", log, "--latex")[0] == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere does not exist"),
        ("empty", "empty could be used"),
        ("00.eval", "no table is known for other"),
        ("text.txt", "text.txt: it cannot be used: "),
        ("rows.json", "rows.json: "),
        ("cut.eval", "cut.eval: it cannot be used: File is not a zip file"),
    ],
)
def test_bad_input_is_named(name, message, tmp_path):
    (tmp_path / "empty").mkdir()
    write_log(tmp_path / "logs", QUESTIONS, about={"benchmark": "other"}).rename(
        tmp_path / "00.eval"
    )
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "rows.json").write_text('[{"a": 1}]')
    (tmp_path / "cut.eval").write_bytes(b"PK\x03\x04")
    code, output = run("report", tmp_path / name, "--out", tmp_path / "out")
    assert (code, message in " ".join(output.split())) == (1, True), output
    assert not (tmp_path / "out").exists()
