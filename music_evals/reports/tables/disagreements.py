"""The items that every run got wrong, and those that runs disagree on, with links into Inspect's log viewer."""

from collections.abc import Mapping, Sequence
from os.path import abspath, commonpath
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

import pandas as pd

from music_evals.reports.comparisons import PairedRun, paired_runs
from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, count
from music_evals.reports.templates import notes
from music_evals.scorers.metrics.estimates import Estimate

VIEWER: Final = "http://127.0.0.1:7575/"
"""Where `inspect view` serves by default."""
MOST: Final = 10
"""Items of a task in each table; the notes say so."""
_SAFE: Final = "!*'()"  # beside letters and digits, as in encodeURIComponent


def disagreement_tables(records: Records) -> list[Table]:
    """Make the tables of items that every run got wrong, and of those with the largest variance over runs."""
    folder = _log_folder(list(records.runs["location"]))
    wrong: list[list[Cell]] = []
    varied: list[list[Cell]] = []
    groups: dict[tuple[str, ...], list[PairedRun]] = {}
    for run in paired_runs(records):
        if run.factors["twin"] != "completion":
            groups.setdefault(run.questions, []).append(run)
    for runs in groups.values():
        scores = pd.DataFrame({run.number: run.scores["value"] for run in runs})
        scores = scores[scores.count(axis=1) > 1]
        first = records.runs.loc[runs[0].number]
        names = {
            pair: item for run in runs for pair, item in records.main(run.number).set_index("pair")["item"].items()
        }
        facts = pd.DataFrame(
            {"n": scores.count(axis=1), "mean": scores.mean(axis=1), "std": scores.std(axis=1, ddof=0)}
        )
        facts = facts.assign(name=[names[pair] for pair in facts.index])
        labels = (first["section"], first["task"], first["data"])
        for pair, fact in (
            facts[facts["mean"] == 0].sort_values(["n", "name"], ascending=[False, True])[:MOST].iterrows()
        ):
            link = sample_link(records, int(scores.loc[pair].first_valid_index()), pair, folder)
            wrong.append([*labels, fact["name"], count(fact["n"]), link])
        ordered = facts[facts["std"] > 0].sort_values(["std", "name"], ascending=[False, True])
        for pair, fact in ordered[:MOST].iterrows():
            ends = [int(scores.loc[pair].idxmax()), int(scores.loc[pair].idxmin())]
            shown = [
                cell
                for run in ends
                for cell in (_named(records.runs.loc[run]), sample_link(records, run, pair, folder))
            ]
            moments = [Estimate(100 * fact[name], decimals=1) for name in ("mean", "std")]
            varied.append([*labels, fact["name"], count(fact["n"]), *moments, *shown])
    columns = ("Benchmark", "Task", "Data", "Item", "Runs")
    ends_of = ("Best in", "Best in the viewer", "Worst in", "Worst in the viewer")
    return [
        Table(name, title, (*columns, *headings), rows, [*notes(name), *notes("samples")])
        for name, title, headings, rows in (
            ("samples_wrong", "Items that every run got wrong", ("In the viewer",), wrong),
            (
                "samples_disputed",
                "Items on which runs disagree most",
                ("Mean score", "Standard deviation", *ends_of),
                varied,
            ),
        )
        if rows
    ]


def sample_link(records: Records, run: int, pair: str, folder: str) -> str:
    """Return the address of a run's sample in the viewer, which shows the logs of a folder."""
    items = records.main(run)
    sample, epoch = items[items["pair"] == pair].iloc[0][["sample", "epoch"]]
    path = PurePosixPath(_path(records.runs.at[run, "location"])).relative_to(folder)
    log = quote(bytes(path), safe=f"/{_SAFE}")
    return f"{VIEWER}#/logs/{log}/samples/sample/{quote(sample, safe=_SAFE)}/{epoch}/"


def _named(run: Mapping[str, str]) -> str:
    return f"{run['model']}, {run['condition']}"


def _log_folder(locations: Sequence[str]) -> str:
    return commonpath([str(PurePosixPath(_path(location)).parent) for location in locations]) if locations else ""


def _path(location: str) -> str:
    return abspath(location.removeprefix("file://"))
