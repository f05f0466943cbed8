"""Tables of The MUSE Benchmark: accuracy of models and of people, and LogicLM's tables.

Source: arXiv 2510.19055; its repository has the figures of models.
"""

from music_evals.benchmarks import load, published
from music_evals.reports.records import Records
from music_evals.reports.table import Table
from music_evals.reports.tables.common import (
    condition_rows,
    make_table,
    paper_labels,
    title_of,
)
from music_evals.reports.tables.muse import formulations, transcriptions
from music_evals.scorers.metrics.estimates import Estimate


def tables(records: Records) -> list[Table]:
    """Make the tables of The MUSE Benchmark; published rows, which are by ear, are shown beside
    runs by ear only.
    """
    runs = records.current("muse_ten")
    columns = {task: title_of(task) for task in load("muse_ten").tasks}
    paper = []
    if (runs["modality"] == "audio").any():
        for row in published("muse_ten", "table1").rows:
            model, source, _, data = paper_labels(row.labels["model"], row.labels["origin"])
            figures = {
                heading: Estimate(row.figures[task], decimals=1)
                for task, heading in columns.items()
            }
            paper.append(([model, source, row.labels["strategy"] or None, data], figures))
    measured = []
    for cells, group in condition_rows(runs):
        scores = {columns[run["task"]]: records.percent(number) for number, run in group.iterrows()}
        measured.append((cells, scores))
    accuracy = make_table(
        "muse_ten_table1",
        "The MUSE Benchmark: accuracy in percent",
        [*columns.values()],
        measured,
        runs,
        published=paper,
    )
    items = [transcriptions(records, task, "muse_ten") for task in columns]
    return [accuracy, formulations(records, "muse_ten"), *items]
