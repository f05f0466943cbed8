"""The rows of ABC-Eval: those of LilyBench with scores in ABC, and the licence of each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from music_evals.datasets_builders.dataset_io import Conversion, DatasetSpec, Provenance
from music_evals.datasets_builders.lilybench.rows import DEFAULT_SEED, TASKS, TaskRow, task_features
from music_evals.datasets_builders.progress import OnPiece


class AbcRow(TaskRow):
    """A question on a score in ABC, see `TaskRow`; published questions of order have up to six
    options.

    `licence` is that of the piece, or ``not stated``; `instruction` the authors' wording of the
    question, empty except for published rows.
    """

    licence: str
    instruction: str


def _generate(out: Path, on_piece: OnPiece) -> None:
    from music_evals.datasets_builders.abc_eval.dataset import write_generated

    write_generated(out, on_piece)


def _convert(conversion: Conversion) -> Provenance:
    from music_evals.datasets_builders.abc_eval.dataset import write_published

    return write_published(conversion)


FEATURES: Final[Mapping[str, Mapping[str, Any]]] = {
    task: task_features(task, AbcRow, most_options=6, no_kind=True) for task in TASKS
}
BENCHMARK: Final = DatasetSpec("abc_eval", "1.2.0", DEFAULT_SEED, FEATURES, _generate, _convert)
