"""Tables: what each rendering shows of the same cells."""

import csv

import pytest
from rich.console import Console

from music_evals.reports.tables import Figure, Footnotes, Table

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
