"""Questions of the common kind: text, sound, pictures and notation in any order, with options or a
short answer.

A benchmark says how a record of its source becomes a `MediaQuestion`; `question_set` makes its
`DatasetSpec` of that. `media_questions` has the rows, `published_questions` reads the published
files.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    PUBLISHED,
    Conversion,
    DatasetSpec,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.media_questions import (
    FEATURES,
    MediaQuestion,
    MediaQuestionRow,
    Part,
    Record,
    Records,
    row_of,
)

if TYPE_CHECKING:
    from music_evals.datasets_builders.questions.published_questions import Reader

__all__ = ["MediaQuestion", "Part", "Record", "Records", "question_set"]

SEED = 1
"""Of composed questions."""
Composed = Callable[[int], Iterable[MediaQuestion]]
"""Composes questions from a seed."""


def question_set(
    name: str,
    version: str,
    tasks: Mapping[str, Records],
    stand_in: Composed | Mapping[str, Composed] | None = None,
    reader: "Reader | None" = None,
) -> DatasetSpec:
    """Describe the dataset of a benchmark: the published records of each task, and questions
    composed in their place.

    Args:
        name: of the dataset.
        version: of its rows.
        tasks: task → its published records.
        stand_in: composes questions from a seed for the default dataset: the same for all tasks, or
            by task; without it there is none.
        reader: of published files that have no records.
    """
    features = dict.fromkeys(tasks, FEATURES)

    def write(
        out: Path, rows: Mapping[str, Iterable[MediaQuestionRow]], source: str, **entries: Any
    ) -> Provenance:
        provenance = make_provenance(name, version, source, **entries)
        splits = {task: {"test": task_rows} for task, task_rows in rows.items()}
        return write_dataset(
            out,
            splits,
            features=features,
            provenance=provenance,
            overwrite=True,
            option_floors=True,
        )

    def generate(out: Path, _: OnPiece) -> Provenance:
        by_task = stand_in if isinstance(stand_in, Mapping) else dict.fromkeys(tasks, stand_in)
        rows = {task: _composed_rows(compose) for task, compose in by_task.items() if compose}
        return write(out, rows, GENERATED, seed=SEED)

    def convert(conversion: Conversion) -> Provenance:
        # Here, because reading published files needs libraries that asking does not.
        from music_evals.datasets_builders.questions.published_questions import read_published

        with read_published(conversion, tasks, reader) as questions:
            rows = {task: questions.rows(task) for task in questions.paths}
            return write(conversion.out, rows, PUBLISHED, **questions.facts)

    seed, make = (SEED, generate) if stand_in else (None, None)
    return DatasetSpec(name, version, seed, features, make, convert)


def _composed_rows(compose: Composed) -> list[MediaQuestionRow]:
    return [row_of(question, lambda part: bytes(part.content)) for question in compose(SEED)]  # type: ignore[arg-type]
