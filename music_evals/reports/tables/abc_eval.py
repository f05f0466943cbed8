"""The table of ABC-Eval beside LilyBench: the same skills in two notations, paired where the
questions are the same.
"""

from collections.abc import Hashable

from music_evals.reports.comparisons import (
    OUTCOMES,
    PairedRun,
    own_music,
    paired_cells,
    paired_row,
    paired_runs,
    run_labels,
)
from music_evals.reports.records import Records
from music_evals.reports.table import Table, notes
from music_evals.reports.tables.common import run_notes

_LABELS = ("Task", "Model", "Condition", "Data")


def tables(records: Records) -> list[Table]:
    """Make the table of scores in LilyPond and in ABC, by skill; strict rows on the same data are
    paired.
    """
    runs = own_music(paired_runs(records))
    lilypond = [run for run in runs if run.questions[0] == "lilybench"]
    abc: dict[Hashable, list[PairedRun]] = {}
    for run in runs:
        if run.questions[0] == "abc_eval":
            abc.setdefault(_skill(run), []).append(run)
    paired, unpaired = [], []
    for first in lilypond:
        for second in abc.get(_skill(first), ()):
            data, other_data = first.questions[1], second.questions[1]
            labels = [run_labels(second)[name] for name in _LABELS]
            row = paired_row(first, second, labels) if data == other_data else None
            if row and second.run["protocol"] == "strict":
                paired.append(row)
                continue
            missing = [None] * (len(OUTCOMES) - 2)
            other = f"{data}; {other_data}"
            unpaired.append([*labels[:-1], other, first.score, second.score, *missing])
    columns = (*_LABELS, "LilyPond", "ABC", *OUTCOMES[2:])
    lines = [*notes("abc_eval_notations"), *notes("tests"), *run_notes(records.current("abc_eval"))]
    title = "ABC-Eval and LilyBench: the same skills in two notations, in percent"
    return [Table("abc_eval_notations", title, columns, [*paired_cells(paired), *unpaired], lines)]


def _skill(run: PairedRun) -> Hashable:
    """What is equal for runs of a skill by a model under one condition."""
    return run.questions[-1], frozenset(run.factors.items())
