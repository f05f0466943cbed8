"""The same figure in the terminal, on the page, on the site, in Markdown, LaTeX, CSV and JSON."""

import csv
import json
import random
import re
from html.parser import HTMLParser

import pytest

from music_evals.reports.latex import TEXT_WIDTH, choose_columns, latex
from music_evals.reports.table import Table, rounded
from music_evals.scorers.metrics.estimates import Estimate
from tests.commands.cli import run
from tests.reports.logs import write_log

MODELS = {
    "vllm/zeta/Zeta-Audio-72B-Instruct": 0.8,
    "google/gamma-large": 0.7,
    "anthropic/delta-5": 0.6,
    "openai/alpha-omni-mini": 0.5,
    "vllm/org/beta-7b": 0.4,
    "vllm/org/beta-1b": 0.3,
    "hf/local/checkpoint-4000": 0.1,
    "baseline/chance": 0.25,
}
TASKS = (
    ("muse", "syncopation", 40),
    ("muse", "transposition", 40),
    ("muse", "chord_quality", 40),
    ("ziqi", "generation", 60),
    ("musictheorybench", "knowledge", 80),
    ("musictheorybench", "reasoning", 200),
)
BEST, SECOND, *_ = MODELS
Rows = list[dict[str, str]]


class Tables(HTMLParser):
    """Reads the tables of a page: the numbers and texts of cells, without small print."""

    def __init__(self, page):
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.rows: list[list[str]] = []
        self.small = 0
        self.in_cell = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            name = str(dict(attrs)["id"]).removesuffix("-grid")
            self.rows = self.tables[name] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.in_cell = True
        elif tag in ("small", "sup"):
            self.small += 1

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.in_cell = False
        elif tag in ("small", "sup"):
            self.small -= 1

    def handle_data(self, data):
        if self.in_cell and not self.small:
            self.rows[-1][-1] += data

    def named(self, name):
        heads, *rows = [[plain(cell) for cell in row] for row in self.tables[name]]
        return [dict(zip(heads, row, strict=True)) for row in rows]


def plain(words):
    """A cell without its mark, in one line."""
    return " ".join(re.sub(r"[†‡]", "", words).split()).replace("–", "-", 1)


def in_latex(text):
    rows = []
    for block in text.split(r"\begin{tabular}")[1:]:
        rows = _beside(rows, _in_block(block[: block.index(r"\bottomrule")]))
    return rows


def _beside(first, second):
    """Rows of two parts of a table, the second below the first."""
    return [{**one, **other} for one, other in zip(first or second, second, strict=True)]


