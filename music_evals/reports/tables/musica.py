"""Tables of MusICA: accuracy beside the authors' figures, and sound against notation.

Source: arXiv 2607.06015, and the tables of its repository.
"""

from collections.abc import Mapping
from itertools import combinations

import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.comparisons import (
    OUTCOMES,
    PairedRow,
    PairedRun,
    paired_cells,
    paired_row,
)
from music_evals.reports.records import Records, score_of
from music_evals.reports.table import Table, notes
from music_evals.reports.tables.common import (
    LABELS,
    Row,
    condition_rows,
    make_table,
    paper_labels,
    percent,
    run_notes,
    title_of,
)
from music_evals.scorers.metrics.estimates import Estimate

TASKS = ("sound", "notation", "pages")
_ALL = "All three"
_STIMULI = {"given": None, "none": "stimulus=none", "noise": "stimulus=noise"}
"""What was sent in the place of the music → the condition, as a run has it."""


def tables(records: Records) -> list[Table]:
    """Make the tables of MusICA."""
    return [_accuracy(records), sound_against_notation(records)]


def _accuracy(records: Records) -> Table:
    """Accuracy by modality; the authors publish the mean of the three."""
    paper: list[Row] = []
    for row in published("musica", "overall").rows:
        model, source, _, data = paper_labels(row.labels["model"])
        figures = {_ALL: Estimate(row.figures["accuracy"], decimals=1)}
        paper.append(([model, source, _STIMULI[row.labels["stimulus"]], data], figures))
    runs = records.current("musica")
    measured: list[Row] = []
    for cells, group in condition_rows(runs):
        scores = {
            title_of(run["task"]): records.percent(number) for number, run in group.iterrows()
        }
        if len(scores) == len(TASKS):
            items = pd.concat([records.main[number] for number in group.index])
            scores[_ALL] = percent(score_of(items))
        measured.append((cells, scores))
    return make_table(
        "musica_accuracy",
        "MusICA: accuracy in percent",
        [*map(title_of, TASKS), _ALL],
        measured,
        runs,
        published=paper,
    )


def sound_against_notation(records: Records) -> Table:
    """Compare the modalities of each model under the same condition, question by question.

    A question has one id in all of them, but its own order of options and its own right letter.
    """
    runs = records.current("musica")
    rows: list[PairedRow | None] = []
    for cells, group in condition_rows(runs):
        by_task: Mapping[str, PairedRun] = {
            run["task"]: _paired_run(records, number, run) for number, run in group.iterrows()
        }
        tasks = [task for task in TASKS if task in by_task]
        for first, second in combinations(tasks, 2):
            labels = [*cells, title_of(first), title_of(second)]
            rows.append(paired_row(by_task[first], by_task[second], labels))
    columns = (*LABELS, "First modality", "Second modality", *OUTCOMES)
    title = "MusICA: sound against notation on the same questions, in percent"
    lines = [*notes("musica_modalities"), *notes("tests"), *run_notes(runs)]
    return Table("musica_modalities", title, columns, paired_cells(rows), lines)


def _paired_run(records: Records, number: int, run: pd.Series) -> PairedRun:
    items = records.main[number]
    counted = items[items["counts"] & items["value"].notna()].groupby("item")
    scores = counted.agg({"value": "mean", "cluster": "first", "stratum": "first"})
    return PairedRun(number, (run["task"],), {"model": run["model"]}, scores)
