"""The samples that no run gets right, and those that runs disagree on, with links into Inspect's log viewer."""

from collections.abc import Sequence
from os.path import abspath, commonpath
from pathlib import PurePosixPath
from typing import Final, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pandas as pd

from music_evals.reports.compared import Compared, varying, worded
from music_evals.reports.runs import grouped
from music_evals.reports.tables import Cell, Figure, Table, common_notes, whole

VIEWER: Final = "http://127.0.0.1:7575/"
"""Where `inspect view` serves by default."""

_LABELS: Final = ("Benchmark", "Task", "Data", "Sample", "Runs")

MOST: Final = 10
"""Samples of a task in each table; the notes say so."""

_LEFT_AS_THEY_ARE: Final = "!*'()"  # beside letters and digits, as in encodeURIComponent


class _Sample(NamedTuple):
    """A sample and its scores in the runs that have one of it."""

    key: int
    name: str
    scores: npt.NDArray[np.float64]
    runs: Sequence[Compared]


def disputed_tables(runs: Sequence[Compared]) -> list[Table]:
    """Lay out at most `MOST` samples of each task that every run got wrong, and as many that runs disagree on most.

    A sample counts where two runs, under whatever conditions, have a score of it.
    """
    folder = log_folder([run.location for run in runs])
    wrong: list[list[Cell]] = []
    disputed: list[list[Cell]] = []
    for mine in grouped(runs, lambda run: run.questions).values():
        labels = (mine[0].title, mine[0].task, mine[0].data)
        names = varying(mine)
        samples = _samples(mine)
        failed = sorted((one for one in samples if not one.scores.any()), key=lambda one: (-len(one.runs), one.name))
        for one in failed[:MOST]:
            wrong += [[*labels, one.name, whole(len(one.runs)), sample_link(one.runs[0], one.key, folder)]]
        varied = sorted((one for one in samples if one.scores.var()), key=lambda one: (-one.scores.var(), one.name))
        for one in varied[:MOST]:
            ends = one.runs[int(one.scores.argmax())], one.runs[int(one.scores.argmin())]
            moments = (100 * float(one.scores.mean()), 100 * float(one.scores.std()))
            shown: list[str] = []
            for run in ends:
                shown += [", ".join(filter(None, (run.model, worded(run, names)))), sample_link(run, one.key, folder)]
            cells = [*labels, one.name, whole(len(one.runs))]
            disputed.append([*cells, *(Figure(moment, decimals=1) for moment in moments), *shown])
    ends_of = ("Best in", "Best in the viewer", "Worst in", "Worst in the viewer")
    made = {
        "samples_wrong": ("Samples that every run got wrong", ("In the viewer",), wrong),
        "samples_disputed": (
            "Samples on which runs disagree most", ("Mean score", "Standard deviation", *ends_of), disputed
        ),
    }  # fmt: skip
    return [
        Table(name, title, (*_LABELS, *headings), rows, [*common_notes(name), *common_notes("samples")])
        for name, (title, headings, rows) in made.items()
    ]


def log_folder(locations: Sequence[str]) -> str:
    """Return the lowest folder that holds all logs; nothing where there are none."""
    return commonpath([str(PurePosixPath(_path(location)).parent) for location in locations]) if locations else ""


def sample_link(run: Compared, key: int, folder: str) -> str:
    """Return the address of a sample in the viewer, which shows the logs of a folder."""
    name, epoch = run.samples.of_each.loc[key, ["name", "epoch"]]
    path = PurePosixPath(_path(run.location)).relative_to(folder)
    log = quote(bytes(path), safe=f"/{_LEFT_AS_THEY_ARE}")
    return f"{VIEWER}#/logs/{log}/samples/sample/{quote(name, safe=_LEFT_AS_THEY_ARE)}/{epoch}/"


def _samples(runs: Sequence[Compared]) -> list[_Sample]:
    """The samples that two runs or more have a score of."""
    names = {key: name for run in runs for key, name in run.samples.of_each["name"].items()}
    frame = pd.DataFrame({number: run.samples.of_each["score"] for number, run in enumerate(runs)})
    scores = frame[frame.count(axis=1) > 1]
    scored = scores.notna().to_numpy()
    return [
        _Sample(key, names[key], row[known], [runs[number] for number in np.flatnonzero(known).tolist()])
        for key, row, known in zip(scores.index.tolist(), scores.to_numpy(), scored, strict=True)
    ]


def _path(location: str) -> str:
    # Logs elsewhere have a folder in common like those here, under the name of their place.
    return f"/{location}" if "://" in (path := location.removeprefix("file://")) else abspath(path)
