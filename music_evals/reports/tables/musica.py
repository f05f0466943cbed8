"""Tables of MusICA: accuracy by modality, and sound against notation.

Source: arXiv 2607.06015.
"""

from itertools import combinations

from music_evals.reports.comparisons import OUTCOMES, paired_cells, paired_row, paired_run
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
        for (one, first), (other, second) in combinations(by_task.iterrows(), 2):
            labels = [*cells, title_of(first["task"]), title_of(second["task"])]
            pair = (
                paired_run(records, one, first, by="item"),
                paired_run(records, other, second, by="item"),
            )
            rows.append(paired_row(*pair, labels))
    title = "MusICA: sound against notation on the same questions, in percent"
    columns = (*LABELS, "First modality", "Second modality", *OUTCOMES)
    lines = [*notes("musica_modalities"), *notes("tests"), *run_notes(runs)]
    return Table("musica_modalities", title, columns, paired_cells(rows), lines)
