"""Banks of four-option questions: composed questions, the rows of benchmarks of this common kind, their writing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal, TypedDict, get_args

from music_evals.datasets_builders.dataset_io import (
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
    make_provenance,
    write_dataset,
)

LETTERS: Final = "ABCD"
Language = Literal["zh", "en"]  # languages that questions are composed in
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Question:
    """One question in every language, with its right answer and three wrong ones; no two options may be the same."""

    name: str  # readable and stable, unique among the questions of one composer: says what is asked, not the answer
    kind: str  # the composer's kind, which becomes the sub-theme
    text: Mapping[Language, str]  # language → the question, without its options
    right: Mapping[Language, str]  # language → the text of the right option
    # Language → the texts of the three wrong options, in the same order in every language.
    wrong: Mapping[Language, tuple[str, ...]]
    form: str = ""  # the composer's form within the kind, for checks

    def __post_init__(self) -> None:
        """Check that the options differ."""
        for language in self.text:
            options = self.options(language, 0)
            if len(set(options)) != len(options):
                raise ValueError(f"{self.name}: two of the options are the same ({language}): {', '.join(options)}")

    def options(self, language: Language, place: int) -> list[str]:
        """Return the four options, the right one at a place from 0."""
        wrong = self.wrong[language]
        return [*wrong[:place], self.right[language], *wrong[place:]]


class QuestionRow(TypedDict):
    """A question; `abc` is the score that it is about, `kind` that of a composed question, null where there is none."""

    id: str
    question: Text
    abc: Text | None
    options: FourOptions
    answer: Letter
    kind: str | None


FEATURES: Final = features_of(QuestionRow)
Rows = Mapping[str, Mapping[str, Sequence[QuestionRow]]]  # config → split → rows


def places(count: int, key: str) -> list[int]:
    """Draw the places of right answers, which are spread evenly over the letters."""
    drawn = [number % len(LETTERS) for number in range(count)]
    Random(key).shuffle(drawn)
    return drawn


def composed_rows(questions: Sequence[Question], key: str, language: Language = "en") -> list[QuestionRow]:
    """Turn composed questions into rows; the key decides at which letters the right answers are."""
    return [
        QuestionRow(
            id=question.name,
            question=question.text[language],
            abc=None,
            options=question.options(language, place),
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
    seed: int | None = None,
    revision: str | None = None,
    overwrite: bool = False,
) -> Provenance:
    """Write a bank as a dataset folder, whole or not at all; DatasetError names a question that is none."""
    provenance = make_provenance(name, version, source, seed=seed, source_revision=revision)
    features = dict.fromkeys(rows, FEATURES)
    return write_dataset(out, rows, features=features, provenance=provenance, overwrite=overwrite)
