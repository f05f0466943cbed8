"""The table of ABC-Eval beside LilyBench: the same skills in two notations, paired where the
questions are the same.
"""

from itertools import product

from music_evals.reports.comparisons import (
    OUTCOMES,
    own_music,
    paired_cells,
    paired_row,
    paired_runs,
    run_labels,
)
from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, notes
from music_evals.reports.tables.common import run_notes

_LABELS = ("Task", "Model", "Condition", "Data")


def tables(records: Records) -> list[Table]:
    """Make the table of scores in LilyPond and in ABC, by skill; strict rows on the same data are
    paired.
    """
    runs = own_music(paired_runs(records))
    lilypond = [run for run in runs if run.questions[0] == "lilybench"]
    abc = [run for run in runs if run.questions[0] == "abc_eval"]
    paired, unpaired = [], []
    for first, second in product(lilypond, abc):
        (_, data, task), (_, other_data, other_task) = first.questions, second.questions
        if (task, dict(first.factors)) != (other_task, dict(second.factors)):
            continue
        labels: list[Cell] = [run_labels(records, second)[name] for name in _LABELS]
        row = paired_row(first, second, labels) if data == other_data else None
        if row and records.runs.at[second.number, "protocol"] == "strict":
            paired.append(row)
            continue
        scores = [records.percent(run.number) for run in (first, second)]
        missing = [None] * (len(OUTCOMES) - 2)
        unpaired.append([*labels[:-1], f"{data}; {other_data}", *scores, *missing])
    columns = (*_LABELS, "LilyPond", "ABC", *OUTCOMES[2:])
    lines = [*notes("abc_eval_notations"), *notes("tests"), *run_notes(records.current("abc_eval"))]
    title = "ABC-Eval and LilyBench: the same skills in two notations, in percent"
    return [Table("abc_eval_notations", title, columns, [*paired_cells(paired), *unpaired], lines)]
