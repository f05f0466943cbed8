"""The rows of ABC-Eval: those of LilyBench, with the licence of each.

Source: arXiv 2509.23350; columns are those of LilyBench's `TaskRow`.
"""

from pathlib import Path
from typing import Final

from music_evals.datasets_builders.dataset_io import DatasetSpec, Provenance
from music_evals.datasets_builders.lilybench.rows import DEFAULT_SEED, TASKS, TaskRow, task_features
from music_evals.datasets_builders.progress import OnPiece

MOST_SHUFFLED: Final = 6  # bars of a published question of order


class AbcRow(TaskRow):
    """A question on a score in ABC; see `TaskRow`.

    - `score` is an ABC tune, or ABC measures after the fields that hold for them.
    - `options` of `bar_sequencing` are four measures, under ``paper`` four to six.
    - `licence` is that of the tune's collection, or ``not stated``.
    """

    licence: str


def _generate(out: Path, on_piece: OnPiece) -> None:
    from music_evals.datasets_builders.abc_eval.dataset import write_generated

    write_generated(out, on_piece)


def _convert(source: Path, out: Path, revision: str | None, allow_partial: bool) -> Provenance:
    from music_evals.datasets_builders.abc_eval.dataset import write_published

    return write_published(source, out, revision, allow_partial=allow_partial)


BENCHMARK: Final = DatasetSpec(
    "abc_eval",
    "1.0.0",
    DEFAULT_SEED,
    {task: task_features(task, AbcRow, MOST_SHUFFLED, no_kind=True) for task in TASKS},
    _generate,
    _convert,
)
