"""The transcribed tables: by the arithmetic that they must satisfy, and against the paper's text where there is one."""

from pathlib import Path
from typing import get_args

import pytest

from music_evals.reports.published import Name, Row, load

PAPER = sorted((Path(__file__).parents[3] / "shared" / "seeds").glob("002*.txt"))
HALF = 0.005 + 1e-9
"""What rounding to two decimals may move a number by."""


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("name", get_args(Name))
def test_every_table_names_its_source_and_holds_percentages(name: Name) -> None:
    table = load(name)
    commit = "31924fb755fafb351c76385403d176a9ab7fce76"
    assert any(known in table.source for known in ("2406.15885, Table", "2606.08722, Table", commit))
    assert all(0 <= figure <= 100 for row in table.rows for figure in row.figures.values())


def test_table1_f1_is_the_harmonic_mean() -> None:
    rows = load("ziqi_table1").rows
    assert len(rows) == 16
    inexact = []
    for row in rows:
        for part in ("comprehension", "generation"):
            precision, recall, printed = (row.figures[f"{part} {figure}"] for figure in ("precision", "recall", "f1"))
            if precision == 0:
                assert recall == printed == 0
                continue
            assert f1(precision - HALF, recall - HALF) - HALF <= printed <= f1(precision + HALF, recall + HALF) + HALF
            if abs(f1(precision, recall) - printed) > HALF:
                inexact.append((row.labels["model"], part))
    # These five follow from precision and recall before rounding only; no row contradicts itself.
    assert inexact == [
        ("Mixtral-8x7B", "comprehension"),
        ("Qwen-7B", "comprehension"),
        ("Qwen-7B", "generation"),
        ("Qwen-14B", "comprehension"),
        ("Yi-34B", "comprehension"),
    ]


def test_table2_averages_are_means_of_its_rows() -> None:
    *rows, average = load("ziqi_table2").rows
    assert len(rows) == 16
    assert average.labels == {"model": "Average"}
    for name, printed in average.figures.items():
        assert sum(row.figures[name] for row in rows) / 16 == pytest.approx(printed, abs=HALF)


def themes_mean(row: Row) -> float:
    return sum(figure for theme, figure in row.figures.items() if theme != "average") / 10


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        ("ziqi_leaderboard_zero_shot", ["Baichuan2-7B-Base", "educhat-base-002-13B"]),
        ("ziqi_leaderboard_five_shot", ["educhat-base-002-13B"]),
    ],
)
def test_printed_averages_are_means_of_themes_in_few_rows_only(name: Name, fitting: list[str]) -> None:
    rows = load(name).rows
    assert len(rows) == 16
    assert all(len(row.figures) == 11 for row in rows)
    assert [row.labels["model"] for row in rows if abs(themes_mean(row) - row.figures["average"]) <= HALF] == fitting
    # They are near the mean, and an average of some kind: no theme stands in the place of another's by far.
    for row in rows:
        themes = [figure for theme, figure in row.figures.items() if theme != "average"]
        assert min(themes) <= row.figures["average"] <= max(themes)
        assert row.figures["average"] == pytest.approx(themes_mean(row), abs=1.3)


def test_five_zero_shot_averages_are_over_the_questions() -> None:
    """Weighted by the numbers of published test questions, as counted in the repository's files."""
    questions = {
        "composition theory": 1165,
        "world ethnic music": 1805,
        "popular music": 1291,
        "Western music history": 2350,
        "Chinese music history": 2632,
        "Chinese traditional music": 1896,
        "music aesthetics": 658,
        "music education": 1181,
        "music performance": 826,
        "female music": 335,
    }
    fitting = [
        row.labels["model"]
        for row in load("ziqi_leaderboard_zero_shot").rows
        if row.figures["average"]
        and abs(sum(n * row.figures[theme] for theme, n in questions.items()) / 14139 - row.figures["average"]) < 0.01
    ]
    assert fitting == [
        "ChatGLM2-6B",
        "Ziya-LLaMA-13B-v1.1",
        "Qwen-7B-base",
        "Qwen-14B-Base",
        "Baichuan2-13B-Base",
    ]


@pytest.mark.skipif(not PAPER, reason="no copy of the paper's text beside the checkout")
@pytest.mark.parametrize(
    ("name", "first", "end", "rows"),
    [
        ("ziqi_table1", "GPT-4\t63.15", "Table 1:", 16),
        ("ziqi_table2", "GPT-4\t66.67", "Table 2:", 17),
        ("ziqi_table3", "High-school\t", "Table 3:", 12),
        ("ziqi_table4", "Western Music History\t", "Table 4:", 13),
    ],
)
def test_the_papers_tables_are_as_in_its_text(name: Name, first: str, end: str, rows: int) -> None:
    text = PAPER[0].read_text(encoding="utf-8")
    printed = text[text.index(first) : text.index(end)].strip().splitlines()
    table = load(name)
    assert len(printed) == len(table.rows) == rows
    for line, row in zip(printed, table.rows, strict=True):
        cells = [cell for cell in line.split("\t") if cell]
        assert next(iter(row.labels.values())) == cells[0]
        figures = list(row.figures.values())
        if name == "ziqi_table3":
            signs = {"yes": "✓", "no": "×", "": "-"}
            assert [signs[row.labels[label]] for label in ("music major", "musical background")] == [
                "×" if cell == "Х" else cell for cell in cells[1:3]
            ]
            low, _, high = cells[3].partition(" - ")
            cells[1:] = [*([] if low == "-" else [low, high or low]), cells[4]]
        assert figures == [float(cell) for cell in cells[1:]]


def test_gpt4_in_the_human_study_is_a_share_of_whole_questions() -> None:
    assert load("ziqi_table3").rows[-1].figures == {"precision": round(100 * 77 / 114, 2)}
    gpt4 = {row.labels["theme"]: row.figures["gpt-4"] for row in load("ziqi_table4").rows}
    assert gpt4["World Ethnic Music"] == round(100 * 11 / 18, 2)  # nine sub-themes, Black African music among them
    assert gpt4["Popular Music"] == round(100 * 18 / 22, 2)  # eleven sub-themes, film music left out
    assert gpt4["Music Generation"] == 25.0