def _in_block(body):
    body = body[body.index(r"\toprule") :]
    body = body.replace(r"-\\", "-").replace(r"\allowbreak ", "").replace("$-$", "−")
    body = re.sub(r"\\shortstack\[r\]\{([^}]*)\}", lambda match: match[1].replace(r"\\", " "), body)
    body = re.sub(r"\\textdagger(dbl)?\{\}| \{\\scriptsize [^}]*\}", "", body)
    _, first, rest = body.split("rule", 2)
    lines = [" ".join(first.splitlines()[1:-1]), *rest.splitlines()]
    cells = [[cell.strip(" \\") for cell in line.split("& ")] for line in lines if "&" in line]
    heads, *rows = [[cell.replace("\\", "") for cell in row] for row in cells]
    return [dict(zip(heads, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A folder with ``out`` and ``site``, and what the terminal shows."""
    folder = tmp_path_factory.mktemp("figures")
    draw = random.Random(54)
    for model, share in MODELS.items():
        for benchmark, task, number in TASKS:
            values = ["C" if draw.random() < share else "I" for _ in range(number)]
            write_log(folder / "logs", values, benchmark=benchmark, task=task, model=model)
    command = ("--full", "--latex", "--out", folder / "out", "--site", folder / "site")
    code, output = run("report", folder / "logs", *command, columns=2000)
    assert code == 0, output
    return folder, output


def read_csv(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_leaderboard_and_the_first_table_of_the_page_have_the_summarys_figures(
    report,
):
    folder, _ = report
    text = (folder / "out" / "report.html").read_text(encoding="utf-8")
    page = Tables(text)
    site = Tables((folder / "site" / "index.html").read_text(encoding="utf-8"))
    scores = {(row["Model"], row["Benchmark"]): row for row in page.named("summary")}
    for table in (page.named("overview"), site.named("overview")):
        assert [row["Model"] for row in table] == list(MODELS)
        for row in table:
            for section in row.keys() - {"Model", "Rank", "Suite, normalised"}:
                assert row[section] == scores[row["Model"], section]["Score"]
            assert row["Suite, normalised"] == scores[row["Model"], "Suite"]["Normalised"]
    words = re.search(r'<img src="[^"]*" alt="([^"]*)"', text)
    assert words
    best = page.named("overview")[0]["Suite, normalised"]
    assert f"to {best} ({BEST})." in words[1], "the figure in words"
    assert [row["Rank"] for row in site.named("overview")] == [*"1234567", "-"]
    board = site.named("board")
    assert len(board) == len(MODELS) * 3
    for row in board:
        summary = scores[row["Model"], row["Benchmark"]]
        for name in ("Score", "Gain", "Normalised", "Tasks"):
            assert row[name] == summary[name]
    first = site.named("pairs")[0]
    assert {first["First model"], first["Second model"]} == {BEST, SECOND}
    # Both scores of a pair are as in the table of scores.
    floors = {(row["Task"], row["Model"]): row["Score"] for row in page.named("muse_floors")}
    pairs = page.named("tests_models_muse")
    assert len(pairs) == 3 * 28
    for row in pairs:
        task = row["Task"].replace("_", " ").capitalize()
        assert row["First"] == floors[task, row["First model"]]
        assert row["Second"] == floors[task, row["Second model"]]


def test_csv_and_json_agree_to_the_last_digit(report):
    out = report[0] / "out"
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    rows = read_csv(out / "results.csv")
    assert len(rows) == len(results["records"])
    for row, record in zip(rows, results["records"], strict=True):
        for name in ("value", "low", "high"):
            assert row[name] == ("" if record[name] is None else repr(record[name]))
    means = {(mean["model"], mean["section"]): mean for mean in results["aggregates"]}
    for row in read_csv(out / "summary.csv"):
        mean = means[row["Model"], row["Benchmark"].removesuffix(" †")]
        for name in ("Score", "Gain", "Normalised"):
            estimate = mean[name.casefold()] or {"value": None, "low": None, "high": None}
            ends = [estimate[end] for end in ("value", "low", "high")]
            shown = ["" if end is None else repr(end) for end in ends]
            assert [row[name], row[f"{name} low"], row[f"{name} high"]] == shown


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (32.5, 0, "33"),
        (100 * 0.285, 0, "29"),  # a float of 28.499999999999996
        (-0.04, 1, "0.0"),
        (-2.5, 0, "−3"),
        (1e22, 0, "1" + "0" * 22),
        (float("inf"), 1, "inf"),
    ],
)
def test_halves_go_away_from_zero(value, decimals, shown):
    assert rounded(value, decimals) == shown


def width_of(text):
    """Points that a table of LaTeX takes: folded columns, digits at 8 and 7 pt, gaps of 12."""
    spec = re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)
    assert spec
    width = sum(float(points) + 12 for points in re.findall(r"p\{([\d.]+)pt\}", spec[1]))
    numbers = re.sub(r">\{.*?\}p\{[^}]*\}", "", spec[1])
    widest = 2 * 4.25 + 2.8 + 5 * 4 if "scriptsize" in text else 2 * 4.25
    return width + len(numbers) * (widest + 12)


def test_latex_has_columns_by_heading_and_folds_or_leaves_out_what_is_too_wide():
    number = Estimate(62.5, 54.1, 70.2, 120, 1, unread=0.02)
    rows = [["vllm/org/model_a-72B-Instruct", "x = [1, 2]", "default", number, number] * 2] * 3
    headings = ("Model", "Task", "Condition", "Score", "Gain")
    table = Table(
        "t",
        "A & b",
        [*headings, *(f"{heading} 2" for heading in headings)],
        rows,
        ["*Note* of 5%", "† mark"],
        optional=("Task 2",),
    )
    text = latex(table)
    assert r"\begin{tablenotes}" in text
    assert r"\item \emph{Note} of 5\%" in text
    assert "mark" not in text, "no cell has it"
    assert r"63 {\scriptsize 54--70}" in text
    assert r"\item Score: 120 items; small: 95\% intervals." in text
    assert text.index(r"\end{tabular}") < text.index(r"\begin{tablenotes}")
    few = choose_columns(table, ["score", "Model"])
    assert few
    assert list(few.columns) == ["Model", "Score"]
    assert width_of(latex(few)) <= TEXT_WIDTH
    assert choose_columns(table, ["Model", "Nothing"]) is None
    wide = Table(
        "w",
        "W",
        ("Model", *(f"Column{place}" for place in range(40))),
        [["org/model", *[number] * 40]] * 2,
    )
    narrowed = latex(wide)
    assert "% Left out" not in narrowed
    assert {f"Column{place}" for place in range(40)} <= {*in_latex(narrowed)[0]}
    for part in narrowed.split(r"\medskip"):
        assert width_of(part) <= TEXT_WIDTH


def test_columns_that_no_table_has_are_named(report, tmp_path):
    command = ("report", report[0] / "logs", "--out", tmp_path / "out")
    code, output = run(*command, "--latex", "--columns", "Model,Fame")
    assert (code, "Model,Fame: no table has Fame; " in output) == (1, True)
    assert not (tmp_path / "out").exists()
    assert run(*command, "--columns", "Model")[0] == 1
    code, output = run(*command, "--latex", "--columns", "Model,Suite, normalised,MUSE")
    assert code == 0, output
    shown = in_latex((tmp_path / "out" / "latex" / "overview.tex").read_text(encoding="utf-8"))
    assert [*shown[0]] == ["Model", "Suite, normalised", "MUSE"]
