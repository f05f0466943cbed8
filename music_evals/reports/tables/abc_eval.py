"""The table of ABC-Eval beside LilyBench: the same skills in two notations, paired where the
questions are the same.
"""

from itertools import product
from typing import Final

from music_evals.reports.comparisons import (
    ARMS,
    OUTCOMES,
    paired_cells,
    paired_row,
    paired_runs,
    run_labels,
)
from music_evals.reports.records import Records
from music_evals.reports.table import Cell, Table, notes
from music_evals.reports.tables.common import run_notes

SECTION: Final = "ABC-Eval"
_LABELS: Final = ("Task", "Model", "Condition", "Data")


def tables(records: Records) -> list[Table]:
    """Make the table of scores in LilyPond and in ABC, by skill; strict rows on the same data are
    paired.
    """
    runs = [
        run
        for run in paired_runs(records)
        if all(run.factors[name] == value for name, value in ARMS.items())
    ]
    lilypond, abc = (
        [run for run in runs if run.questions[0] == name] for name in ("lilybench", "abc_eval")
    )
    paired, apart = [], []
    for first, second in product(lilypond, abc):
        (_, data, task), (_, other_data, other_task) = first.questions, second.questions
        if (task, dict(first.factors)) != (other_task, dict(second.factors)):
            continue
        labels: list[Cell] = [run_labels(records, second)[name] for name in _LABELS]
        is_strict = records.runs.at[second.number, "protocol"] == "strict"
        if is_strict and data == other_data and (row := paired_row(first, second, labels)):
            paired.append(row)
        else:
            labels[-1] = f"{data}; {other_data}"
            scores = [records.percent(run.number) for run in (first, second)]
            apart.append([*labels, *scores, *[None] * (len(OUTCOMES) - 2)])
    columns = (*_LABELS, "LilyPond", "ABC", *OUTCOMES[2:])
    lines = [*notes("abc_eval_notations"), *notes("tests"), *run_notes(records.current(SECTION))]
    title = "ABC-Eval and LilyBench: the same skills in two notations, in percent"
    return [Table("abc_eval_notations", title, columns, [*paired_cells(paired), *apart], lines)]
