"""Tables: what each rendering shows of the same cells."""

import csv
import re

import pytest
from rich.console import Console

from music_evals.reports.tables import Cell, Figure, Footnotes, Table

TABLE = Table(
    "f1",
    "F1 in percent",
    ("Model", "F1", "Bits"),
    [["GPT-4", Figure(63.04), None], ["a|b", Figure(200 / 3, 60.5, 70.25, mark="*"), Figure(0.03125, decimals=4)]],
    ("* a mark", "measured [bold]here[/bold]"),
)


def test_markdown_rounds_aligns_and_escapes() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "## F1 in percent",
        "",
        "| Model | F1 | Bits |",
        "| --- | ---: | ---: |",
        "| GPT-4 | 63.04 | - |",
        "| a\\|b | 66.67* (60.50–70.25) | 0.0312 |",
        "",
        "- * a mark",
        "- measured [bold]here[/bold]",
    ]


def test_the_terminal_shows_intervals_and_takes_text_as_it_is() -> None:
    console = Console(width=60, record=True)
    console.print(TABLE.to_rich())
    shown = console.export_text()
    for text in ("F1 in percent", "63.04", "66.67*", "60.5–70.2", "0.0312", "measured [bold]here[/bold]"):
        assert text in shown


@pytest.mark.parametrize(
    ("figure", "shown", "short"),
    [
        (Figure(-18.5, -29.37, -4.59), "−18.50 (−29.37 to −4.59)", "−29.4 to −4.6"),
        (Figure(1.0, -0.5, 2.5, decimals=1), "1.0 (−0.5 to 2.5)", "−0 to 2"),
        (Figure(-0.0, 0.0, 0.5), "0.00 (0.00–0.50)", "0.0–0.5"),
    ],
)
def test_negative_numbers_have_a_minus_and_their_intervals_no_dash(figure: Figure, shown: str, short: str) -> None:
    assert str(figure) == shown
    assert figure.short_interval == short


def test_own_rows_are_shown_before_floors_and_published_ones_within_what_stands_left_of_the_model() -> None:
    told = [
        ("text", "paper"),
        ("text", "measured †"),
        ("page", "paper, Table 2"),
        ("text", "floor"),
        ("page", "measured"),
    ]
    rows: list[list[Cell]] = [
        [kind, f"m{number}", source, Figure(number)] for number, (kind, source) in enumerate(told)
    ]
    table = Table("t", "T", ("Modality", "Model", "Source", "Score"), rows)
    assert [row[1] for row in table.own_first().rows] == ["m1", "m3", "m0", "m4", "m2"]
    shown = [line.split(" | ")[1] for line in table.to_markdown().splitlines()[4:]]
    assert shown == ["m1", "m3", "m0", "m4", "m2"]
    console = Console(width=80, record=True)
    console.print(table.to_rich())
    assert re.findall(r"m\d", console.export_text()) == shown
    assert [line.split(",")[1] for line in table.to_csv().splitlines()[1:]] == ["m0", "m1", "m2", "m3", "m4"]


def test_an_undefined_figure_says_so_and_why() -> None:
    notes = Footnotes()
    cells = [Figure(float("nan"), mark=notes.mark(why)) for why in ("too few", "no variance", "too few")]
    table = Table("t", "T", ("A", "B", "C"), [cells], notes.notes())
    row, _, *explained = table.to_markdown().splitlines()[4:]
    assert row == "| undefined[1] | undefined[2] | undefined[1] |"
    assert explained == ["- [1] too few", "- [2] no variance"]
    assert table.to_csv().splitlines()[1] == "nan,,,nan,,,nan,,", "no number, and not unknown either"


@pytest.mark.parametrize(
    ("rows", "message"),
    [([["one"]], "a row has 1 cells for 2 columns"), ([["a", "b"], ["a", Figure(1)]], "'F1' holds both")],
)
def test_a_wrong_shape_is_named(rows: list[list[str | Figure]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table("t", "T", ("Model", "F1"), rows)


def test_no_cell_of_csv_is_a_formula() -> None:
    table = Table("t", "T", ("=A1", "b"), [["+1", "-"], [None, "a-b"]])
    assert list(csv.reader(table.to_csv().splitlines())) == [["'=A1", "b"], ["'+1", "'-"], ["", "a-b"]]
