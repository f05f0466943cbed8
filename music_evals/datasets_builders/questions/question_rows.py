"""Four-option questions: a composed question in two languages, and the rows that benchmarks of this
kind share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, TypedDict, get_args

from music_evals.datasets_builders.dataset_io import (
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.questions.items import Item

LETTERS = "ABCD"
Language = Literal["zh", "en"]  # languages that questions are composed in
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Question:
    """A question by language, with its right answer and three wrong ones; all options differ."""

    name: (
        str  # readable, stable and unique for a composer; describes the question but not the answer
    )
    kind: str  # becomes the sub-theme
    text: Mapping[Language, str]  # the question, without its options
    right: Mapping[Language, str]  # the right option
    # The three wrong options, in the same order in both languages.
    wrong: Mapping[Language, tuple[str, ...]]
    form: str = ""  # form within the kind

    def __post_init__(self) -> None:
        """Check that the options differ."""
        for language in self.text:
            options = self.options(language, 0)
            if len(set(options)) != len(options):
                raise ValueError(
                    f"{self.name}: two of the options are the same ({language}): "
                    f"{', '.join(options)}"
                )

    def options(self, language: Language, place: int) -> list[str]:
        """Return the four options, with the right one at a place from 0."""
        wrong = self.wrong[language]
        return [*wrong[:place], self.right[language], *wrong[place:]]

    def blind_item(self, language: Language, place: int) -> Item:
        """Return the options for a guesser that does not see the question."""
        form = f"{self.kind}-{self.form}".rstrip("-")
        return Item(
            form,
            "",
            tuple(self.options(language, place)),
            self.right[language],
            self.name,
            self.name,
        )


class QuestionRow(TypedDict):
    """A question; `abc` is its score, if any, and `kind` the kind of a composed question."""

    id: str
    question: Text
    abc: Text | None
    options: FourOptions
    answer: Letter
    kind: str | None


FEATURES = features_of(QuestionRow)
Rows = Mapping[str, Mapping[str, Sequence[QuestionRow]]]  # config → split → rows


def places(count: int, key: str) -> list[int]:
    """Draw the places of right answers, spread evenly over the letters."""
    drawn = [number % len(LETTERS) for number in range(count)]
    Random(key).shuffle(drawn)
    return drawn


def composed_rows(questions: Sequence[Question], key: str) -> list[QuestionRow]:
    """Turn composed questions into rows in English; the key decides the letters of the right
    answers.
    """
    return [
        QuestionRow(
            id=question.name,
            question=question.text["en"],
            abc=None,
            options=question.options("en", place),
            answer=LETTERS[place],
            kind=question.kind,
        )
        for question, place in zip(questions, places(len(questions), key), strict=True)
    ]


def write_question_rows(
    name: str,
    version: str,
    rows: Rows,
    out: Path,
    *,
    source: str,
    overwrite: bool = False,
    **entries: Any,
) -> Provenance:
    """Write question rows as a dataset folder, completely or not at all; DatasetError names a
    malformed question.

    `entries` are further entries of the provenance, such as `seed` or `source_revision`.
    """
    provenance = make_provenance(name, version, source, **entries)
    features = dict.fromkeys(rows, FEATURES)
    return write_dataset(out, rows, features=features, provenance=provenance, overwrite=overwrite)
