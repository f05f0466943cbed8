"""Tokens and time of each run, and scores against them.

Source: arXiv 2511.20697, section 5.1 and Appendix K, which holds accuracy against the time that a run takes.
"""

from collections.abc import Sequence

import numpy as np

from music_evals.reports.comparison_runs import BENCHMARKS, Run, mean_score, notes_on, varying, worded
from music_evals.reports.costs_figures import Spent, score_against_cost
from music_evals.reports.samples import Floats
from music_evals.reports.tables import Cell, Figure, Table
from music_evals.scorers.metrics.quantiles import quantile_interval


def cost_table(runs: Sequence[Run]) -> Table:
    """Lay out the output tokens and seconds of a response, by run.

    Args:
        runs: the runs.

    Returns:
        The table: medians and 90th percentiles over the responses, with the wall time of the whole run.

    Example:
        >>> cost_table([]).columns[6:8]
        ('Responses', 'Tokens, median')
    """
    rows: list[list[Cell]] = []
    for run in runs:
        names = varying([other for other in runs if other.benchmark == run.benchmark])
        rows.append(
            [
                BENCHMARKS.get(run.benchmark, run.benchmark),
                run.task,
                run.data,
                run.model,
                worded(run, names),
                mean_score(run),
                Figure(len(run.samples.seconds), decimals=0),
                *(_quantile(run.samples.tokens, share, decimals=0) for share in (0.5, 0.9)),
                *(_quantile(run.samples.seconds, share, decimals=2) for share in (0.5, 0.9)),
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
        (
            "Of one response: output tokens of the model alone, without judges, and working time, with scoring and "
            "without waits for the provider's limits. Intervals: 95%, of the quantile, whatever the distribution.",
            "A dash: the log does not tell. Answers out of Inspect's cache have no tokens, and their time says little.",
            "Whole run: by the clock, which depends on how many samples are asked at a time.",
            "Paper (MSU-Bench), section 5.1 and Appendix K: more than 11 hours for a run of Gemini 2.5 Pro, ChatGPT-5 "
            "and ChatGPT-5-mini, about one hour for Qwen3-VL-235B-A22B-Instruct.",
            *notes_on(runs),
        ),
    )


def cost_figures(runs: Sequence[Run]) -> dict[str, str]:
    """Draw the mean score against the median time and against the median output tokens of a response.

    Args:
        runs: the runs.

    Returns:
        ``costs_seconds_BENCHMARK`` and ``costs_tokens_BENCHMARK`` → SVG, a panel for each task, where the logs tell.
    """
    figures: dict[str, str] = {}
    for benchmark in dict.fromkeys(run.benchmark for run in runs):
        mine = [run for run in runs if run.benchmark == benchmark]
        called = BENCHMARKS.get(benchmark, benchmark)
        for name, label in (("seconds", "Median seconds of a response"), ("tokens", "Median output tokens")):
            panels: dict[str, list[Spent]] = {}
            for run in mine:
                cost, score = _quantile(getattr(run.samples, name), 0.5), mean_score(run)
                # On a logarithmic axis there is no place for nothing.
                if cost is not None and score is not None and cost.value > 0:
                    # Text and pages are costs of their own.
                    panel = run.factors["modality"] if run.benchmark == "msu" else run.task
                    panels.setdefault(panel, []).append(Spent(run.model, cost, score.value))
            if panels:
                figures[f"costs_{name}_{benchmark}"] = score_against_cost(f"{called}: score and {name}", label, panels)
    return figures


def _quantile(values: Floats, share: float, decimals: int = 2) -> Figure | None:
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = quantile_interval(known, share) or (None, None)
    return Figure(float(np.quantile(known, share)), low, high, decimals)
