"""Published results, transcribed: a CSV file a table, whose first line names the source.

ZIQI-Eval's are from arXiv 2406.15885 and from the README of its repository, in percent. LilyBench's are from arXiv
2606.08722: of Table 2 compile rates in percent, similarities from 0 to 100 and distances, of Table 3 figures from 0 to
1. MUSE's are from arXiv 2510.22455 and MSU-Bench's from arXiv 2511.20697, in percent. They are kept as printed, rounded
as there, where they contradict each other too.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

Name = Literal[
    "ziqi_table1",
    "ziqi_table2",
    "ziqi_table3",
    "ziqi_table4",
    "ziqi_leaderboard_zero_shot",
    "ziqi_leaderboard_five_shot",
    "lilybench_table2",
    "lilybench_table3",
    "muse_table1",
    "msu_table2",
    "msu_table3",
    "msu_table5",
]
LABELS: Final = (
    *("regime", "model", "education", "music major", "musical background", "theme", "category", "task"),
    *("modality", "shots", "strategy"),
)
"""Columns of text; all others hold numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a published table.

    Args:
        labels: its columns of text.
        figures: its columns of numbers; one that the source leaves empty is absent.
    """

    labels: Mapping[str, str]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """A published table.

    Args:
        source: where it was published.
        rows: its rows, in order.
    """

    source: str
    rows: Sequence[Row]


@cache
def load(name: Name) -> Published:
    """Read a published table.

    Args:
        name: stem of its file.

    Returns:
        The table, with the numbers as printed.

    Raises:
        FileNotFoundError: there is no such table.
        ValueError: a number cannot be read.

    Example:
        >>> table = load("ziqi_table1")
        >>> table.source, table.rows[0].labels["model"], table.rows[0].figures["comprehension f1"]
        ('arXiv 2406.15885, Table 1', 'GPT-4', 63.04)
    """
    first, *lines = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
    rows = [
        Row(
            {column: text for column, text in line.items() if column in LABELS},
            {column: float(text) for column, text in line.items() if column not in LABELS and text},
        )
        for line in csv.DictReader(lines)
    ]
    return Published(first.removeprefix("# "), rows)
