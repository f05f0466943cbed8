"""`music-evals report` as a user runs it, on logs on disk."""

import csv
import re
from tempfile import gettempdir
from urllib.parse import unquote

import pytest
from inspect_ai.log import read_eval_log

from music_evals.reports import site
from tests.commands.cli import lines_of_table, run
from tests.reports.logs import write_log

QUESTIONS = "CCI"


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
