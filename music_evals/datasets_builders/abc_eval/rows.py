"""The rows of ABC-Eval: those of LilyBench with scores in ABC, and the licence of each."""

from collections.abc import Mapping
from typing import Any, Final

from music_evals.datasets_builders.lilybench.rows import TASKS, TaskRow, task_features


class AbcRow(TaskRow):
    """A question on a score in ABC, see `TaskRow`; published questions of order have up to six
    options.

    `licence` is that of the piece, or ``not stated``; `instruction` the authors' wording of the
    question, empty except for published rows.
    """

    licence: str
    instruction: str


FEATURES: Final[Mapping[str, Mapping[str, Any]]] = {
    task: task_features(task, AbcRow, most_options=6, no_kind=True) for task in TASKS
}
"""Task → declared columns."""
