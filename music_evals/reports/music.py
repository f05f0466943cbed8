"""What the music contributes: runs that were asked with their music, beside runs without it, with noise or other music.

Runs of a model on the same samples that differ in the parameter ``stimulus`` alone share a row; all its figures are
over the samples that each of them scored.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import isnan
from typing import Final

import pandas as pd

from music_evals.reports.compared import Compared, varying, worded
from music_evals.reports.figures import Panel, Series, panels_figure
from music_evals.reports.runs import grouped
from music_evals.reports.tables import Cell, Figure, Report, Table, common_notes, whole
from music_evals.scorers.metrics.clustered import mean_interval
from music_evals.scorers.metrics.paired import Comparison, compare, holm

ARM: Final = "stimulus"
"""The parameter of tasks that says which music is shown."""

GIVEN: Final = "given"
ARMS: Final[Mapping[str, str]] = {
    GIVEN: "Music",
    "none": "No music",
    "noise": "Noise",
    "other": "Other music",
}
"""Value of the parameter → heading."""


def arm_of(run: Compared) -> str:
    """Which music a run was asked with; runs of before there was the parameter had theirs."""
    return run.asked.get(ARM, GIVEN)


def music_report(runs: Sequence[Compared]) -> Report:
    """Lay out what each model has of the music, and draw it; nothing where no run was asked without."""
    some = grouped(runs, _rest)
    rows = {key: mine for key, mine in some.items() if {GIVEN} < {arm_of(run) for run in mine}}
    if not rows:
        return Report([])
    names = {
        benchmark: [name for name in varying(mine) if name != ARM]
        for benchmark, mine in grouped(runs, lambda run: run.benchmark).items()
    }
    found = [_Row({arm_of(run): run for run in mine}, names[mine[0].benchmark]) for mine in rows.values()]
    corrected = holm([row.gain.p for row in found if row.gain])
    ps = dict(zip([place for place, row in enumerate(found) if row.gain], corrected, strict=True))
    table = Table(
        "music",
        "What the music contributes, in percent",
        (
            *("Benchmark", "Task", "Data", "Model", "Condition", "Samples"),
            *ARMS.values(),
            *("Gain", "p", "p (Holm)", "In words"),
        ),
        [row.cells(ps.get(place)) for place, row in enumerate(found)],
        common_notes("music"),
    )
    return Report([table], figures={"music": _figure(found)})


def _rest(run: Compared) -> Hashable:
    return run.questions, run.model, frozenset((name, value) for name, value in run.factors.items() if name != ARM)


class _Row:
    """A model's runs on the same samples, by arm, and what they come to."""

    def __init__(self, runs: Mapping[str, Compared], names: Sequence[str]) -> None:
        self.run, self.names = runs[GIVEN], names
        scores = [run.samples.of_each["score"].rename(arm) for arm, run in runs.items()]
        self.scores = pd.concat(scores, axis=1, join="inner").dropna()
        clusters = self.run.samples.of_each["cluster"].reindex(self.scores.index).tolist()
        self.arms = {arm: _mean(self.scores[arm].tolist(), clusters) for arm in ARMS if arm in runs and clusters}
        self.gain: Comparison | None = None
        if clusters and "none" in runs:
            self.gain = compare(self.scores["none"].to_numpy(), self.scores[GIVEN].to_numpy(), clusters)

    def cells(self, p: float | None) -> list[Cell]:
        gain = self.gain
        return [
            *(self.run.title, self.run.task, self.run.data, self.run.model),
            worded(self.run, self.names),
            whole(len(self.scores)),
            *(self.arms.get(arm) for arm in ARMS),
            percent(gain.difference, gain.low, gain.high) if gain else None,
            Figure(gain.p, decimals=4) if gain else None,
            None if p is None else Figure(p, decimals=4),
            self.words(),
        ]

    def words(self) -> str | None:
        """A sentence on the gain."""
        if not self.gain:
            return None
        given, without = (self.arms[arm].value for arm in (GIVEN, "none"))
        if without <= given:
            said = f"Of {given:.0f} points, {without:.0f} are had without the music"
        else:
            said = f"{given:.0f} points with the music, {without:.0f} without it"
        if isnan(self.gain.low):
            return f"{said}."
        is_clear = self.gain.low > 0 or self.gain.high < 0 or not self.gain.difference
        clear = "" if is_clear else "; the difference may be chance"
        return f"{said}{clear}."


def _mean(scores: Sequence[float], clusters: Sequence[Hashable]) -> Figure:
    alone = len(set(clusters)) == len(clusters)
    return percent(sum(scores) / len(scores), *mean_interval(scores, None if alone else clusters))


def percent(value: float, low: float, high: float) -> Figure:
    """A share or a difference of such in percent; ends that are NaN are none."""
    return (Figure(value) if isnan(low) else Figure(value, low, high)).times(100, decimals=1)


def _figure(rows: Sequence[_Row]) -> str:
    panels = []
    for (title, task), mine in grouped(rows, lambda row: (row.run.title, row.run.task)).items():
        series = [
            Series(
                " ".join(filter(None, [row.run.model, worded(row.run, row.names)])),
                [Figure(place) for place, _ in enumerate(ARMS)],
                [row.arms.get(arm) for arm in ARMS],
            )
            for row in mine
        ]
        panels.append(Panel(f"{title}: {task.replace('_', ' ')}", series, y="Mean score (%)"))
    return panels_figure("What the music contributes", panels, list(ARMS.values()), across=3)
