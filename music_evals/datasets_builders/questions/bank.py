"""Banks of four-option questions: the rows that benchmarks of this common kind have, and the writing of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, TypedDict

from music_evals.datasets_builders.folder import (
    DatasetError,
    Provenance,
    features_of,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.questions.question import Language, Question

LETTERS: Final = "ABCD"


class BankRow(TypedDict):
    """A question; `abc` is the score that it is about, `kind` that of a composed question, null where there is none."""

    id: str
    question: str
    abc: str | None
    options: list[str]
    answer: str
    kind: str | None


FEATURES: Final = features_of(BankRow)
Rows = Mapping[str, Mapping[str, Sequence[BankRow]]]
"""Config → split → rows."""


def places(count: int, key: str) -> list[int]:
    """Draw the places of right answers, which are spread evenly over the letters.

    >>> sorted(places(8, "any key"))
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    drawn = [number % len(LETTERS) for number in range(count)]
    Random(key).shuffle(drawn)
    return drawn


def composed_rows(questions: Sequence[Question], key: str, language: Language = "en") -> list[BankRow]:
    """Turn composed questions into rows; the key decides at which letters the right answers are."""
    return [
        BankRow(
            id=question.name,
            question=question.text[language],
            abc=None,
            options=question.options(language, place),
            answer=LETTERS[place],
            kind=question.kind,
        )
        for question, place in zip(questions, places(len(questions), key), strict=True)
    ]


def write_bank(
    name: str,
    version: str,
    rows: Rows,
    out: Path,
    *,
    source: str,
    seed: int | None = None,
    revision: str | None = None,
    overwrite: bool = False,
) -> Provenance:
    """Write a bank as a dataset folder, whole or not at all; DatasetError names a question that is none."""
    for config, splits in rows.items():
        for split, some in splits.items():
            for row in some:
                if not row["question"] or len(list(filter(None, row["options"]))) != 4 or row["answer"] not in LETTERS:
                    raise DatasetError(
                        f"{config}/{split}, row {row['id']}: a question, four options and an answer A to D are needed"
                    )
    provenance = make_provenance(name, version, source, seed=seed, source_revision=revision)
    features = dict.fromkeys(rows, FEATURES)
    return write_dataset(out, rows, features=features, provenance=provenance, overwrite=overwrite)
