"""Tables of MusICA: accuracy by modality, and sound against notation.

Source: arXiv 2607.06015.
"""

from itertools import combinations

import pandas as pd

from music_evals.reports.comparisons import OUTCOMES, PairedRun, paired_cells, paired_row
from music_evals.reports.records import Records
from music_evals.reports.table import Table, notes
from music_evals.reports.tables.common import (
    LABELS,
    condition_rows,
    run_notes,
    score_table,
    title_of,
)


def tables(records: Records) -> list[Table]:
    """Make the tables of MusICA."""
    return [score_table(records, "musica"), sound_against_notation(records)]


def sound_against_notation(records: Records) -> Table:
    """Compare the modalities of each model under the same condition, question by question.

    A question has one id in all of them, but its own order of options and its own right letter.
    """
    runs = records.current("musica")
    rows = []
    for cells, group in condition_rows(runs):
        by_task = group.sort_values("task", ascending=False)  # sound, pages, notation
        paired = [_paired_run(records, number, run) for number, run in by_task.iterrows()]
        for first, second in combinations(paired, 2):
            labels = [*cells, *(title_of(run.factors["task"]) for run in (first, second))]
            rows.append(paired_row(first, second, labels))
    title = "MusICA: sound against notation on the same questions, in percent"
    columns = (*LABELS, "First modality", "Second modality", *OUTCOMES)
    lines = [*notes("musica_modalities"), *notes("tests"), *run_notes(runs)]
    return Table("musica_modalities", title, columns, paired_cells(rows), lines)


def _paired_run(records: Records, number: int, run: pd.Series) -> PairedRun:
    items = records.main[number]
    counted = items[items["counts"] & items["value"].notna()].groupby("item")
    scores = counted.agg({"value": "mean", "cluster": "first", "stratum": "first"})
    return PairedRun(number, (), {"model": run["model"], "task": run["task"]}, scores)
