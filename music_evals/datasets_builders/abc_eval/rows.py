"""The rows of ABC-Eval: those of LilyBench with scores in ABC, and the licence of each."""

from collections.abc import Mapping
from typing import Any

from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    TASKS,
    TaskRow,
    task_features,
)


class AbcRow(TaskRow):
    """A question on a score in ABC, see `TaskRow`; published questions of order have up to six
    options.

    `licence` is that of the piece, or ``not stated``; `instruction` the authors' wording of the
    question, empty except for published rows.
    """

    licence: str
    instruction: str


FEATURES: Mapping[str, Mapping[str, Any]] = {
    **{task: task_features(task, AbcRow) for task in TASKS},
    "bar_sequencing": task_features("bar_sequencing", AbcRow, n_options=[4, 5, 6]),
    # An error as published has no kind.
    "error_detection": task_features("error_detection", AbcRow, kinds=(*CORRUPTIONS, CLEAN, "")),
}
"""Task → declared columns."""
