"""Tokens and time of each run.

Source: arXiv 2511.20697, section 5.1 and Appendix K, which holds accuracy against the time that a run takes.
"""

import numpy as np
import pandas as pd

from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, count, notes
from music_evals.reports.tables.common import LABELS, labels, percent, title_of
from music_evals.scorers.metrics.estimates import Estimate


def cost_table(records: Records) -> Table:
    """Make the table of medians and 90th percentiles of output tokens and seconds of a response."""
    rows: list[list[Cell]] = []
    runs = records.current()
    for number, run in runs.iterrows():
        responses = records.main[number].drop_duplicates(["sample", "epoch"])
        score, names = percent(records.score(number)), labels(run)
        quantiles = [_quantile(responses, name, share) for name in ("tokens", "seconds") for share in (0.5, 0.9)]
        rows.append([run["section"], title_of(run["task"]), *names, score, count(len(responses)), *quantiles])
    quantile_names = ("Tokens, median", "Tokens, 90th percentile", "Seconds, median", "Seconds, 90th percentile")
    columns = ("Benchmark", "Task", *LABELS, "Score (%)", "Responses", *quantile_names)
    return Table("costs", "Output tokens and time", columns, rows, notes("costs"))


def _quantile(responses: pd.DataFrame, name: str, share: float) -> Estimate | None:
    """A quantile with a distribution-free interval; None without values."""
    from scipy import stats

    values = responses[name].dropna().to_numpy() if name in responses else np.array([])
    if not len(values):
        return None
    ends = [float(end) for end in stats.quantile_test(values, p=share).confidence_interval()]
    low, high = (None, None) if np.isnan(ends).any() else ends
    return Estimate(float(np.quantile(values, share)), low, high, len(values), 0 if name == "tokens" else 2)
