"""Tokens and time of each run, and scores against them.

Source: arXiv 2511.20697, section 5.1 and Appendix K, which holds accuracy against the time that a run takes.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from music_evals.reports.compared import Compared, known, notes_on, varying, worded
from music_evals.reports.figures import Panel, Series, panels_figure
from music_evals.reports.runs import grouped
from music_evals.reports.tables import Cell, Figure, Table, common_notes, whole

_ON_POINTS = "A point is a run, under whatever condition; bars: 95% intervals of the median."


def cost_table(runs: Sequence[Compared]) -> Table:
    """Lay out medians and 90th percentiles of the output tokens and seconds of a response, by run."""
    rows: list[list[Cell]] = []
    for run in runs:
        factors = varying([other for other in runs if other.benchmark == run.benchmark])
        rows.append(
            [
                *(run.title, run.task, run.data, run.model, worded(run, factors), _mean_score(run)),
                whole(len(run.samples.responses)),
                *(_quantile(run, "tokens", share, decimals=0) for share in (0.5, 0.9)),
                *(_quantile(run, "seconds", share, decimals=2) for share in (0.5, 0.9)),
                None if run.seconds is None else Figure(run.seconds / 60, decimals=1),
            ]
        )
    return Table(
        "costs",
        "Output tokens and time",
        (
            *("Benchmark", "Task", "Data", "Model", "Condition", "Score (%)", "Responses"),
            *("Tokens, median", "Tokens, 90th percentile", "Seconds, median", "Seconds, 90th percentile"),
            "Whole run (minutes)",
        ),
        rows,
        [*common_notes("costs"), *notes_on(runs)],
    )


def cost_figures(runs: Sequence[Compared]) -> dict[str, str]:
    """Draw the mean score against the median time and output tokens of a response, where logs tell; a panel a task."""
    figures: dict[str, str] = {}
    for benchmark, mine in grouped(runs, lambda run: run.benchmark).items():
        # Text and pages are costs of their own.
        factor = known(benchmark).get("tasks_are")
        for name, label in (("seconds", "Median seconds of a response"), ("tokens", "Median output tokens")):
            panels: dict[str, list[Series]] = {}
            for run in mine:
                cost, score = _quantile(run, name, 0.5), _mean_score(run)
                # On a logarithmic axis there is no place for nothing.
                if cost is not None and score is not None and cost.value > 0:
                    panel = run.factors[factor] if factor else run.task
                    panels.setdefault(panel, []).append(Series(run.model, [cost], [score]))
            if panels:
                titles = {task: task.replace("_", " ").capitalize() for task in panels}
                made = [Panel(titles[task], some, label, "Mean score (%)") for task, some in panels.items()]
                title = f"{mine[0].title}: score and {name}"
                figures[f"costs_{name}_{benchmark}"] = panels_figure(title, made, across=4, notes=[_ON_POINTS])
    return figures


def _mean_score(run: Compared) -> Figure | None:
    """The mean score over the samples that have one, in percent, with no interval; None where none has."""
    scores = run.samples.of_each["score"].dropna().to_numpy()
    return Figure(100 * float(scores.mean()), decimals=1) if len(scores) else None


def _quantile(run: Compared, what: str, share: float, decimals: int = 2) -> Figure | None:
    found = run.samples.responses[what].dropna().to_numpy()
    if not len(found):
        return None
    # Two of the values hold the quantile, whatever the distribution; too few values have no such interval.
    ends = [float(end) for end in stats.quantile_test(found, p=share).confidence_interval()]
    low, high = (None, None) if np.isnan(ends).any() else ends
    return Figure(float(np.quantile(found, share)), low, high, decimals)
