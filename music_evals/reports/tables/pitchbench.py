"""Table of PitchBench: the paper's Table 1, a column per task.

Source: arXiv 2605.26176; its repository has the figures.
"""

from functools import partial

from music_evals.benchmarks import load, published
from music_evals.reports.records import Records
from music_evals.reports.table import Table
from music_evals.reports.tables.common import paper_labels, run_table
from music_evals.scorers.metrics.estimates import Estimate


def tables(records: Records) -> list[Table]:
    """Make the table of the mean and of each task."""
    figures = {"Mean": records.percent}
    for task in load("pitchbench").table["answers"]:
        figures[task] = partial(records.percent, group=f"theme={task}")
    paper = []
    for row in published("pitchbench", "table1").rows:
        values = {name: Estimate(value, decimals=1) for name, value in row.figures.items()}
        paper.append((paper_labels(row.labels["model"]), {"Mean": values["mean"], **values}))
    runs = records.current("pitchbench")
    title = "PitchBench: scores by task in percent"
    return [run_table("pitchbench_table1", title, runs, figures, published=paper)]
